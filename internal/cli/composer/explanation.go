package composer

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// explanation is everything that is known about one definition.
type explanation struct {
	name   string
	copies []sighting
	// used is the location of the copy that is used, and differ reports whether the
	// copies differ.
	used   string
	differ bool
	// by is the ingestor that takes it, empty if none does.
	by       string
	values   []engine.Source
	entities []*entity.Entity
}

// sighting is one location that was searched.
type sighting struct {
	// place is for people; cluster and url, or file, are for machines. ingestor is
	// the ingestor that searched there.
	place, cluster, url, file, ingestor string
	found                               bool
	// unread reports that the location could not be read.
	unread   bool
	verdicts []verdict
}

// verdict is the result of one filter.
type verdict struct {
	filter
	ok  bool
	why string
}

// explanation collects what is known about a definition that was found.
func (s *session) explanation(name string, in *inputs, r *pipeline.Report) *explanation {
	x := &explanation{name: name, by: r.TakenBy[name], values: values(r.Sources[name])}
	if x.name == "" {
		x.name = (&xrd.Definition{}).Label()
	}
	for i, v := range in.variants {
		if in.fleet != nil {
			break
		}
		for _, def := range in.sets[i].Definitions {
			if def.Name == name {
				x.copies = append(x.copies, sighting{place: def.Origin.File, file: def.Origin.File, found: true, verdicts: ask(v.asks, def)})
			}
		}
	}
	if in.fleet != nil {
		x.copies = in.look(name)
	}
	x.used = in.used(name, x.by)
	x.differ = slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == xrd.RuleConflict && f.Object == name })
	for _, e := range r.Entities {
		if definitionOf(e) == name {
			x.entities = append(x.entities, e)
		}
	}
	return x
}

// used returns the location of the copy that the entities of a definition are made
// from.
func (in *inputs) used(name, by string) string {
	for i, v := range in.variants {
		if by != "" && v.name != by {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(in.sets[i].Definitions), func(d *xrd.Definition) bool { return d.Name != name })
		// Selected copies take precedence over refused ones.
		taken, refused, _ := xrd.Select(same, v.asks.refusal)
		for _, d := range append(taken, refused...) {
			if d.Origin.Cluster != "" {
				return "cluster " + d.Origin.Cluster
			}
			return d.Origin.File
		}
	}
	return ""
}

// notFound returns the explanation of a definition that was not found.
func (in *inputs) notFound(name string) *explanation {
	return &explanation{name: name, copies: in.look(name)}
}

// look searches for a definition in every cluster.
func (in *inputs) look(name string) []sighting {
	var out []sighting
	for _, m := range in.fleet.members() {
		at := sighting{place: m.Title(), cluster: m.Status.Cluster, url: m.Status.URL, ingestor: m.variant.name, unread: !m.Status.Known}
		for _, def := range in.sets[slices.Index(in.variants, m.variant)].Definitions {
			if def.Name == name && def.Origin.Cluster == m.Status.Cluster {
				at.found, at.verdicts = true, ask(m.variant.asks, def)
			}
		}
		out = append(out, at)
	}
	return out
}

// ask evaluates every filter, regardless of the others.
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
		same := "the copies are identical"
		if x.differ {
			same = "the copies differ"
		}
		fmt.Fprintf(b, "  used: the copy of %s; %s\n", term.Safe(x.used), same)
	}
	if x.by != "" {
		fmt.Fprintf(b, "  %s: %s\n", style.Green("the service ingests it"), x.by)
	} else {
		fmt.Fprintf(b, "  %s; if it did:\n", style.Red("the service does not ingest it"))
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

// state returns whether a definition was found at a location.
func (at sighting) state() string {
	switch {
	case at.found:
		return "found"
	case at.unread:
		return "not read"
	}
	return "not found"
}

// found returns the number of copies.
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
			tree.F("cluster", tree.OptStr(at.cluster)), tree.F("url", tree.OptStr(at.url)), tree.F("file", tree.OptStr(at.file)), tree.F("ingestor", tree.OptStr(at.ingestor)),
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
		tree.F("name", tree.Str(x.name)), tree.F("taken", tree.Boolean(x.by != "")), tree.F("takenBy", tree.OptStr(x.by)),
		tree.F("used", tree.OptStr(x.used)), tree.F("differ", tree.Boolean(x.differ)),
		tree.F("places", places), tree.F("values", values), tree.F("entities", entities),
	)
}
