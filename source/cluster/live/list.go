package live

import (
	"context"
	"net/url"
	"strconv"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// Listing says which objects of a kind are listed.
type Listing struct {
	APIVersion, Kind string
	// Namespace restricts the list of a namespaced kind; empty means all namespaces.
	Namespace string
	// Labels is a label selector; empty means all objects.
	Labels string
	// Metadata requests only the metadata of the objects.
	Metadata bool
	// PageSize is how many objects are requested at once, and Most how many are listed.
	PageSize, Most int
	// MostBytes is the size limit of a page.
	MostBytes int64
}

// List calls each for the objects of a kind, as the user of the cluster value. namespaced
// is the scope of the kind; more reports that there are other objects.
func (ks *Kinds) List(ctx context.Context, on *cluster.Cluster, l Listing, each func(*tree.Node)) (namespaced, more bool, err error) {
	k, err := ks.find(ctx, on, composed.Ref{APIVersion: l.APIVersion, Kind: l.Kind})
	if err != nil {
		return false, false, err
	}
	g := &group{apiVersion: l.APIVersion, kind: l.Kind, served: k}
	if k.namespaced {
		g.namespace = l.Namespace
	}
	call := cluster.Call{Doing: "list " + k.plural, Path: g.path(), Query: url.Values{"limit": {strconv.Itoa(l.PageSize)}}, Needs: g.needs("list"), Most: l.MostBytes}
	if l.Labels != "" {
		call.Query.Set("labelSelector", l.Labels)
	}
	if l.Metadata {
		call.Accept = cluster.MetadataOnly
	}
	for read := 0; ; {
		answer, err := on.Do(ctx, call)
		if err != nil {
			return k.namespaced, false, err
		}
		for _, n := range answer.Get("items").List() {
			if read++; read > l.Most {
				return k.namespaced, true, nil
			}
			each(n)
		}
		next := answer.Get("metadata", "continue").Str()
		if next == "" || read == l.Most || next == call.Query.Get("continue") {
			return k.namespaced, next != "", nil
		}
		call.Query.Set("continue", next)
	}
}
