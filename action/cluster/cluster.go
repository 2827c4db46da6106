// Package cluster has the actions that write to clusters: cluster:apply and
// cluster:delete.
//
// Objects are applied by the server, under a field manager of our own, so that
// the server knows which fields are ours and nobody else's are changed. All
// documents of a manifest are checked against the schemas of their definitions
// and tried out by the server before the first one is applied. What is applied
// twice is the same as what is applied once, so a step that was cut off can be
// run again.
//
// Before anything is read or written, the caller of the step is asked for a
// permission with the object's cluster, namespace, kind and owner. In a cluster
// that impersonates, calls are made as that person, and the cluster decides too.
// The account takes get, create and patch, delete to delete, and get on
// namespaces to know their owners; list on definitions gives better messages.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// Manager is the field manager of everything the actions apply.
const Manager = words.FieldManager

// Options are what steps may leave out. The zero value is ready for use.
type Options struct {
	// Default is the cluster of a step that names none; empty means the only
	// one there is.
	Default string
	// Namespace is that of objects that need one and name none, in a step that
	// names none either; empty means "default".
	Namespace string
	// Wait is how long a step waits that does not say how long; default 10
	// minutes.
	Wait time.Duration
	// Schema returns the schema of the spec of a kind, if the program knows it.
	// If it is nil or returns nil, the definitions of the cluster are asked.
	Schema func(apiVersion, kind string) *tree.Node
}

const defaultWait = 10 * time.Minute

// Clusters are those a step can name. Several goroutines may ask at once.
type Clusters interface {
	// Names returns what they are called.
	Names() []string
	// Cluster returns the one of a name that is among Names, always the same.
	Cluster(name string) (*cluster.Cluster, error)
}

// Fleet is Clusters that are connected when they are first asked for, so that
// one whose settings are wrong costs no other its place.
type Fleet struct {
	settings []source.Cluster
	opts     cluster.Options

	mu    sync.Mutex
	ready map[string]*cluster.Cluster
}

// NewFleet returns the clusters of these settings, whose names differ.
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
		return nil, fmt.Errorf("there is no cluster %q", name)
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
	return []action.Action{w.applyAction(), w.deleteAction()}
}

// writer is what the actions share.
type writer struct {
	clusters Clusters
	opts     Options
	kinds    kinds
	schemas  schemas
}

func newWriter(clusters Clusters, opts Options) *writer {
	opts.Namespace = cmp.Or(opts.Namespace, "default")
	opts.Wait = cmp.Or(opts.Wait, defaultWait)
	return &writer{
		clusters: clusters, opts: opts,
		kinds:   kinds{known: map[kindKey]kind{}},
		schemas: schemas{known: map[kindKey]*schema{}},
	}
}

// noCluster is the way out for newcomers as well as for those who run a portal.
const noCluster = "add one to the configuration (composerIngestor.clusters), or try it with make run-cluster, which brings one"

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

// choose returns the cluster of a step.
func (w *writer) choose(name string) (*cluster.Cluster, error) {
	names := w.clusters.Names()
	name = Chosen(w.clusters, w.opts, name)
	switch {
	case len(names) == 0:
		return nil, wrong(noCluster, "cannot choose a cluster: none is configured")
	case name == "":
		return nil, wrong("set cluster to one of "+strings.Join(names, ", "), "cannot choose a cluster: there are several, and the step names none")
	case !slices.Contains(names, name):
		return nil, wrong("set cluster to one of "+strings.Join(names, ", "), "cannot choose a cluster: there is none named %q", name)
	}
	c, err := w.clusters.Cluster(name)
	return c, told(err)
}

// wrong is a mistake in what a step was given.
func wrong(hint, format string, args ...any) error {
	return &action.Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// told gives an error of a cluster its hint, if it has none yet.
func told(err error) error {
	if _, ok := errors.AsType[*action.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return &action.Error{Err: err, Hint: e.Hint}
	}
	return err
}

// grace is how long what has begun may go on after the task was cancelled, so
// that it is not left half done.
const grace = 10 * time.Second

// finish returns a context that ends a while after ctx.
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
