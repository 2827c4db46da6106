package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/source/cluster"
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

// refusing is the cached list of unserved definitions.
type refusing struct {
	at  time.Time
	all []Unserved
}

// giversOf returns the definitions among objects by the name of the list of
// composites whose kind they define.
func giversOf(objects []mirror.Object) map[string][]string {
	out := map[string][]string{}
	for i := range objects {
		o := &objects[i]
		if !strings.HasPrefix(o.List, listDefinitions) {
			continue
		}
		for _, k := range noteOf(o).Kinds {
			name := listComposites + k.String()
			out[name] = append(out[name], o.Unit)
		}
	}
	return out
}

// unservedKinds returns the kinds of a definition that its cluster did not serve
// when it was last scanned.
func (n *note) unservedKinds(c condition) []string {
	var out []string
	for _, k := range n.Kinds {
		if c.Lists[listComposites+k.String()].Unserved && !slices.Contains(out, k.Kind) {
			out = append(out, k.Kind)
		}
	}
	return out
}

// unservedNow returns the conditions of a definition that are not True. It works on
// the note, without the body: there may be thousands of definitions.
func (n *note) unservedNow(c condition) []xrd.Unserved {
	d := &xrd.Definition{Serving: n.Serving, Object: xrd.Object{Origin: n.Origin}}
	if n.Claim != "" {
		d.Claim.Kind, d.Scope = n.Claim, xrd.ScopeLegacyCluster
	}
	for _, kind := range n.unservedKinds(c) {
		d.NotServed(kind)
	}
	return d.Unserved()
}

// readServing reads the serving conditions of a note.
func (n *note) readServing(doc *tree.Node) {
	n.Claim = doc.Get("claim").Str()
	for _, s := range doc.Get("serving").List() {
		one := xrd.Serving{Cluster: s.Get("Cluster").Str()}
		for _, c := range s.Get("Conditions").List() {
			one.Conditions = append(one.Conditions, xrd.Condition{
				Type: c.Get("Type").Str(), Status: c.Get("Status").Str(), Reason: c.Get("Reason").Str(), Message: c.Get("Message").Str(),
			})
		}
		n.Serving = append(n.Serving, one)
	}
}

// unserved returns the definitions that clusters do not serve, by cluster and
// name.
func (in *Ingest) unserved(ctx context.Context, conditions map[string]condition) ([]Unserved, error) {
	now := in.Now()
	in.mu.Lock()
	known := in.refuses
	in.mu.Unlock()
	if !known.at.IsZero() && now.Sub(known.at).Abs() < unservedFor {
		return known.all, nil
	}
	var all []Unserved
	for _, p := range in.places {
		if !p.cluster {
			continue
		}
		more, err := p.unserved(ctx, conditions[p.name])
		if err != nil {
			return nil, fmt.Errorf("cannot find unserved definitions of cluster %s: %w", p.at, err)
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
	in.mu.Lock()
	in.refuses = refusing{at: now, all: all}
	in.mu.Unlock()
	return all, nil
}

// unserved returns the unserved definitions of one cluster.
func (p *target) unserved(ctx context.Context, c condition) ([]Unserved, error) {
	var lists []string
	for name := range c.Lists {
		if strings.HasPrefix(name, listDefinitions) {
			lists = append(lists, name)
		}
	}
	if len(lists) == 0 {
		return nil, nil
	}
	objects, err := p.variant.in.Mirror.SourceObjects(ctx, p.name, lists...)
	if err != nil {
		return nil, err
	}
	var out []Unserved
	for i := range objects {
		kept := noteOf(&objects[i])
		for _, u := range kept.unservedNow(c) {
			out = append(out, Unserved{
				Cluster: p.at, Definition: objects[i].Unit, Condition: u.Type, Status: u.Status, Reason: u.Reason, Message: u.Message,
			})
		}
	}
	return out, nil
}

// patientWaits is how often the watcher checks for an unserved kind before it
// requests a scan: a new definition is established after a second or two.
const patientWaits = 3

// tellServed requests a scan of the cluster if the kinds it serves differ from the
// state that the last scan stored, so that forms are locked or unlocked before the next
// scheduled scan.
func (w *watcher) tellServed(ctx context.Context, kinds []string, served cluster.Served) {
	all, err := w.variant.in.conditions(ctx, w.name)
	if err != nil {
		// The next scheduled scan compares them anyway.
		return
	}
	lists := all[w.name].Lists
	for _, name := range kinds {
		noted, now := lists[name].Unserved, !served.Has(w.kinds[name].Resource)
		if noted && !now || now && !noted && w.waits >= patientWaits {
			w.variant.in.scanSoon(w.target)
			return
		}
	}
}
