package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.dev/ingestor/action"
	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/resource"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/scaffolder"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd/composed"
)

// A person waits for the state of a resource: clusters are given less time than by scans.
const (
	resourceTimeout  = 10 * time.Second
	resourcePatience = 2 * time.Second
	// mostChanges is how many changes of the history of a resource are shown.
	mostChanges = 50
)

// resources assembles the API of running resources.
func (p *Portal) resources(opts Options, policy *permission.Policy) *resource.Resources {
	reader := p.liveReader(opts)
	authorize := scaffolder.Authorizer(policy, "")
	return resource.New(resource.Options{
		Object: func(ctx context.Context, ref string) (resource.Object, error) {
			c, err := p.ingestion.Composite(ctx, ref)
			return resource.Object{Cluster: c.Cluster, Ref: composed.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}}, err
		},
		Cluster: clusterOf(reader),
		Read: func(ctx context.Context, o resource.Object) (*tree.Node, error) {
			// The portal itself asks, as a Template that it generates would.
			by := task.Requester{Caller: auth.From(ctx), Origin: permission.OriginDefinition}
			call := &action.Call{Caller: by.Actor(), Authorize: func(ctx context.Context, name string, t action.Target) error {
				return authorize(ctx, by, words.ActionApply, name, t)
			}}
			n, err := reader.Read(ctx, call, o.Cluster, o.Ref.APIVersion, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name)
			return n, readFault(o, err)
		},
		History: func(ctx context.Context, o resource.Object) ([]resource.Change, error) {
			group, _, _ := strings.Cut(o.Ref.APIVersion, "/")
			found, err := p.taskStore.ObjectChanges(ctx, taskstore.Object{Cluster: o.Cluster, Group: group, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name}, mostChanges)
			var out []resource.Change
			for _, c := range found {
				out = append(out, resource.Change{Task: c.Task, Template: c.Template, By: c.CreatedBy, At: c.At.UTC(), Operation: c.Operation, Fields: c.Fields})
			}
			return out, err
		},
		Now: opts.Now, Log: opts.Log, Streams: opts.Config.Scaffolder.Limits.EventStreams,
	})
}

// liveReader returns a reader of clusters for people who wait.
func (p *Portal) liveReader(opts Options) *clusteractions.Reader {
	return clusteractions.NewReader(clusteractions.NewFleet(opts.Config.Clusters(), cluster.Options{
		Agent: "portal-backend/" + opts.Build, Wrap: p.telemetry.Transport, Timeout: resourceTimeout, Patience: resourcePatience,
	}), clusteractions.Options{})
}

// clusterOf returns a function that returns a cluster for the calls of the caller of a
// context.
func clusterOf(reader *clusteractions.Reader) func(ctx context.Context, name string) (*cluster.Cluster, error) {
	return func(ctx context.Context, name string) (*cluster.Cluster, error) {
		on, err := reader.Cluster(name, task.Requester{Caller: auth.From(ctx)}.Actor())
		return on, clusterFault(name, err)
	}
}

// clusterFault converts the error of choosing a cluster to the fault that the caller
// sees. Errors of the cluster itself are left to the API.
func clusterFault(name string, err error) error {
	return actionFault(err, "Cluster "+rest.Short(name)+" is not configured")
}

// readFault converts the error of reading an object to the fault that the caller sees. An
// object that the cluster cannot have is not found: the scope of its kind may have changed
// since it was ingested.
func readFault(o resource.Object, err error) error {
	return actionFault(err, fmt.Sprintf("Cannot read %s in cluster %s: %v", o.Ref, rest.Short(o.Cluster), err))
}

// actionFault converts the error of an action; notFound is the message for an error that
// is neither a denied permission nor an error of the cluster.
func actionFault(err error, notFound string) error {
	if denied, ok := errors.AsType[*action.Denied](err); ok {
		return rest.NotAllowed("%s", denied.Message)
	}
	if _, ok := errors.AsType[*cluster.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*action.Error](err); ok {
		return rest.NotFound("%s", notFound)
	}
	return err
}
