// Package api implements the HTTP API of plans: what a composite or claim would create,
// change and delete in a cluster, with the permissions of the caller.
package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/rest"
	kube "example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/xrd/composed"
)

// Options configure New. All but Certificate are required.
type Options struct {
	Planner *plan.Planner
	// May returns a *rest.Fault unless the caller of the context may make plans.
	May func(ctx context.Context) error
	// Permit decides for the caller of the context.
	Permit Permit
	// Cluster returns a cluster whose calls are made for the caller of the context. The error
	// is a *rest.Fault if the caller may not use it.
	Cluster func(ctx context.Context, name string) (*kube.Cluster, error)
	// Operator reports whether the caller of the context may see configuration keys.
	Operator func(ctx context.Context) bool
	// Certificate is what Crossplane authenticates to functions with; nil means that of
	// Secret.
	Certificate *tls.Config
	Secret      plan.SecretRef
	// Timeout is how long a plan may take.
	Timeout time.Duration
	Now     func() time.Time
}

// API is the API.
type API struct {
	opts  Options
	kinds *live.Kinds
	// open counts the plans that each caller is waiting for.
	open auth.Quota
}

// New returns the API.
func New(opts Options) *API {
	return &API{opts: opts, kinds: live.NewKinds(opts.Now), open: auth.Quota{Most: mostOpen}}
}

// mostOpen is how many plans a caller may wait for at once.
const mostOpen = 2

const (
	// mostBody is the size limit of a request, in bytes.
	mostBody = 1 << 20
	// margin is how much longer a request may take than its plan.
	margin = 15 * time.Second
)

// Routes returns the routes of /plan.
func (a *API) Routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/plan", Handle: a.status},
		{Method: http.MethodPost, Path: "/plan", Handle: a.plan, MaxBody: mostBody, Timeout: a.opts.Timeout + margin},
	}
}

// status answers GET /plan: whether plans can be made. What to configure is for operators.
func (a *API) status(w http.ResponseWriter, r *http.Request) error {
	var out struct {
		On   bool   `json:"on"`
		Hint string `json:"hint,omitempty"`
	}
	if out.On = a.opts.Planner.On(); !out.On && a.opts.Operator(r.Context()) {
		out.Hint = plan.HowToTurnOn
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// plan answers POST /plan.
func (a *API) plan(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := a.opts.May(ctx); err != nil {
		return err
	}
	done, ok := a.open.Take(r)
	if !ok {
		return rest.OverLimit(again, "Cannot make a plan: you have %d in progress", mostOpen)
	}
	defer done()
	var body struct {
		Cluster  string          `json:"cluster"`
		Manifest json.RawMessage `json:"manifest"`
		Merge    bool            `json:"merge"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	manifest, err := decode(body.Manifest)
	if err != nil {
		return err
	}
	made, err := a.Make(ctx, Input{Cluster: body.Cluster, Manifest: manifest, Merge: body.Merge}, a.opts.Permit)
	if err != nil {
		return a.Fault(ctx, body.Cluster, err)
	}
	return rest.WriteJSON(w, r, http.StatusOK, made)
}

// Input is what to plan.
type Input struct {
	// Cluster is the name of the cluster.
	Cluster string
	// Manifest is a composite or claim, and Merge that of a plan.Request.
	Manifest *tree.Node
	Merge    bool
}

// Permit returns a *rest.Fault unless an object of a kind may be read. Its name may be
// empty.
type Permit func(ctx context.Context, cluster string, ref composed.Ref) error

// Make makes a plan for the caller of the context. Fault converts its error.
func (a *API) Make(ctx context.Context, in Input, permit Permit) (*plan.Plan, error) {
	if !a.opts.Planner.On() {
		return a.opts.Planner.Plan(ctx, plan.Request{})
	}
	on, err := a.opts.Cluster(ctx, in.Cluster)
	if err != nil {
		return nil, err
	}
	meta := in.Manifest.Get("metadata")
	ref := composed.Ref{
		APIVersion: in.Manifest.Get("apiVersion").Str(), Kind: in.Manifest.Get("kind").Str(),
		Namespace: meta.Get("namespace").Str(), Name: meta.Get("name").Str(),
	}
	if err := permit(ctx, on.Name(), ref); err != nil {
		return nil, err
	}
	objects := live.NewObjects(on, a.kinds)
	return a.opts.Planner.Plan(ctx, plan.Request{
		Cluster: on.Name(), Manifest: in.Manifest, Merge: in.Merge, Source: objects,
		Machine: plan.ClusterMachine(on, a.kinds, a.opts.Certificate, a.opts.Secret),
		Authorize: func(ctx context.Context, ref composed.Ref) error {
			_, namespaced, err := objects.Kind(ctx, ref.APIVersion, ref.Kind)
			if err != nil {
				return err
			}
			if namespaced && ref.Namespace == "" && !on.Impersonates() {
				return rest.NotAllowed("No rule can allow the objects of all namespaces")
			}
			return permit(ctx, on.Name(), ref)
		},
	})
}

// decode reads a manifest: an object, or YAML text with one document.
func decode(data json.RawMessage) (*tree.Node, error) {
	n, err := wire.Decoder{}.Decode(data)
	if err != nil || len(data) == 0 {
		return nil, rest.Input("request/body/manifest must be an object, or YAML text")
	}
	if n.IsString() {
		docs, errs := parser.DecodeBytes([]byte(n.Str()))
		if len(errs) > 0 {
			return nil, rest.Input("cannot parse request/body/manifest: %s", errs[0])
		}
		if len(docs) != 1 {
			return nil, rest.Input("request/body/manifest has %d documents, but must have one", len(docs))
		}
		n = docs[0]
	}
	if !n.IsMap() || n.Get("apiVersion").Str() == "" || n.Get("kind").Str() == "" {
		return nil, rest.Input("request/body/manifest must be a Kubernetes object with apiVersion and kind")
	}
	return n, nil
}

// again is when a client may retry if too many plans are made at once.
const again = 2 * time.Second

// Fault converts an error of Make to the fault that the caller of the context sees.
// Configuration keys are for operators.
func (a *API) Fault(ctx context.Context, cluster string, err error) error {
	if e, ok := errors.AsType[*plan.Error](err); ok {
		operator := a.opts.Operator(ctx)
		text := e.Error()
		if e.Public != "" && !operator {
			text = e.Public
		}
		if e.Hint != "" {
			text += "; " + e.Hint
		}
		if e.Operator != "" && operator {
			text += "; " + e.Operator
		}
		switch e.Reason {
		case plan.Off, plan.Program:
			return rest.Unavailable(err, "Cannot make a plan: %s", text)
		case plan.Busy:
			return rest.OverLimit(again, "Cannot make a plan: %s", text)
		case plan.Invalid, plan.NotComposite:
			return rest.Input("Cannot make a plan: %s", text)
		case plan.Forbidden:
			return rest.NotAllowed("Cannot make a plan: %s", text)
		case plan.NoComposition, plan.Mode:
			return rest.Conflict("Cannot make a plan: %s", text)
		}
		return rest.Unavailable(err, "Cannot make a plan: %s", text)
	}
	e, ok := errors.AsType[*kube.Error](err)
	if !ok || e.Reason == kube.Canceled {
		return err
	}
	switch e.Reason {
	case kube.Forbidden:
		return rest.NotAllowed("Cannot make a plan: no permission to %s in cluster %s; %s", e.Doing, e.Cluster, e.Hint)
	case kube.Absent, kube.Unreadable:
		return rest.Input("Cannot make a plan: %v", e.Err)
	}
	// The text of other errors is only logged: it may contain the address of the cluster.
	return rest.Unavailable(err, "Cluster %s %s", cluster, e.Reason.Describe())
}
