// Package cluster has the actions that write to clusters: cluster:apply and
// cluster:delete.
//
// Objects are written with server-side apply under the portal's own field manager,
// so that the server tracks which fields the portal owns and fields of other
// managers are not changed. All documents of a manifest are validated against the
// schemas of their definitions and sent as a dry run before the first one is
// applied. Applying is idempotent, so an interrupted step can be run again.
//
// Before anything is written, the permission of the caller is checked for the
// object's cluster, namespace, kind and owner. In a cluster that impersonates,
// requests are made as that user, and the cluster authorizes them too. The account
// needs get, create and patch, delete to delete, and get on namespaces to find
// their owners; list on definitions improves messages.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/action/cluster/internal/refusal"
	"example.dev/ingestor/action/cluster/internal/served"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// Manager is the field manager of everything the actions apply.
const Manager = words.FieldManager

// Options are defaults for steps. The zero value is ready for use.
type Options struct {
	// Default is the cluster of a step that names none; empty means the only
	// cluster, if there is one.
	Default string
	// Namespace is the namespace of namespaced objects if neither they nor the step
	// names one; empty means "default".
	Namespace string
	// Wait is how long a step waits that sets wait to true; default 10 minutes.
	Wait time.Duration
	// Schema returns the schema of the spec of a kind, if the program knows it. If
	// it is nil or returns nil, the schema is read from the definitions in the
	// cluster.
	Schema func(apiVersion, kind string) *tree.Node
}

const defaultWait = 10 * time.Minute

// Clusters are the clusters that a step can name. They may be used concurrently.
type Clusters interface {
	// Names returns the names of the clusters.
	Names() []string
	// Cluster returns the cluster of a name that is among Names, always the same
	// one.
	Cluster(name string) (*cluster.Cluster, error)
}

// Fleet implements Clusters. It connects to each cluster on first use, so that
// wrong settings of one cluster do not affect the others.
type Fleet struct {
	settings []source.Cluster
	opts     cluster.Options

	mu    sync.Mutex
	ready map[string]*cluster.Cluster
}

// NewFleet returns the clusters of these settings, which must have distinct names.
func NewFleet(settings []source.Cluster, opts cluster.Options) *Fleet {
	return &Fleet{settings: settings, opts: opts, ready: map[string]*cluster.Cluster{}}
}

// Names returns the names, in the order of the settings.
func (f *Fleet) Names() []string {
	names := make([]string, len(f.settings))
	for i, s := range f.settings {
		names[i] = s.Name
	}
	return names
}

// Cluster returns the cluster of a name.
func (f *Fleet) Cluster(name string) (*cluster.Cluster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.ready[name]; c != nil {
		return c, nil
	}
	i := slices.IndexFunc(f.settings, func(s source.Cluster) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown cluster %q", name)
	}
	c, err := cluster.Connect(f.settings[i], f.opts)
	if err != nil {
		return nil, err
	}
	f.ready[name] = c
	return c, nil
}

// Actions returns the actions for the clusters: cluster:apply and
// cluster:delete.
func Actions(clusters Clusters, opts Options) []action.Action {
	w := newWriter(clusters, opts)
	apply, remove := input.ApplyAction(), input.DeleteAction()
	apply.Check, apply.Run = w.applyWith(w.checkApply), w.applyWith(w.apply)
	remove.Check, remove.Run = w.deleteWith(w.checkDelete), w.deleteWith(w.remove)
	return []action.Action{apply, remove}
}

// applyWith returns a function that reads the input of cluster:apply for do.
func (w *writer) applyWith(do func(context.Context, *action.Call, input.Step) error) func(context.Context, *action.Call) error {
	return func(ctx context.Context, c *action.Call) error {
		o, err := w.input.Apply(c)
		if err != nil {
			return err
		}
		return do(ctx, c, o)
	}
}

// deleteWith returns a function that reads the input of cluster:delete for do.
func (w *writer) deleteWith(do func(context.Context, *action.Call, *manifest.Document, input.Step) error) func(context.Context, *action.Call) error {
	return func(ctx context.Context, c *action.Call) error {
		d, o, err := w.input.Delete(c)
		if err != nil {
			return err
		}
		return do(ctx, c, d, o)
	}
}

// writer is the state that the actions share.
type writer struct {
	clusters Clusters
	opts     Options
	input    input.Defaults
	kinds    *served.Kinds
}

func newWriter(clusters Clusters, opts Options) *writer {
	return &writer{clusters: clusters, opts: opts, input: input.Defaults{
		Namespace: cmp.Or(opts.Namespace, "default"), Wait: cmp.Or(opts.Wait, defaultWait),
	}, kinds: served.New(opts.Schema)}
}

// noCluster is a hint for new users as well as for operators.
const noCluster = "add a cluster to the configuration (composerIngestor.clusters), or start one with make run-cluster"

// Chosen returns the cluster that a step applies to: name, else the default, else
// the only cluster. It returns an empty string if the step must name one.
func Chosen(clusters Clusters, opts Options, name string) string {
	if name = cmp.Or(name, opts.Default); name != "" {
		return name
	}
	if names := clusters.Names(); len(names) == 1 {
		return names[0]
	}
	return ""
}

// choose returns the cluster of a step, or an error with a hint.
func (w *writer) choose(name string) (*cluster.Cluster, error) {
	names := w.clusters.Names()
	name = Chosen(w.clusters, w.opts, name)
	switch {
	case len(names) == 0:
		return nil, action.Errorf(noCluster, "cannot select a cluster: none is configured")
	case name == "":
		return nil, action.Errorf("set cluster to one of "+strings.Join(names, ", "), "cannot select a cluster: several are configured, and the step names none")
	case !slices.Contains(names, name):
		return nil, action.Errorf("set cluster to one of "+strings.Join(names, ", "), "cannot select a cluster: unknown cluster %q", name)
	}
	c, err := w.clusters.Cluster(name)
	return c, refusal.WithHint(err)
}

// grace is how long started work may continue after the task is cancelled, so that
// it is not left half done.
const grace = 10 * time.Second

// finish returns a context that ends a grace period after ctx.
func finish(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}
