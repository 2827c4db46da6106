package cluster

import (
	"context"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
)

// createCluster is the name of the kubeconfig's cluster in messages.
const createCluster = "kubeconfig"

// Create returns an action that creates composite resources and claims in the
// cluster of a kubeconfig's current context. It is for programs that need nothing
// else: the input is kind, name and spec, and the rest works as in cluster:apply.
// namespace is the namespace of namespaced resources that name none; empty means
// "default".
func Create(kubeconfig, namespace string) (action.Action, error) {
	fleet := NewFleet([]source.Cluster{{Name: createCluster, Kubeconfig: kubeconfig}}, cluster.Options{})
	if _, err := fleet.Cluster(createCluster); err != nil {
		return action.Action{}, refusal.WithHint(err)
	}
	w := newWriter(fleet, Options{Namespace: namespace})
	a := input.CreateAction()
	a.Run = func(ctx context.Context, c *action.Call) error {
		o, err := w.input.Create(c)
		if err != nil {
			return err
		}
		return w.apply(ctx, c, o)
	}
	return a, nil
}
