// Package live reads objects of a cluster by their references, with few requests: one
// for each kind and namespace, and one for the events of each namespace.
package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

const (
	// atOnce is how many requests are made at once.
	atOnce = 8
	// pageSize and mostPages limit a list.
	pageSize  = "500"
	pageLimit = 500
	mostPages = 20
	// mostGets is how many objects of a kind are read one by one without asking first which
	// of them exist.
	mostGets = 5
	// mostEventPages limits the events of a namespace, and mostBytes a response: the author of
	// a composite can make its parts as large as the cluster allows.
	mostEventPages = 4
	mostBytes      = 64 << 20
	// kindsFor is how long the kinds of an API version are remembered.
	kindsFor = time.Minute
	// mostComposites limits the length of a label selector, and longestLabel is the length
	// of a label value.
	mostComposites = 50
	longestLabel   = 63
	// compositeLabel is the label that Crossplane sets on everything that belongs to a
	// composite: the name of the outermost one, also on what nested ones compose.
	compositeLabel = "crossplane.io/composite"
)

// Kinds remembers how clusters serve kinds. It is safe for concurrent use, and for several
// clusters.
type Kinds struct {
	now func() time.Time

	mu    sync.Mutex
	known map[kindKey]*served
}

// NewKinds returns an empty Kinds.
func NewKinds(now func() time.Time) *Kinds {
	return &Kinds{now: now, known: map[kindKey]*served{}}
}

type kindKey struct {
	account    *cluster.Cluster
	apiVersion string
}

// served are the kinds of an API version.
type served struct {
	until time.Time
	kinds map[string]kind
}

type kind struct {
	plural     string
	namespaced bool
}

// Reader reads objects of a cluster, as the user of the cluster value. It is for one
// tree: events are read once.
type Reader struct {
	on    *cluster.Cluster
	kinds *Kinds
	// composites are the labels of the composites whose parts are read, that of the root
	// first.
	composites []string
	// events are those of each namespace, by the uid of the object.
	events map[string]map[string][]composed.Event
}

// NewReader returns a Reader.
func NewReader(on *cluster.Cluster, kinds *Kinds) *Reader {
	return &Reader{on: on, kinds: kinds, events: map[string]map[string][]composed.Event{}}
}

// group are references to objects of one kind in one namespace.
type group struct {
	apiVersion, kind, namespace string
	served                      kind
	// at are the indices of the references.
	at []int
}

// Read implements composed.Reader. What the server refuses or does not know becomes the
// state of its objects; a server that does not answer is an error.
func (r *Reader) Read(ctx context.Context, refs []composed.Ref) ([]composed.Object, error) {
	out := make([]composed.Object, len(refs))
	groups, err := r.groups(ctx, refs, out)
	if err != nil {
		return nil, err
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, g := range groups {
		all.Go(func() error { return r.readGroup(ctx, g, refs, out) })
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	for _, o := range out {
		if len(composed.References(o)) == 0 {
			continue
		}
		// What this object composes has the same label. A claim, and what Crossplane has not
		// labelled so far, counts by its name.
		label := cmp.Or(o.Node.Get("metadata", "labels", compositeLabel).Str(), o.Ref.Name)
		if len(r.composites) < mostComposites && len(label) <= longestLabel && !slices.Contains(r.composites, label) {
			r.composites = append(r.composites, label)
		}
	}
	return out, r.addEvents(ctx, out)
}

// groups finds out how the kinds are served, and groups the references. Those whose kind
// is not served are entered into out.
func (r *Reader) groups(ctx context.Context, refs []composed.Ref, out []composed.Object) ([]*group, error) {
	byKey := map[composed.Ref]*group{}
	var groups []*group
	for i, ref := range refs {
		if what := malformed(ref); what != "" {
			out[i] = composed.Object{Ref: shortened(ref), State: composed.Unreadable, Problem: "the reference has no valid " + what}
			continue
		}
		k, err := r.kinds.find(ctx, r.on, ref)
		if err != nil {
			if out[i], err = unread(ref, err); err != nil {
				return nil, err
			}
			continue
		}
		switch {
		case !k.namespaced:
			ref.Namespace = ""
		case ref.Namespace == "":
			// Without a namespace, the objects of all namespaces would be listed.
			out[i] = composed.Object{Ref: ref, State: composed.Unreadable, Problem: "the reference has no namespace, and " + ref.Kind + " is a namespaced kind"}
			continue
		}
		out[i] = composed.Object{Ref: ref, State: composed.Missing}
		key := composed.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace}
		g := byKey[key]
		if g == nil {
			g = &group{apiVersion: ref.APIVersion, kind: ref.Kind, namespace: ref.Namespace, served: k}
			byKey[key], groups = g, append(groups, g)
		}
		g.at = append(g.at, i)
	}
	return groups, nil
}

// find returns how the kind of a reference is served.
func (ks *Kinds) find(ctx context.Context, on *cluster.Cluster, ref composed.Ref) (kind, error) {
	key := kindKey{on.Account(), ref.APIVersion}
	ks.mu.Lock()
	s := ks.known[key]
	ks.mu.Unlock()
	if s == nil || ks.now().After(s.until) {
		var err error
		if s, err = ks.discover(ctx, key); err != nil {
			return kind{}, err
		}
		ks.mu.Lock()
		// Composites may refer to any number of API versions.
		maps.DeleteFunc(ks.known, func(_ kindKey, old *served) bool { return ks.now().After(old.until) })
		ks.known[key] = s
		ks.mu.Unlock()
	}
	k, ok := s.kinds[ref.Kind]
	if !ok {
		return kind{}, &cluster.Error{Cluster: on.Name(), Doing: "read " + ref.String(), Reason: cluster.Absent,
			Err: errors.New("the cluster does not serve kind " + ref.Kind + " of " + ref.APIVersion), Hint: "check that its definition or provider is installed"}
	}
	return k, nil
}

// discover lists the kinds of an API version. The account of the portal does that, because
// it is the same for everyone.
func (ks *Kinds) discover(ctx context.Context, key kindKey) (*served, error) {
	answer, err := key.account.Do(ctx, cluster.Call{
		Doing: "find the kinds of " + key.apiVersion, Path: versionPath(key.apiVersion), Most: mostBytes,
		Needs: cluster.Rule{URLs: []string{"/api", "/api/*", "/apis", "/apis/*"}, Verbs: []string{"get"}},
	})
	s := &served{until: ks.now().Add(kindsFor), kinds: map[string]kind{}}
	if reasonOf(err) == cluster.Absent {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	for _, res := range answer.Get("resources").List() {
		if plural := res.Get("name").Str(); !strings.Contains(plural, "/") {
			s.kinds[res.Get("kind").Str()] = kind{plural: plural, namespaced: res.Get("namespaced").IsTrue()}
		}
	}
	return s, nil
}

// readGroup reads the objects of a group: one with get, several with a list of what
// belongs to the composites, and what that list does not have with get. If that would be
// many, for example because Crossplane has not created them so far, a list of the names
// says first which of them exist.
func (r *Reader) readGroup(ctx context.Context, g *group, refs []composed.Ref, out []composed.Object) error {
	left := g.at
	if len(left) > 1 && len(r.composites) > 0 {
		found, err := r.list(ctx, g, refs)
		if err != nil {
			return g.refuse(out, left, err)
		}
		left = slices.DeleteFunc(slices.Clone(left), func(i int) bool {
			n := found[refs[i].Name]
			if n != nil {
				out[i].State, out[i].Node = composed.Present, n
			}
			return n != nil
		})
	}
	if len(left) > mostGets {
		exist, complete, err := r.names(ctx, g)
		if err != nil {
			return g.refuse(out, left, err)
		}
		if complete {
			left = slices.DeleteFunc(slices.Clone(left), func(i int) bool { return !exist[refs[i].Name] })
		}
	}
	for at, i := range left {
		n, err := r.get(ctx, g, refs[i].Name)
		if err != nil {
			return g.refuse(out, left[at:], err)
		}
		if n != nil {
			out[i].State, out[i].Node = composed.Present, n
		}
	}
	return nil
}

// names returns the names of all objects of a kind and namespace. It is not complete if
// there are very many.
func (r *Reader) names(ctx context.Context, g *group) (exist map[string]bool, complete bool, err error) {
	exist = map[string]bool{}
	complete, err = r.pages(ctx, cluster.Call{
		Doing: "list " + g.served.plural, Path: g.path(), Query: url.Values{}, Accept: cluster.MetadataOnly, Needs: g.needs("list"),
	}, mostPages, func(n *tree.Node) { exist[n.Get("metadata", "name").Str()] = true })
	return exist, complete, err
}

// refuse enters an error into the objects that it concerns.
func (g *group) refuse(out []composed.Object, at []int, err error) error {
	for _, i := range at {
		if out[i].State == composed.Present {
			continue
		}
		o, down := unread(out[i].Ref, err)
		if down != nil {
			return down
		}
		out[i] = o
	}
	return nil
}

// unread returns the object for an error. An error that concerns the whole cluster is
// returned.
func unread(ref composed.Ref, err error) (composed.Object, error) {
	o := composed.Object{Ref: ref, State: composed.Unreadable, Problem: err.Error()}
	e, ok := errors.AsType[*cluster.Error](err)
	if !ok {
		return o, err
	}
	o.Problem = e.Err.Error()
	if e.Hint != "" {
		o.Problem += "; " + e.Hint
	}
	switch {
	case e.Reason == cluster.Forbidden:
		o.State = composed.Forbidden
	case e.Reason == cluster.Absent, e.Reason == cluster.Unreadable:
	case cluster.IsTooLarge(err):
		o.Problem = "the response of the cluster is too large"
	default:
		return o, err
	}
	return o, nil
}

func reasonOf(err error) cluster.Reason {
	if e, ok := errors.AsType[*cluster.Error](err); ok {
		return e.Reason
	}
	return ""
}

// list returns the objects of a group that belong to the composites, by name. Others that
// have the label are not kept.
func (r *Reader) list(ctx context.Context, g *group, refs []composed.Ref) (map[string]*tree.Node, error) {
	found, wanted := map[string]*tree.Node{}, map[string]bool{}
	for _, i := range g.at {
		wanted[refs[i].Name] = true
	}
	_, err := r.pages(ctx, cluster.Call{
		Doing: "list " + g.served.plural, Path: g.path(), Query: url.Values{"labelSelector": {compositeLabel + " in (" + strings.Join(r.composites, ",") + ")"}},
		Needs: g.needs("list"), Accept: g.accept(cluster.MetadataOnly),
	}, mostPages, func(n *tree.Node) {
		if name := n.Get("metadata", "name").Str(); wanted[name] {
			found[name] = n
		}
	})
	return found, err
}

// pages makes a call for each page of a list. It is not complete if the list has more
// pages.
func (r *Reader) pages(ctx context.Context, call cluster.Call, most int, each func(*tree.Node)) (complete bool, err error) {
	call.Query.Set("limit", pageSize)
	call.Most = mostBytes
	for range most {
		answer, err := r.on.Do(ctx, call)
		if err != nil {
			return false, err
		}
		for _, n := range answer.Get("items").List() {
			each(n)
		}
		next := answer.Get("metadata", "continue").Str()
		if next == "" {
			return true, nil
		}
		call.Query.Set("continue", next)
	}
	return false, nil
}

// get returns an object, nil if it does not exist.
func (r *Reader) get(ctx context.Context, g *group, name string) (*tree.Node, error) {
	n, err := r.on.Do(ctx, cluster.Call{Doing: "read " + g.kind + " " + name, Path: g.path() + "/" + url.PathEscape(name), Needs: g.needs("get"), Most: mostBytes, Accept: g.accept(cluster.ObjectMetadataOnly)})
	if refusal, ok := cluster.RefusalOf(err); ok && refusal.Code == 404 && refusal.Name == name {
		return nil, nil
	}
	return n, err
}

// accept returns the media type of the objects: of Secrets nothing but the metadata is read.
func (g *group) accept(metadataOnly string) string {
	if g.apiVersion == "v1" && g.kind == "Secret" {
		return metadataOnly
	}
	return ""
}

func (g *group) path() string {
	p := versionPath(g.apiVersion)
	if g.namespace != "" {
		p += "/namespaces/" + url.PathEscape(g.namespace)
	}
	return p + "/" + g.served.plural
}

func (g *group) needs(verb string) cluster.Rule {
	apiGroup, _, ok := strings.Cut(g.apiVersion, "/")
	if !ok {
		apiGroup = ""
	}
	return cluster.Rule{Groups: []string{apiGroup}, Resources: []string{g.served.plural}, Verbs: []string{verb}}
}

// versionPath is the path of an API version.
func versionPath(apiVersion string) string {
	if !strings.Contains(apiVersion, "/") {
		return "/api/" + url.PathEscape(apiVersion)
	}
	group, version, _ := strings.Cut(apiVersion, "/")
	return "/apis/" + url.PathEscape(group) + "/" + url.PathEscape(version)
}
