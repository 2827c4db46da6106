// Package explanation is what explain says about a definition, as text or a document.
package explanation

import (
	"fmt"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/composer/selection"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// Explanation is everything that is known about one definition.
type Explanation struct {
	Name   string
	Copies []Sighting
	// Used is the location of the copy that is used, and Differ reports whether the
	// copies differ.
	Used   string
	Differ bool
	// By is the ingestor that takes it, empty if none does.
	By       string
	Values   []engine.Source
	Entities []*entity.Entity
}

// Sighting is one location that was searched.
type Sighting struct {
	// Place is for people; Cluster and URL, or File, are for machines. Ingestor is
	// the ingestor that searched there.
	Place, Cluster, URL, File, Ingestor string
	Found                               bool
	// Unread reports that the location could not be read.
	Unread   bool
	Verdicts []Verdict
}

// Verdict is the result of one filter.
type Verdict struct {
	selection.Filter
	ok  bool
	why string
}

// Ask evaluates every filter, regardless of the others.
func Ask(asks selection.Selection, d *xrd.Definition) []Verdict {
	var out []Verdict
	for _, f := range asks {
		ok, why := f.Admit(d)
		out = append(out, Verdict{Filter: f, ok: ok, why: why})
	}
	return out
}

// Write writes it as text.
func (x *Explanation) Write(b *strings.Builder, style term.Style) {
	fmt.Fprintln(b, style.Bold(term.Safe(x.Name)))
	for _, at := range x.Copies {
		fmt.Fprintf(b, "  %s: %s\n", term.Safe(at.Place), at.state())
		for _, v := range at.Verdicts {
			mark, what := style.Green("admits "), v.Asks
			if !v.ok {
				mark, what = style.Red("refuses"), v.why
			}
			fmt.Fprintf(b, "    %s %s: %s\n", mark, term.Safe(v.Name), term.Safe(what))
		}
	}
	if x.found() == 0 {
		return
	}
	if x.found() > 1 {
		same := "the copies are identical"
		if x.Differ {
			same = "the copies differ"
		}
		fmt.Fprintf(b, "  used: the copy of %s; %s\n", term.Safe(x.Used), same)
	}
	if x.By != "" {
		fmt.Fprintf(b, "  %s: %s\n", style.Green("the service ingests it"), x.By)
	} else {
		fmt.Fprintf(b, "  %s; if it did:\n", style.Red("the service does not ingest it"))
	}
	rows := make([][]string, 0, len(x.Values))
	for _, v := range x.Values {
		rows = append(rows, []string{"  " + v.Field, strings.Join(strings.Fields(v.Value), " "), strings.TrimSpace(v.From + " " + v.Key)})
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s", term.Table(rows, []string{"  VALUE", "IS", "FROM"}, style))
	}
	rows = nil
	for _, e := range x.Entities {
		rows = append(rows, []string{"  " + e.Kind, e.Metadata.Namespace + "/" + e.Metadata.Name})
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s", term.Table(rows, []string{"  ENTITY", "NAME"}, style))
	}
}

// state returns whether a definition was found at a location.
func (at Sighting) state() string {
	switch {
	case at.Found:
		return "found"
	case at.Unread:
		return "not read"
	}
	return "not found"
}

// found returns the number of copies.
func (x *Explanation) found() int {
	n := 0
	for _, at := range x.Copies {
		if at.Found {
			n++
		}
	}
	return n
}

// Node returns it as a document.
func (x *Explanation) Node() *tree.Node {
	places, values, entities := tree.Arr(), tree.Arr(), tree.Arr()
	for _, at := range x.Copies {
		filters := tree.Arr()
		for _, v := range at.Verdicts {
			filters.Items = append(filters.Items, tree.Obj(
				tree.F("name", tree.Str(v.Name)), tree.F("asks", tree.Str(v.Asks)), tree.F("admits", tree.Boolean(v.ok)), tree.F("why", tree.OptStr(v.why)),
			))
		}
		places.Items = append(places.Items, tree.Obj(
			tree.F("cluster", tree.OptStr(at.Cluster)), tree.F("url", tree.OptStr(at.URL)), tree.F("file", tree.OptStr(at.File)), tree.F("ingestor", tree.OptStr(at.Ingestor)),
			tree.F("state", tree.Str(at.state())), tree.F("filters", filters),
		))
	}
	for _, v := range x.Values {
		values.Items = append(values.Items, tree.Obj(
			tree.F("field", tree.Str(v.Field)), tree.F("value", tree.Str(v.Value)), tree.F("from", tree.Str(v.From)), tree.F("key", tree.OptStr(v.Key)),
		))
	}
	for _, e := range x.Entities {
		entities.Items = append(entities.Items, tree.Obj(
			tree.F("kind", tree.Str(e.Kind)), tree.F("namespace", tree.Str(e.Metadata.Namespace)), tree.F("name", tree.Str(e.Metadata.Name)),
		))
	}
	return tree.Obj(
		tree.F("name", tree.Str(x.Name)), tree.F("taken", tree.Boolean(x.By != "")), tree.F("takenBy", tree.OptStr(x.By)),
		tree.F("used", tree.OptStr(x.Used)), tree.F("differ", tree.Boolean(x.Differ)),
		tree.F("places", places), tree.F("values", values), tree.F("entities", entities),
	)
}
