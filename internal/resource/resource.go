// Package resource implements the HTTP API of running resources: what a composite
// consists of, and why it is not ready. Everything is read from the cluster, with the
// identity of the caller if the cluster impersonates.
package resource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/xrd/composed"
)

// Object is the object in a cluster that an entity represents.
type Object struct {
	Cluster string
	Ref     composed.Ref
}

// Options configure New. All are required.
type Options struct {
	// Object returns the object that an entity represents. The error is db.ErrNotFound if
	// there is none, or the caller of the context may not read the entity.
	Object func(ctx context.Context, ref string) (Object, error)
	// Cluster returns a cluster whose calls are made for the caller of the context: by the
	// user, if the cluster impersonates, and otherwise by the portal's account. The error is
	// a *rest.Fault if the caller may not use the cluster.
	Cluster func(ctx context.Context, name string) (*cluster.Cluster, error)
	// Read returns an object as its cluster has it, nil if it does not exist. The error is a
	// *rest.Fault if the caller of the context may not read it.
	Read func(ctx context.Context, o Object) (*tree.Node, error)
	// History returns what tasks have done to an object, the latest first.
	History func(ctx context.Context, o Object) ([]Change, error)
	Now     func() time.Time
	Log     *slog.Logger
	// Streams is how many event streams each caller may have open; zero means no limit.
	Streams int
}

// Resources is the API.
type Resources struct {
	opts     Options
	kinds    *live.Kinds
	watches  *live.Watches
	trees    *reading.Readings[Status]
	sessions sessions
	streams  auth.Quota
	// ping is the interval of pings of event streams, and streamFor their longest duration.
	ping, streamFor time.Duration
}

// New returns the API.
func New(opts Options) *Resources {
	kinds := live.NewKinds(opts.Now)
	return &Resources{
		opts: opts, kinds: kinds, watches: live.NewWatches(kinds), trees: newTrees(opts.Now),
		sessions: sessions{open: map[reading.Key]*session{}}, streams: auth.Quota{Most: opts.Streams}, ping: pingEvery, streamFor: streamFor,
	}
}

// mostTrees is how many trees are kept.
const mostTrees = 200

func newTrees(now func() time.Time) *reading.Readings[Status] {
	return reading.New(now, mostTrees, func(Status) int { return 1 })
}

// Plugin returns the endpoints below /api/resources.
func (s *Resources) Plugin() rest.Plugin {
	const resource = "/by-name/{kind}/{namespace}/{name}"
	return rest.Plugin{Names: []string{"resources"}, Routes: []rest.Route{
		{Method: http.MethodGet, Path: resource + "/status", Handle: s.status},
		{Method: http.MethodGet, Path: resource + "/eventstream", Handle: s.eventStream, Timeout: -1},
		{Method: http.MethodGet, Path: resource + "/object", Handle: s.object},
		{Method: http.MethodGet, Path: resource + "/history", Handle: s.history},
	}}
}

// Status is the state of a resource.
type Status struct {
	Cluster string `json:"cluster"`
	// Ready reports whether the object says that it is ready.
	Ready bool `json:"ready"`
	// Reason says why it is not ready.
	Reason *Reason `json:"reason,omitempty"`
	// Tree is the object and what it composes.
	Tree *composed.Node `json:"tree"`
	// Events are the latest events about the objects of the tree, the last one first.
	Events []composed.ObjectEvent `json:"events"`
	// Read is when the cluster was read.
	Read time.Time `json:"read"`
}

// Reason is why a resource is not ready, also as a sentence.
type Reason struct {
	composed.Reason
	Sentence string `json:"sentence"`
}

// mostSkipped is the maximum of skip, and mostEvents that of events.
const (
	mostSkipped = 1_000_000
	mostEvents  = 100
)

// target is the tree that a request is about.
type target struct {
	Object
	on   *cluster.Cluster
	skip int
}

// key identifies the tree, and the callers who may see it.
func (t target) key(ctx context.Context) reading.Key {
	r := t.Ref
	return reading.Key{Cluster: t.Cluster, Identity: reading.IdentityOf(ctx, t.on), What: fmt.Sprintf("%q %q %q %q %d", r.APIVersion, r.Kind, r.Namespace, r.Name, t.skip)}
}

// status answers GET /by-name/{kind}/{namespace}/{name}/status.
func (s *Resources) status(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := s.target(r)
	if err != nil {
		return err
	}
	st, err := s.trees.Get(ctx, t.key(ctx), func(ctx context.Context) (Status, error) { return s.read(ctx, t) })
	if err != nil {
		return told(t.Object, err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, st)
}

// target finds the tree of a request, if the caller may read it.
func (s *Resources) target(r *http.Request) (target, error) {
	ctx := r.Context()
	t := target{}
	if text := r.URL.Query().Get("skip"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostSkipped {
			return t, rest.Input("Parameter skip is %q, but must be a number from 0 to %d", rest.Short(text), mostSkipped)
		}
		t.skip = n
	}
	var err error
	if t.Object, err = s.find(r); err != nil {
		return t, err
	}
	t.on, err = s.opts.Cluster(ctx, t.Cluster)
	return t, err
}

// find returns the object of the entity of a request.
func (s *Resources) find(r *http.Request) (Object, error) {
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	o, err := s.opts.Object(r.Context(), ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return o, rest.NotFound("No cluster resource found for %s", rest.Short(ref.String()))
	}
	if err == nil && o.Cluster == "" {
		err = rest.NotFound("%s was not read from a cluster", rest.Short(ref.String()))
	}
	return o, err
}

// read reads the tree of an object.
func (s *Resources) read(ctx context.Context, t target) (Status, error) {
	reader := live.NewReader(t.on, s.kinds)
	tree, err := composed.Build(ctx, reader, t.Ref, composed.Options{Skip: t.skip, Owned: !t.on.Impersonates()})
	if err != nil {
		return Status{}, err
	}
	st := Status{Cluster: t.Cluster, Ready: tree.Readiness == composed.Ready, Tree: tree, Events: tree.Events(mostEvents), Read: s.opts.Now().UTC()}
	if why := tree.Why(); why != nil {
		if err := composed.AddField(ctx, reader, tree, why); err != nil {
			return Status{}, err
		}
		st.Reason = &Reason{*why, why.String()}
	}
	return st, nil
}

// told converts the error of a cluster to the fault that the caller sees. The text of the
// error is only logged: it may contain the address of the cluster.
func told(o Object, err error) error {
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok || e.Reason == cluster.Canceled {
		return err
	}
	switch e.Reason {
	case cluster.Forbidden:
		return rest.NotAllowed("%s", explained(e))
	case cluster.Absent:
		return rest.NotFound("%s", explained(e))
	}
	return rest.Unavailable(err, "Cluster %s %s", o.Cluster, e.Reason.Describe())
}

// explained returns what the cluster says about an object, and what to do.
func explained(e *cluster.Error) string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Hint
}
