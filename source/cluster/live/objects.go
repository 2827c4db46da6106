package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// Objects reads objects of a cluster one by one, as the user of the cluster value. Of
// Secrets only the metadata is read. It is safe for concurrent use.
type Objects struct {
	on    *cluster.Cluster
	kinds *Kinds
}

// NewObjects returns the objects of a cluster.
func NewObjects(on *cluster.Cluster, kinds *Kinds) *Objects { return &Objects{on, kinds} }

// Kind returns the plural of a kind, and whether its objects have namespaces. The error
// has the reason Absent if the cluster does not serve it.
func (o *Objects) Kind(ctx context.Context, apiVersion, kind string) (plural string, namespaced bool, err error) {
	g, err := o.group(ctx, composed.Ref{APIVersion: apiVersion, Kind: kind})
	if err != nil {
		return "", false, err
	}
	return g.served.plural, g.served.namespaced, nil
}

// group returns how the kind of a reference is served.
func (o *Objects) group(ctx context.Context, ref composed.Ref) (*group, error) {
	if what := malformed(ref); what != "" {
		return nil, &cluster.Error{Cluster: o.on.Name(), Doing: "read " + shortened(ref).String(), Reason: cluster.Unreadable, Err: errors.New("the reference has no valid " + what)}
	}
	k, err := o.kinds.find(ctx, o.on, ref)
	if err != nil {
		return nil, err
	}
	g := &group{apiVersion: ref.APIVersion, kind: ref.Kind, namespace: ref.Namespace, served: k}
	if !k.namespaced {
		g.namespace = ""
	}
	return g, nil
}

// Get returns an object; nil if it does not exist.
func (o *Objects) Get(ctx context.Context, ref composed.Ref) (*tree.Node, error) {
	g, err := o.group(ctx, ref)
	if err != nil {
		return nil, err
	}
	if ref.Name == "" || g.served.namespaced && g.namespace == "" {
		return nil, &cluster.Error{Cluster: o.on.Name(), Doing: "read " + ref.String(), Reason: cluster.Unreadable, Err: errors.New("the reference has no name or no namespace")}
	}
	n, err := (&Reader{on: o.on, kinds: o.kinds}).get(ctx, g, ref.Name)
	if n == nil || err != nil {
		return nil, err
	}
	return g.typed(n), nil
}

// typed returns an object with its apiVersion and kind: the items of a list have none, and
// metadata has that of a PartialObjectMetadata.
func (g *group) typed(n *tree.Node) *tree.Node {
	out := tree.Obj(tree.F("apiVersion", tree.Str(g.apiVersion)), tree.F("kind", tree.Str(g.kind)))
	for _, f := range n.Fields {
		if f.Key != "apiVersion" && f.Key != "kind" {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// List returns the objects of a kind that have labels, in a namespace or, if that is
// empty, in all. More than most objects are an error.
func (o *Objects) List(ctx context.Context, apiVersion, kind, namespace string, labels map[string]string, most int) ([]*tree.Node, error) {
	g, err := o.group(ctx, composed.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace})
	if err != nil {
		return nil, err
	}
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		terms = append(terms, key+"="+labels[key])
	}
	call := cluster.Call{Doing: "list " + g.served.plural, Path: g.path(), Query: url.Values{}, Needs: g.needs("list"), Accept: g.accept(cluster.MetadataOnly)}
	if len(terms) > 0 {
		call.Query.Set("labelSelector", strings.Join(terms, ","))
	}
	var all []*tree.Node
	complete, err := (&Reader{on: o.on, kinds: o.kinds}).pages(ctx, call, most/pageLimit+1, func(n *tree.Node) {
		all = append(all, g.typed(n))
	})
	if err == nil && (!complete || len(all) > most) {
		err = &cluster.Error{Cluster: o.on.Name(), Doing: "list " + g.served.plural, Reason: cluster.Unreadable, Err: fmt.Errorf("more than %d objects match", most)}
	}
	return all, err
}
