package server

import (
	"context"
	"errors"
	"time"

	"example.dev/ingestor/action"
	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/resource"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// A person waits for the state of a resource: clusters are given less time than by scans.
const (
	resourceTimeout  = 10 * time.Second
	resourcePatience = 2 * time.Second
)

// resources assembles the API of running resources.
func (p *Portal) resources(opts Options) *resource.Resources {
	return resource.New(resource.Options{
		Object: func(ctx context.Context, ref string) (resource.Object, error) {
			c, err := p.ingestion.Composite(ctx, ref)
			return resource.Object{Cluster: c.Cluster, Ref: composed.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}}, err
		},
		Cluster: p.liveClusters(opts), Now: opts.Now,
	})
}

// liveClusters returns a function that returns a cluster for the calls of the caller of a
// context.
func (p *Portal) liveClusters(opts Options) func(ctx context.Context, name string) (*cluster.Cluster, error) {
	reader := clusteractions.NewReader(clusteractions.NewFleet(opts.Config.Clusters(), cluster.Options{
		Agent: "portal-backend/" + opts.Build, Wrap: p.telemetry.Transport, Timeout: resourceTimeout, Patience: resourcePatience,
	}), clusteractions.Options{})
	return func(ctx context.Context, name string) (*cluster.Cluster, error) {
		on, err := reader.Cluster(name, task.Requester{Caller: auth.From(ctx)}.Actor())
		return on, clusterFault(name, err)
	}
}

// clusterFault converts the error of choosing a cluster to the fault that the caller
// sees.
func clusterFault(name string, err error) error {
	if denied, ok := errors.AsType[*action.Denied](err); ok {
		return rest.NotAllowed("%s", denied.Message)
	}
	if _, ok := errors.AsType[*action.Error](err); ok {
		return rest.NotFound("Cluster %s is not configured", rest.Short(name))
	}
	return err
}
