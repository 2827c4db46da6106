package composer

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// explanation is all there is to say of one definition.
type explanation struct {
	name   string
	copies []sighting
	// used is the place of the copy that is used, and differ says that the
	// others are not the same.
	used     string
	differ   bool
	taken    bool
	values   []engine.Source
	entities []*entity.Entity
}

// sighting is one place that was looked at.
type sighting struct {
	// place is for people; cluster and url, or file, are for machines.
	place, cluster, url, file string
	found                     bool
	// unread says that the place could not be looked at.
	unread   bool
	verdicts []verdict
}

// verdict is what one filter says.
type verdict struct {
	filter
	ok  bool
	why string
}

// explanation collects what there is to say of the definition that is used.
func (s *session) explanation(d *xrd.Definition, set *xrd.Set, f *fleet, r *pipeline.Report) *explanation {
	asks := s.selection()
	x := &explanation{name: d.Label(), taken: asks.takes(d), values: s.values(r.Sources[d.Name])}
	for _, def := range set.Definitions {
		if def.Name == d.Name && def.Origin.Cluster == "" {
			x.copies = append(x.copies, sighting{place: def.Origin.File, file: def.Origin.File, found: true, verdicts: ask(asks, def)})
		}
	}
	if f != nil {
		for _, m := range f.Members {
			x.copies = append(x.copies, look(m, d.Name, set, asks))
		}
	}
	x.used = d.Origin.File
	if d.Origin.Cluster != "" {
		x.used = "cluster " + d.Origin.Cluster
	}
	x.differ = slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == xrd.RuleConflict && f.Object == d.Name })
	for _, e := range r.Entities {
		if definitionOf(e) == d.Name {
			x.entities = append(x.entities, e)
		}
	}
	return x
}

// notFound is the explanation of a definition that is nowhere.
func (f *fleet) notFound(name string) *explanation {
	x := &explanation{name: name}
	for _, m := range f.Members {
		x.copies = append(x.copies, look(m, name, &xrd.Set{}, nil))
	}
	return x
}

// look looks for a definition in a cluster.
func look(m *clusters.Member, name string, set *xrd.Set, asks selection) sighting {
	at := sighting{place: m.Title(), cluster: m.Status.Cluster, url: m.Status.URL, unread: !m.Status.Known}
	for _, def := range set.Definitions {
		if def.Name == name && def.Origin.Cluster == m.Status.Cluster {
			at.found, at.verdicts = true, ask(asks, def)
		}
	}
	return at
}

// ask asks every filter, whatever the others say.
func ask(asks selection, d *xrd.Definition) []verdict {
	var out []verdict
	for _, f := range asks {
		ok, why := f.admit(d)
		out = append(out, verdict{filter: f, ok: ok, why: why})
	}
	return out
}

func (x *explanation) write(b *strings.Builder, style term.Style) {
	fmt.Fprintln(b, style.Bold(term.Safe(x.name)))
	for _, at := range x.copies {
		fmt.Fprintf(b, "  %s: %s\n", term.Safe(at.place), at.state())
		for _, v := range at.verdicts {
			mark, what := style.Green("admits "), v.asks
			if !v.ok {
				mark, what = style.Red("refuses"), v.why
			}
			fmt.Fprintf(b, "    %s %s: %s\n", mark, term.Safe(v.name), term.Safe(what))
		}
	}
	if x.found() == 0 {
		return
	}
	if x.found() > 1 {
		same := "they are the same"
		if x.differ {
			same = "they differ"
		}
		fmt.Fprintf(b, "  used: the one of %s; %s\n", term.Safe(x.used), same)
	}
	if x.taken {
		fmt.Fprintf(b, "  %s\n", style.Green("the service takes it"))
	} else {
		fmt.Fprintf(b, "  %s; if it did:\n", style.Red("the service does not take it"))
	}
	rows := make([][]string, 0, len(x.values))
	for _, v := range x.values {
		rows = append(rows, []string{"  " + v.Field, strings.Join(strings.Fields(v.Value), " "), strings.TrimSpace(v.From + " " + v.Key)})
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s", term.Table(rows, []string{"  VALUE", "IS", "FROM"}, style))
	}
	rows = nil
	for _, e := range x.entities {
		rows = append(rows, []string{"  " + e.Kind, e.Metadata.Namespace + "/" + e.Metadata.Name})
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s", term.Table(rows, []string{"  ENTITY", "NAME"}, style))
	}
}

// state says whether a definition is at a place.
func (at sighting) state() string {
	switch {
	case at.found:
		return "found"
	case at.unread:
		return "not read"
	}
	return "not found"
}

// found returns how many copies there are.
func (x *explanation) found() int {
	n := 0
	for _, at := range x.copies {
		if at.found {
			n++
		}
	}
	return n
}

func (x *explanation) node() *tree.Node {
	places, values, entities := tree.Arr(), tree.Arr(), tree.Arr()
	for _, at := range x.copies {
		filters := tree.Arr()
		for _, v := range at.verdicts {
			filters.Items = append(filters.Items, tree.Obj(
				tree.F("name", tree.Str(v.name)), tree.F("asks", tree.Str(v.asks)), tree.F("admits", tree.Boolean(v.ok)), tree.F("why", tree.OptStr(v.why)),
			))
		}
		places.Items = append(places.Items, tree.Obj(
			tree.F("cluster", tree.OptStr(at.cluster)), tree.F("url", tree.OptStr(at.url)), tree.F("file", tree.OptStr(at.file)),
			tree.F("state", tree.Str(at.state())), tree.F("filters", filters),
		))
	}
	for _, v := range x.values {
		values.Items = append(values.Items, tree.Obj(
			tree.F("field", tree.Str(v.Field)), tree.F("value", tree.Str(v.Value)), tree.F("from", tree.Str(v.From)), tree.F("key", tree.OptStr(v.Key)),
		))
	}
	for _, e := range x.entities {
		entities.Items = append(entities.Items, tree.Obj(
			tree.F("kind", tree.Str(e.Kind)), tree.F("namespace", tree.Str(e.Metadata.Namespace)), tree.F("name", tree.Str(e.Metadata.Name)),
		))
	}
	return tree.Obj(
		tree.F("name", tree.Str(x.name)), tree.F("taken", tree.Boolean(x.taken)),
		tree.F("used", tree.OptStr(x.used)), tree.F("differ", tree.Boolean(x.differ)),
		tree.F("places", places), tree.F("values", values), tree.F("entities", entities),
	)
}
