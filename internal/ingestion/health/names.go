package health

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/ingestion/mirror"
	"example.dev/ingestor/internal/ingestion/object"
	"example.dev/ingestor/internal/ingestion/status"
	"example.dev/ingestor/internal/ingestion/variant"
)

// The states of a definition in a source.
const (
	// Found means that it was read, and nothing else is known: definitions of files, and
	// those that are not selected.
	Found = "found"
	// Served means that its cluster serves it.
	Served = "served"
	// NotServed means that its cluster does not serve it, or not its claims.
	NotServed = "unserved"
	// Stale means that it could not be read lately, although the source can be read.
	Stale = "stale"
	// Unreadable means that the source cannot be read.
	Unreadable = "unreadable"
)

// Named is a definition in all sources that have it.
type Named struct {
	Name string `json:"name"`
	// Selected says that it is selected in one of them at least.
	Selected bool   `json:"selected"`
	Copies   []Copy `json:"copies"`
	// Findings counts its findings by severity. Severities without a finding are left out.
	Findings map[string]int `json:"findings,omitempty"`
}

// Copy is a definition in one source.
type Copy struct {
	Source   string `json:"source"`
	Cluster  string `json:"cluster,omitempty"`
	File     string `json:"file,omitempty"`
	Selected bool   `json:"selected"`
	Why      string `json:"why,omitempty"`
	// Remedy is what makes it selected; nil if it is, or if nothing does.
	Remedy *variant.Remedy `json:"remedy,omitempty"`
	// State is one of the states of a definition. Since is since when it is stale or
	// unreadable, Message the condition that says why it is not served.
	State   string    `json:"state"`
	Since   time.Time `json:"since,omitzero"`
	Message string    `json:"message,omitempty"`
}

// Named definitions that NamesQuery.Only selects.
const (
	OnlySelected   = "selected"
	OnlyUnselected = "unselected"
	OnlyFindings   = "findings"
)

// NamesQuery selects definitions. Empty fields match all.
type NamesQuery struct {
	// Text must be part of the name.
	Text string
	// Cluster selects the copies of one cluster: a definition without any is left out.
	Cluster string
	// Only is one of the Only constants.
	Only          string
	Limit, Offset int
}

// Names is a page of definitions by name.
type Names struct {
	Items []Named `json:"items"`
	// TotalItems is the number of definitions that match, and Counts how many match each
	// value of Only, whatever that of the query is.
	TotalItems int        `json:"totalItems"`
	Counts     NameCounts `json:"counts"`
}

// NameCounts counts definitions.
type NameCounts struct {
	All        int `json:"all"`
	Selected   int `json:"selected"`
	Unselected int `json:"unselected"`
	Findings   int `json:"findings"`
}

// Names returns a page of the definitions of all sources, one item for each name.
func (r *Reader) Names(ctx context.Context, q NamesQuery) (Names, error) {
	all, err := r.named(ctx, q)
	if err != nil {
		return Names{}, err
	}
	counts, err := r.mirror.CountUnitFindings(ctx)
	if err != nil {
		return Names{}, err
	}
	out := Names{Items: []Named{}}
	for _, d := range all {
		slices.SortFunc(d.Copies, func(a, b Copy) int {
			return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.File, b.File))
		})
		for severity, n := range counts[d.Name] {
			if d.Findings == nil {
				d.Findings = map[string]int{}
			}
			d.Findings[(finding.Error - finding.Severity(severity)).String()] = n
		}
		if out.Counts.add(d, q.Only) {
			out.Items = append(out.Items, *d)
		}
	}
	slices.SortFunc(out.Items, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	out.TotalItems = len(out.Items)
	out.Items = out.Items[min(q.Offset, len(out.Items)):]
	out.Items = out.Items[:min(q.Limit, len(out.Items))]
	return out, nil
}

// add counts a definition, and reports whether it matches only.
func (c *NameCounts) add(d *Named, only string) bool {
	matches := map[string]bool{"": true, OnlySelected: d.Selected, OnlyUnselected: !d.Selected, OnlyFindings: len(d.Findings) > 0}
	for name, n := range map[string]*int{"": &c.All, OnlySelected: &c.Selected, OnlyUnselected: &c.Unselected, OnlyFindings: &c.Findings} {
		if matches[name] {
			*n++
		}
	}
	return matches[only]
}

// named returns the definitions that match text and cluster, by name.
func (r *Reader) named(ctx context.Context, q NamesQuery) (map[string]*Named, error) {
	conditions, err := status.Load(ctx, r.mirror)
	if err != nil {
		return nil, err
	}
	text, all := strings.ToLower(q.Text), map[string]*Named{}
	for _, p := range r.targets {
		if q.Cluster != "" && (!p.Cluster || p.At != q.Cluster) {
			continue
		}
		objects, err := r.definitionsOf(ctx, p)
		if err != nil {
			return nil, err
		}
		condition := conditions[p.Name]
		state := sourceHealth(p, condition, nil).State
		for i := range objects {
			o := &objects[i]
			if !strings.Contains(strings.ToLower(o.Unit), text) {
				continue
			}
			d := all[o.Unit]
			if d == nil {
				d = &Named{Name: o.Unit}
				all[o.Unit] = d
			}
			c := r.copyOf(p, o, condition, state)
			d.Selected = d.Selected || c.Selected
			d.Copies = append(d.Copies, c)
		}
	}
	return all, nil
}

// definitionsOf returns the definitions of a target, without their bodies. It reads no
// other lists of a cluster: there may be many composites.
func (r *Reader) definitionsOf(ctx context.Context, p status.Target) ([]mirror.Object, error) {
	lists, err := r.mirror.Lists(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	lists = slices.DeleteFunc(lists, func(list string) bool {
		return list != object.ListFolder && !strings.HasPrefix(list, object.ListDefinitions)
	})
	if len(lists) == 0 {
		return nil, nil
	}
	objects, err := r.mirror.SourceObjects(ctx, p.Name, lists...)
	return slices.DeleteFunc(objects, func(o mirror.Object) bool { return o.Unit == "" }), err
}

// copyOf returns a definition of a target, whose state is the last argument.
func (r *Reader) copyOf(p status.Target, o *mirror.Object, condition status.Status, state string) Copy {
	kept := object.NoteOf(o)
	c := Copy{Source: p.Name, Selected: kept.Refused == "", Why: kept.Refused, State: Found}
	found := variant.Found{Name: o.Unit, Why: kept.Refused}
	if p.Cluster {
		c.Cluster, found.Cluster, found.Words = p.At, p.At, object.WordsOf(o.List)
	} else {
		c.File = kept.Origin.File
	}
	if !c.Selected {
		c.Remedy = r.remedy(p.Name, found)
	}
	list := condition.Lists[o.List]
	if c.Since = list.StaleObject(o.Key); !c.Since.IsZero() {
		if c.State = Unreadable; slices.Contains([]string{Connected, Partial, Pending}, state) {
			c.State = Stale
		}
		return c
	}
	if !c.Selected || !p.Cluster {
		return c
	}
	c.State = Served
	if unserved := unservedNow(&kept, condition); len(unserved) > 0 {
		u := unserved[0]
		c.State, c.Message = NotServed, u.Type+" is "+u.Status
		for _, more := range []string{u.Reason, u.Message} {
			if more != "" {
				c.Message += ": " + more
			}
		}
	}
	return c
}
