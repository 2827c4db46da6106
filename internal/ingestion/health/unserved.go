package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/xrd"
)

// Unserved is a definition that a cluster does not serve, and the condition that
// says why.
type Unserved struct {
	Cluster    string `json:"cluster"`
	Definition string `json:"definition"`
	// Condition is Established or Offered, Status False or Unknown.
	Condition string `json:"condition"`
	Status    string `json:"status"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}

// mostUnserved is how many unserved definitions Health lists.
const mostUnserved = 100

// unservedFor is how long the list of unserved definitions is cached: computing it
// reads all definitions.
const unservedFor = time.Second

// unservedCache is the cached list of unserved definitions.
type unservedCache struct {
	at  time.Time
	all []Unserved
}

// unservedNow returns the conditions of a definition that are not True. It works on
// the note, without the body: there may be thousands of definitions.
func unservedNow(n *object.Note, c status.Status) []xrd.Unserved {
	d := &xrd.Definition{Serving: n.Serving, Object: xrd.Object{Origin: n.Origin}}
	if n.Claim != "" {
		d.Claim.Kind, d.Scope = n.Claim, xrd.ScopeLegacyCluster
	}
	for _, kind := range c.UnservedKinds(n.Kinds) {
		d.NotServed(kind)
	}
	return d.Unserved()
}

// unserved returns the definitions that clusters do not serve, by cluster and
// name.
func (r *Reader) unserved(ctx context.Context, conditions map[string]status.Status) ([]Unserved, error) {
	now := r.now()
	r.mu.Lock()
	known := r.unservedCache
	r.mu.Unlock()
	if !known.at.IsZero() && now.Sub(known.at).Abs() < unservedFor {
		return known.all, nil
	}
	var all []Unserved
	for _, p := range r.targets {
		if !p.Cluster {
			continue
		}
		more, err := r.unservedIn(ctx, p, conditions[p.Name])
		if err != nil {
			return nil, fmt.Errorf("cannot find unserved definitions of cluster %s: %w", p.At, err)
		}
		all = append(all, more...)
	}
	slices.SortFunc(all, func(a, b Unserved) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.Definition, b.Definition), strings.Compare(a.Condition, b.Condition))
	})
	// Both variants may read the same cluster.
	all = slices.CompactFunc(all, func(a, b Unserved) bool {
		return a.Cluster == b.Cluster && a.Definition == b.Definition && a.Condition == b.Condition
	})
	r.mu.Lock()
	r.unservedCache = unservedCache{at: now, all: all}
	r.mu.Unlock()
	return all, nil
}

// unservedIn returns the unserved definitions of one cluster.
func (r *Reader) unservedIn(ctx context.Context, p status.Target, c status.Status) ([]Unserved, error) {
	var lists []string
	for name := range c.Lists {
		if strings.HasPrefix(name, object.ListDefinitions) {
			lists = append(lists, name)
		}
	}
	if len(lists) == 0 {
		return nil, nil
	}
	objects, err := r.mirror.SourceObjects(ctx, p.Name, lists...)
	if err != nil {
		return nil, err
	}
	var out []Unserved
	for i := range objects {
		kept := object.NoteOf(&objects[i])
		for _, u := range unservedNow(&kept, c) {
			out = append(out, Unserved{
				Cluster: p.At, Definition: objects[i].Unit, Condition: u.Type, Status: u.Status, Reason: u.Reason, Message: u.Message,
			})
		}
	}
	return out, nil
}
