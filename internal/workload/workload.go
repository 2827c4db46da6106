// Package workload implements the HTTP API of what runs in clusters for an entity: pods
// and workloads, their events, and logs of containers. Paths and bodies are those of
// Backstage's Kubernetes plugin. Everything is read from the clusters, with the identity
// of the caller if a cluster impersonates.
//
// The annotations of the stored entity select the objects; nothing in a request widens
// the selection. Values that may be secret are removed.
package workload

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
)

// Entity is an entity of the catalog.
type Entity struct {
	// Resource is what permissions need to know, including the origin.
	Resource *permission.Resource
	// Annotations are those of the stored entity, in either vocabulary.
	Annotations map[string]string
}

// Options configure New. All are required.
type Options struct {
	// Names are the names of the plugin below /api.
	Names []string
	// Entity returns the entity with a reference. The error is db.ErrNotFound if there is
	// none, or the caller of the context may not read it.
	Entity func(ctx context.Context, ref string) (Entity, error)
	// Clusters are the names of the clusters.
	Clusters []string
	// Cluster returns a cluster whose calls are made for the caller of the context: by the
	// user, if the cluster impersonates, and otherwise by the portal's account. The error is
	// a *rest.Fault if the caller may not use the cluster.
	Cluster func(ctx context.Context, name string) (*cluster.Cluster, error)
	Policy  *permission.Policy
	Now     func() time.Time
}

// Workloads is the API.
type Workloads struct {
	opts     Options
	readings *reading.Readings[Cluster]
}

// New returns the API.
func New(opts Options) *Workloads {
	return &Workloads{opts: opts, readings: newReadings(opts.Now)}
}

// mostKept is the size limit of the readings that are kept.
const mostKept = 32 << 20

func newReadings(now func() time.Time) *reading.Readings[Cluster] {
	return reading.New(now, mostKept, func(c Cluster) int { return len(c.body) })
}

// Plugin returns the endpoints. Of the proxy of Backstage's plugin there are only the
// two that read logs and events.
func (s *Workloads) Plugin() rest.Plugin {
	return rest.Plugin{Names: s.opts.Names, Routes: []rest.Route{
		{Method: http.MethodPost, Path: "/services/{id}", Handle: s.services},
		{Method: http.MethodPost, Path: "/resources/workloads/query", Handle: s.workloads},
		{Method: http.MethodPost, Path: "/resources/custom/query", Handle: s.custom},
		{Method: http.MethodGet, Path: "/logs/by-name/{kind}/{namespace}/{name}", Handle: s.logs},
		{Method: http.MethodGet, Path: "/events/by-name/{kind}/{namespace}/{name}", Handle: s.events},
		{Method: http.MethodGet, Path: "/proxy/api/v1/namespaces/{namespace}/pods/{pod}/log", Handle: s.proxyLogs},
		{Method: http.MethodGet, Path: "/proxy/api/v1/namespaces/{namespace}/events", Handle: s.proxyEvents},
	}}
}

// services answers POST /services/{id}. Of the entity in the body only the reference
// counts, and the id is ignored, as Backstage does.
func (s *Workloads) services(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Entity *struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"metadata"`
		} `json:"entity"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Entity == nil {
		return rest.Input("request/body must have required property 'entity'")
	}
	m := body.Entity.Metadata
	return s.query(w, r, entity.Ref{Kind: body.Entity.Kind, Namespace: m.Namespace, Name: m.Name}.String(), usualKinds)
}

// workloads answers POST /resources/workloads/query.
func (s *Workloads) workloads(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		EntityRef string `json:"entityRef"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	ref, err := refOf(body.EntityRef)
	if err != nil {
		return err
	}
	return s.query(w, r, ref, usualKinds)
}

// custom answers POST /resources/custom/query.
func (s *Workloads) custom(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		EntityRef       string    `json:"entityRef"`
		CustomResources []matcher `json:"customResources"`
	}
	if err := rest.ReadJSON(r, &body); err != nil {
		return err
	}
	ref, err := refOf(body.EntityRef)
	if err != nil {
		return err
	}
	kinds, err := customKinds(body.CustomResources)
	if err != nil {
		return err
	}
	return s.query(w, r, ref, kinds)
}

// refOf parses the reference of a body.
func refOf(text string) (string, error) {
	if text == "" {
		return "", rest.Input("request/body must have required property 'entityRef'")
	}
	ref, err := entity.ParseRef(text, "", entity.DefaultNamespace)
	if err != nil || ref.Kind == "" {
		return "", rest.Input("request/body/entityRef is %q, but must be kind:namespace/name", rest.Short(text))
	}
	return ref.String(), nil
}

// find returns an entity and what it selects.
func (s *Workloads) find(ctx context.Context, ref string) (Entity, selection, error) {
	e, err := s.opts.Entity(ctx, ref)
	if errors.Is(err, db.ErrNotFound) {
		return e, selection{}, rest.NotFound("No entity %s found", rest.Short(ref))
	}
	if err != nil {
		return e, selection{}, err
	}
	sel, err := selectionOf(e)
	return e, sel, err
}

// atOnce is how many clusters are read concurrently for a request.
const atOnce = 8

// query responds with the objects of some kinds that an entity selects.
func (s *Workloads) query(w http.ResponseWriter, r *http.Request, ref string, kinds []kind) error {
	ctx := r.Context()
	e, sel, err := s.find(ctx, ref)
	if err != nil {
		return err
	}
	if sel.empty() {
		return rest.WriteJSON(w, r, http.StatusOK, Objects{Items: []json.RawMessage{}})
	}
	names := sel.clusters(s.opts.Clusters)
	found, denied := make([]Cluster, len(names)), make([]*permission.Resource, len(names))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() (err error) {
			found[i], denied[i], err = s.cluster(ctx, name, e, sel, kinds)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if every(denied) {
		return s.opts.Policy.Require(ctx, permission.KubernetesResources, denied[0])
	}
	return rest.WriteJSON(w, r, http.StatusOK, newObjects(found))
}

// every reports whether the caller may read none of the clusters.
func every(denied []*permission.Resource) bool {
	for _, d := range denied {
		if d == nil {
			return false
		}
	}
	return len(denied) > 0
}

// cluster returns what an entity selects in a cluster, with a problem instead of an
// error if only this cluster is concerned. denied is set if the caller lacks the
// permission.
func (s *Workloads) cluster(ctx context.Context, name string, e Entity, sel selection, kinds []kind) (c Cluster, denied *permission.Resource, err error) {
	on, err := s.opts.Cluster(ctx, name)
	if fault, ok := errors.AsType[*rest.Fault](err); ok {
		return failed(name, fault.Message), nil, nil
	}
	if err != nil {
		return failed(name, told(name, err)), nil, nil
	}
	in := within(e, on)
	if !s.opts.Policy.Decide(identity.From(ctx), permission.KubernetesResources, in) {
		return failed(name, "You do not have the permission "+permission.KubernetesResources+" for this cluster"), in, nil
	}
	key := reading.Key{Cluster: name, Identity: reading.IdentityOf(ctx, on), What: sel.String() + keyOf(kinds)}
	c, err = s.readings.Get(ctx, key, func(ctx context.Context) (Cluster, error) { return read(ctx, on, sel, kinds), nil })
	return c, nil, err
}

// within returns an entity in a cluster, as the resource of a permission.
func within(e Entity, on *cluster.Cluster) *permission.Resource {
	in := *e.Resource
	in.Cluster, in.Impersonated = on.Name(), on.Impersonates()
	return &in
}
