package health

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.dev/ingestor/internal/ingestion/object"
)

// Definition is a definition in a source, and whether it is selected.
type Definition struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Cluster is the name of the cluster; empty for folders and repositories.
	Cluster string `json:"cluster,omitempty"`
	// File is the file that contains it; empty for clusters.
	File     string `json:"file,omitempty"`
	Selected bool   `json:"selected"`
	// Why says why it is not selected.
	Why string `json:"why,omitempty"`
}

// DefinitionsQuery selects definitions. Empty fields match all.
type DefinitionsQuery struct {
	Source, Cluster string
	Selected        *bool
	Limit, Offset   int
}

// Definitions returns a page of the definitions of all sources, sorted by name and
// source, and their total number.
func (r *Reader) Definitions(ctx context.Context, q DefinitionsQuery) (items []Definition, total int, err error) {
	all := []Definition{}
	for _, p := range r.targets {
		if q.Source != "" && p.Name != q.Source || q.Cluster != "" && (!p.Cluster || p.At != q.Cluster) {
			continue
		}
		objects, err := r.mirror.SourceObjects(ctx, p.Name)
		if err != nil {
			return nil, 0, err
		}
		for i := range objects {
			o := &objects[i]
			if o.Unit == "" || o.List != object.ListFolder && !strings.HasPrefix(o.List, object.ListDefinitions) {
				continue
			}
			kept := object.NoteOf(o)
			d := Definition{Name: o.Unit, Source: p.Name, File: kept.Origin.File, Selected: kept.Refused == "", Why: kept.Refused}
			if p.Cluster {
				d.Cluster = p.At
			}
			if q.Selected == nil || *q.Selected == d.Selected {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b Definition) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Source, b.Source), strings.Compare(a.File, b.File))
	})
	page := all[min(q.Offset, len(all)):]
	return page[:min(q.Limit, len(page))], len(all), nil
}
