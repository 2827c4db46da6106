// Package resource implements the HTTP API of running resources: what a composite
// consists of, and why it is not ready. Everything is read from the cluster, with the
// identity of the caller if the cluster impersonates.
package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
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
	Now     func() time.Time
}

// Resources is the API.
type Resources struct {
	opts  Options
	kinds *live.Kinds
	trees *trees
}

// New returns the API.
func New(opts Options) *Resources {
	return &Resources{opts: opts, kinds: live.NewKinds(opts.Now), trees: newTrees(opts.Now)}
}

// Plugin returns the endpoints below /api/resources.
func (s *Resources) Plugin() rest.Plugin {
	return rest.Plugin{Names: []string{"resources"}, Routes: []rest.Route{
		{Method: http.MethodGet, Path: "/by-name/{kind}/{namespace}/{name}/status", Handle: s.status},
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
	// Read is when the cluster was read.
	Read time.Time `json:"read"`
}

// Reason is why a resource is not ready, also as a sentence.
type Reason struct {
	composed.Reason
	Sentence string `json:"sentence"`
}

// mostSkipped is the maximum of skip.
const mostSkipped = 1_000_000

// status answers GET /by-name/{kind}/{namespace}/{name}/status.
func (s *Resources) status(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	ref := entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	skip := 0
	if text := r.URL.Query().Get("skip"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostSkipped {
			return rest.Input("Parameter skip is %q, but must be a number from 0 to %d", rest.Short(text), mostSkipped)
		}
		skip = n
	}
	o, err := s.opts.Object(ctx, ref.String())
	if errors.Is(err, db.ErrNotFound) {
		return rest.NotFound("No cluster resource found for %s", rest.Short(ref.String()))
	}
	if err != nil {
		return err
	}
	if o.Cluster == "" {
		return rest.NotFound("%s was not read from a cluster", rest.Short(ref.String()))
	}
	on, err := s.opts.Cluster(ctx, o.Cluster)
	if err != nil {
		return err
	}
	st, err := s.trees.get(ctx, treeKey{o.Cluster, identityOf(ctx, on), o.Ref, skip}, func(ctx context.Context) (Status, error) {
		return s.read(ctx, on, o, skip)
	})
	if err != nil {
		return told(o, err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, st)
}

// identityOf distinguishes callers who may see different objects.
func identityOf(ctx context.Context, on *cluster.Cluster) string {
	if !on.Impersonates() {
		return ""
	}
	c := identity.From(ctx)
	return fmt.Sprintf("%d %q %q %q", c.Kind, c.Subject, c.Login, c.Groups)
}

// read reads the tree of an object.
func (s *Resources) read(ctx context.Context, on *cluster.Cluster, o Object, skip int) (Status, error) {
	tree, err := composed.Build(ctx, live.NewReader(on, s.kinds), o.Ref, composed.Options{Skip: skip, Owned: !on.Impersonates()})
	if err != nil {
		return Status{}, err
	}
	st := Status{Cluster: o.Cluster, Ready: tree.Readiness == composed.Ready, Tree: tree, Read: s.opts.Now().UTC()}
	if why := tree.Why(); why != nil {
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
	what, ok := problems[e.Reason]
	if !ok {
		what = "cannot be read"
	}
	return rest.Unavailable(err, "Cluster %s %s", o.Cluster, what)
}

var problems = map[cluster.Reason]string{
	cluster.Unreachable:  "cannot be reached",
	cluster.Timeout:      "did not answer in time",
	cluster.Certificate:  "has a certificate that is not trusted",
	cluster.Unauthorized: "refuses the portal's credential",
	cluster.Server:       "answers with an error",
	cluster.Settings:     "cannot be used with its settings",
}
