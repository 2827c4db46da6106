package change

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
)

// versionsAnswer is the response of GET /versions.
type versionsAnswer struct {
	// Definition is the name of the definition, and Preferred the version that new
	// resources get; empty if none is served.
	Definition string    `json:"definition"`
	Preferred  string    `json:"preferred"`
	Versions   []version `json:"versions"`
	// Changes are those from one version to another, if the request names both.
	Changes []diff.Item `json:"changes,omitempty"`
}

// version is a version of a definition.
type version struct {
	Name          string `json:"name"`
	Served        bool   `json:"served"`
	Referenceable bool   `json:"referenceable"`
	Deprecated    bool   `json:"deprecated"`
	Warning       string `json:"warning,omitempty"`
}

// behind returns the definition behind the entity of a request.
func (c *Changes) behind(r *http.Request) (Ingested, error) {
	return c.Definition(r.Context(), entity.Ref{Kind: r.PathValue("kind"), Namespace: r.PathValue("namespace"), Name: r.PathValue("name")})
}

// versions answers GET /versions/{kind}/{namespace}/{name}: the versions of the
// definition behind an entity, and the changes between two of them.
func (c *Changes) versions(w http.ResponseWriter, r *http.Request) error {
	found, err := c.behind(r)
	if err != nil {
		return err
	}
	d := found.Definition
	out := versionsAnswer{Definition: d.Label(), Preferred: preferred(d), Versions: []version{}}
	for _, v := range d.Versions {
		out.Versions = append(out.Versions, version{v.Name, v.Served, v.Referenceable, v.Deprecated, v.DeprecationWarning})
	}
	slices.SortStableFunc(out.Versions, func(a, b version) int { return xrd.CompareVersions(b.Name, a.Name) })
	q := r.URL.Query()
	if from, to := q.Get("from"), q.Get("to"); from != "" || to != "" {
		if from == "" || to == "" {
			return rest.Input("from and to must be given together")
		}
		for _, name := range []string{from, to} {
			if !slices.ContainsFunc(d.Versions, func(v *xrd.Version) bool { return v.Name == name }) {
				return rest.NotFound("%s has no version %s", d.Label(), rest.Short(name))
			}
		}
		changes, err := diff.Versions(d, from, to)
		if err != nil {
			return rest.Conflict("Versions %s and %s of %s cannot be compared: %s", rest.Short(from), rest.Short(to), d.Label(), err)
		}
		out.Changes = diff.Items(changes[:min(len(changes), mostChanges)])
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func preferred(d *xrd.Definition) string {
	if v := d.Preferred(); v != nil {
		return v.Name
	}
	return ""
}

// Usage is the response of GET /versions/…/resources: in which versions the resources of
// a definition are written.
type Usage struct {
	Preferred string `json:"preferred"`
	// Kind is the kind that people create: the claim if there is one.
	Kind     string      `json:"kind"`
	Versions []UsageItem `json:"versions"`
	// Resources are those that are written in another version than the preferred one and
	// that the caller may read; Hidden counts the others of them.
	Resources []Written `json:"resources"`
	Hidden    int       `json:"hidden"`
	// Incomplete says what could not be read.
	Incomplete []string `json:"incomplete"`
}

// UsageItem counts the resources of a version.
type UsageItem struct {
	// Version is empty if the managed fields of the resources do not say it.
	Version  string   `json:"version"`
	Count    int      `json:"count"`
	Clusters []string `json:"clusters"`
}

// Written is a resource, and the version in which it was last written.
type Written struct {
	// Entity is the reference of its entity.
	Entity    string `json:"entity"`
	Cluster   string `json:"cluster"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	Version   string `json:"version"`
	// Composed reports that a Composition writes it, as a part of another composite.
	Composed bool `json:"composed"`
}

// mostBehind is how many resources of earlier versions are kept, of those that the caller
// may read.
const mostBehind = 5000

// usage answers GET /versions/{kind}/{namespace}/{name}/resources. It reads the metadata
// of all resources of a definition with the account of the portal.
func (c *Changes) usage(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := c.Policy.Require(ctx, permission.IngestionRead, nil); err != nil {
		return err
	}
	found, err := c.behind(r)
	if err != nil {
		return err
	}
	leave, err := c.enter(r)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reader, stop := c.reader(ctx)
	defer stop()
	all := &writers{preferred: preferred(found.Definition), counts: map[string]int{}, clusters: map[string][]string{}}
	incomplete, err := eachCluster(reader.ctx, []Ingested{found}, func(_ int, at *cluster.Cluster) error {
		behind := batch[Written]{do: func(items []Written) error { return reader.keep(items, all) }}
		err := at.ResourceMetadata(reader.ctx, found.Definition, found.Namespaces, func(n *tree.Node) error {
			item, err := all.add(at.Name(), n)
			if item == nil || err != nil {
				return err
			}
			item.Entity = found.entity(engine.CompositeKey{Cluster: item.Cluster, Kind: item.Kind, Namespace: item.Namespace, Name: item.Name})
			return behind.add(*item)
		})
		return errors.Join(err, behind.flush())
	})
	if err != nil {
		return reader.failure(err)
	}
	out := all.usage()
	out.Kind = found.Definition.Target().Kind
	out.Incomplete = append(out.Incomplete, incomplete...)
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// writers counts resources by the version in which they were last written.
type writers struct {
	preferred string
	mu        sync.Mutex
	total     int
	counts    map[string]int
	clusters  map[string][]string
	behind    []Written
}

// add counts a resource by its metadata, and returns it if it might be listed. Composites of
// claims are left out: their claims are counted.
func (u *writers) add(cluster string, n *tree.Node) (*Written, error) {
	meta := n.Get("metadata")
	if xrd.OfClaim(meta) {
		return nil, nil
	}
	v, composed := xrd.Written(meta)
	// Nodes share the memory of the page that they were read from.
	v = strings.Clone(v)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.total++; u.total > mostResources {
		return nil, errEnough
	}
	u.counts[v]++
	if !slices.Contains(u.clusters[v], cluster) {
		u.clusters[v] = append(u.clusters[v], cluster)
	}
	if v == u.preferred || len(u.behind) >= mostBehind {
		return nil, nil
	}
	owner, _ := words.Pick(words.KeysIn(meta.Get("annotations").StringMap()), words.AnnotationOwner)
	return &Written{
		Cluster: cluster, Kind: strings.Clone(n.Get("kind").Str()), Namespace: strings.Clone(meta.Get("namespace").Str()), Name: strings.Clone(meta.Get("name").Str()),
		Owner: strings.Clone(owner), Version: v, Composed: composed,
	}, nil
}

// keep keeps the resources whose entities the caller may read.
func (r *reader) keep(items []Written, to *writers) error {
	refs := make([]string, len(items))
	for i := range items {
		refs[i] = items[i].Entity
	}
	return r.each(refs, func(i int, may bool) {
		to.mu.Lock()
		defer to.mu.Unlock()
		if may && len(to.behind) < mostBehind {
			to.behind = append(to.behind, items[i])
		}
	})
}

// usage returns the counts, the highest version first, and the first resources.
func (u *writers) usage() Usage {
	out := Usage{Preferred: u.preferred, Versions: []UsageItem{}, Resources: append([]Written{}, u.behind...), Incomplete: []string{}}
	for v, n := range u.counts {
		slices.Sort(u.clusters[v])
		out.Versions = append(out.Versions, UsageItem{v, n, u.clusters[v]})
		if v != u.preferred {
			out.Hidden += n
		}
	}
	slices.SortFunc(out.Versions, func(a, b UsageItem) int { return xrd.CompareVersions(b.Version, a.Version) })
	slices.SortFunc(out.Resources, func(a, b Written) int {
		return cmp.Or(xrd.CompareVersions(a.Version, b.Version), strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	out.Resources = out.Resources[:min(len(out.Resources), mostNames)]
	out.Hidden -= len(out.Resources)
	return out
}
