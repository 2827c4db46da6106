// Package cluster reads definitions, Compositions, composite resources and
// workloads from live clusters: it lists them page by page, surveys and follows
// their metadata, and fetches single ones. It decides nothing about what it
// reads.
//
// A Cluster is one API server; a Source reads several at the same time, and
// one that fails costs no other its place. Every failure is an *Error that
// names the cluster and the way out.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster/access"
)

// Options are how a cluster is asked. The zero value is ready for use.
type Options struct {
	// Timeout is how long one call may take; default 30 seconds.
	Timeout time.Duration
	// Patience is how long a server that has answered before is waited for
	// when it fails, as one that is being restarted does; default 30 seconds.
	// One that never answered is given up after two.
	Patience time.Duration
	// PageSize is how many objects are asked for at once; default 500.
	PageSize int
	// Decoding, if not nil, bounds how many pages of whole objects are held at once
	// by all clusters that share it.
	Decoding Gate
	// Agent is the name this program tells servers.
	Agent string
	// Log is told of every call; nil logs nothing.
	Log *slog.Logger
}

const (
	defaultTimeout  = 30 * time.Second
	defaultPatience = 30 * time.Second
	// firstPatience is for a server that never answered: its address may be
	// wrong, and somebody may be waiting.
	firstPatience   = 2 * time.Second
	defaultPageSize = 500
)

// Cluster is one API server. Several goroutines may use it at once.
type Cluster struct {
	name string
	way  *access.Access
	opts Options
	// answered says that the server has answered a call.
	answered *atomic.Bool
	// settings are how people are impersonated, and as who calls are made; nil
	// means the account of the settings.
	settings source.Cluster
	as       *person
	// account is the cluster without impersonation; nil if this is it.
	account *Cluster
}

// Connect prepares to reach a cluster. It reads the files its settings name
// and makes no call.
func Connect(c source.Cluster, opts Options) (*Cluster, error) {
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.Patience = cmp.Or(opts.Patience, defaultPatience)
	opts.PageSize = cmp.Or(opts.PageSize, defaultPageSize)
	opts.Agent = cmp.Or(opts.Agent, "composer-ingestor")
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	way, err := access.Open(c, opts.Agent)
	if err != nil {
		return nil, settingsError(c.Name, err)
	}
	opts.Log = opts.Log.With("cluster", c.Name)
	return &Cluster{name: c.Name, way: way, opts: opts, settings: c, answered: &atomic.Bool{}}, nil
}

// Name returns what people call the cluster.
func (c *Cluster) Name() string { return c.name }

// URL returns the API server's address.
func (c *Cluster) URL() string { return c.way.URL }

// wire reads what a server sends. What it keeps for its own bookkeeping is
// often half of an object, and nobody here looks at it.
var wire = tree.Wire{Omit: [][]string{{"managedFields"}}}

// Resource is a kind of object as a server serves it.
type Resource struct {
	Group, Version, Plural string
	// Namespace, if not empty, is the only one looked at.
	Namespace string
}

// path returns where its objects are listed.
func (r Resource) path() string {
	p := fmt.Sprintf("/apis/%s/%s", r.Group, r.Version)
	if r.Namespace != "" {
		p += "/namespaces/" + r.Namespace
	}
	return p + "/" + r.Plural
}

// String names it as permissions do.
func (r Resource) String() string {
	s := r.Plural + "." + r.Group
	if r.Namespace != "" {
		s += " in namespace " + r.Namespace
	}
	return s
}

// Gate lets a few through at once. Nil lets all through.
type Gate chan struct{}

// NewGate returns a Gate for so many.
func NewGate(n int) Gate { return make(Gate, n) }

// enter waits for a place and returns how to leave it.
func (g Gate) enter(ctx context.Context) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
