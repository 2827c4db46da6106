package cluster

import (
	"context"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
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
	return action.Action{
		ID: words.ActionCreate, Aliases: aliases(words.ActionCreate),
		Description: "Creates a composite resource, or a claim.",
		Input:       parsed(createInput), Output: parsed(applyOutput), DryRun: true,
		Run: func(ctx context.Context, c *action.Call) error {
			o, err := w.order(c)
			if err != nil {
				return err
			}
			in := c.Input
			o.manifest = tree.Obj(
				tree.F("apiVersion", in.Get("apiVersion")), tree.F("kind", in.Get("kind")),
				tree.F("metadata", tree.Obj(
					tree.F("name", in.Get("name")),
					tree.F("labels", in.Get("labels")), tree.F("annotations", in.Get("annotations")),
				)),
				tree.F("spec", in.Get("spec")),
			)
			return w.apply(ctx, c, o)
		},
	}, nil
}

const createInput = namedInput + `
  labels:
    title: Labels
    type: object
    additionalProperties: {type: string}
  annotations:
    title: Annotations
    type: object
    additionalProperties: {type: string}
  spec:
    title: Spec
    type: object
  dryRun:
    title: Dry run
    description: Whether to make only a dry run in the cluster.
    type: boolean
    default: false
  wait:
    title: Wait
    description: Whether, or how long, to wait until it is ready.
    type: [boolean, string, object]
    default: false
  takeOver:
    title: Take over
    description: Whether to change objects that the portal did not create, and to take over fields from other owners.
    type: boolean
    default: false
`
