// Package cluster reads definitions, Compositions, composite resources and workloads
// from live clusters: it lists them page by page, lists and watches their metadata,
// and fetches single objects. It makes no decisions about what it reads.
//
// A Cluster is one API server; a Source reads several concurrently, and a failure of
// one does not affect the others. Every failure is an *Error that names the cluster
// and has a hint.
//
// It is one package because everything that is read from a cluster shares its connection,
// its discovery and its classification of errors.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster/access"
)

// Options configure the access to a cluster. The zero value is ready for use.
type Options struct {
	// Timeout is the timeout of one call; default 30 seconds.
	Timeout time.Duration
	// Patience is how long calls are retried to a server that has responded before, for
	// example during a restart; default 30 seconds. A server that never responded is
	// given up after two seconds.
	Patience time.Duration
	// PageSize is how many objects are requested per page; default 500.
	PageSize int
	// Decoding, if not nil, limits how many pages of whole objects are in memory at
	// once, for all clusters that share it.
	Decoding Gate
	// Wrap, if not nil, returns the transport of a cluster's calls, given its name and
	// the transport without it; for tracing, for example. It sees requests without the
	// credentials of the settings.
	Wrap func(cluster string, next http.RoundTripper) http.RoundTripper
	// Agent is the user agent of this program.
	Agent string
	// Log receives every call; nil logs nothing.
	Log *slog.Logger
}

const (
	defaultTimeout  = 30 * time.Second
	defaultPatience = 30 * time.Second
	// firstPatience is for a server that never responded: its address may be wrong, and
	// a user may be waiting.
	firstPatience   = 2 * time.Second
	defaultPageSize = 500
)

// Cluster is one API server. It is safe for concurrent use.
type Cluster struct {
	name string
	way  *access.Access
	opts Options
	// answered says that the server has responded to a call.
	answered *atomic.Bool
	// settings configure impersonation, and as is the user that calls are made as; nil
	// means the account of the settings.
	settings source.Cluster
	as       *person
	// account is the cluster without impersonation; nil if this is it.
	account *Cluster
}

// Connect prepares the access to a cluster. It reads the files that the settings
// name, and makes no call.
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
	if opts.Wrap != nil {
		way.Client.Transport = opts.Wrap(c.Name, cmp.Or(way.Client.Transport, http.DefaultTransport))
	}
	opts.Log = opts.Log.With("cluster", c.Name)
	return &Cluster{name: c.Name, way: way, opts: opts, settings: c, answered: &atomic.Bool{}}, nil
}

// Name returns the configured name of the cluster.
func (c *Cluster) Name() string { return c.name }

// URL returns the API server's URL.
func (c *Cluster) URL() string { return c.way.URL }

// responses decodes responses. It omits managedFields, which are often half of an object,
// and are not used here.
var responses = wire.Decoder{Omit: [][]string{{"managedFields"}}}

// Resource is a kind of object as a server serves it. Group is empty for the core kinds.
type Resource struct {
	Group, Version, Plural string
	// Namespace, if not empty, is the only namespace that is read.
	Namespace string
}

// path returns the path of the list.
func (r Resource) path() string {
	p := fmt.Sprintf("/apis/%s/%s", r.Group, r.Version)
	if r.Group == "" {
		p = "/api/" + r.Version
	}
	if r.Namespace != "" {
		p += "/namespaces/" + r.Namespace
	}
	return p + "/" + r.Plural
}

// String returns the name that permissions use.
func (r Resource) String() string {
	s := r.Plural
	if r.Group != "" {
		s += "." + r.Group
	}
	if r.Namespace != "" {
		s += " in namespace " + r.Namespace
	}
	return s
}

// Gate is a semaphore. A nil Gate has no limit.
type Gate chan struct{}

// NewGate returns a Gate with n slots.
func NewGate(n int) Gate { return make(Gate, n) }

// enter waits for a slot and returns the function that releases it.
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
