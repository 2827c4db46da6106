// Package discovery is the result of discover: the definitions that the ingestors take
// and those that they refuse, as a table or a document.
package discovery

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/cli/composer/selection"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Discovery is the result of discover.
type Discovery struct {
	Taken, Refused []*xrd.Definition
	// by is the ingestor that takes a definition; nil if there is only one.
	by  map[*xrd.Definition]string
	Why map[*xrd.Definition]string
	// composites are those of the definitions that are taken; nil if not requested.
	composites []*xrd.Object
	// Components are the ids of workloads, sorted.
	Components []component
	Findings   []finding.Finding
}

// component is an id that workloads have.
type component struct {
	id       string
	count    int
	clusters []string
}

// New returns an empty result of one or several ingestors, with or without
// composites.
func New(several, composites bool) *Discovery {
	d := &Discovery{Why: map[*xrd.Definition]string{}}
	if several {
		d.by = map[*xrd.Definition]string{}
	}
	if composites {
		d.composites = []*xrd.Object{}
	}
	return d
}

// Add adds the result of an ingestor.
func (d *Discovery) Add(ingestor string, set *xrd.Set, wanted selection.Selection) {
	taken, refused, conflicts := xrd.Select(set.Definitions, wanted.Refusal)
	d.Findings = append(append(d.Findings, set.Findings...), conflicts...)
	if d.composites != nil {
		d.composites = append(d.composites, set.Others...)
	}
	for _, def := range taken {
		if d.by != nil {
			d.by[def] = ingestor
		}
	}
	d.Taken = append(d.Taken, taken...)
	for _, def := range refused {
		d.Why[def] = wanted.Refusal(def)
		if d.by != nil {
			d.Why[def] = ingestor + ": " + d.Why[def]
		}
	}
	d.Refused = append(d.Refused, refused...)
	for _, w := range set.Workloads {
		d.workload(w)
	}
}

// workload counts a workload.
func (d *Discovery) workload(w *xrd.Object) {
	for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
		id := w.Node.Get("metadata", "labels", label).Str()
		if id == "" {
			continue
		}
		i := slices.IndexFunc(d.Components, func(c component) bool { return c.id == id })
		if i < 0 {
			i, d.Components = len(d.Components), append(d.Components, component{id: id})
		}
		c := &d.Components[i]
		c.count++
		if !slices.Contains(c.clusters, w.Origin.Cluster) {
			c.clusters = append(c.clusters, w.Origin.Cluster)
		}
	}
}

// Settle merges and sorts the results of several ingestors: a definition is
// refused once, and only if no ingestor takes it.
func (d *Discovery) Settle() {
	byName := func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(d.Taken, byName)
	slices.SortStableFunc(d.Refused, byName)
	first := map[string]*xrd.Definition{}
	d.Refused = slices.DeleteFunc(d.Refused, func(def *xrd.Definition) bool {
		if slices.ContainsFunc(d.Taken, func(t *xrd.Definition) bool { return t.Name == def.Name }) {
			return true
		}
		one := first[def.Name]
		if one == nil {
			first[def.Name] = def
			return false
		}
		one.Also = append(one.Also, def.Origin)
		d.Why[one] += "; " + d.Why[def]
		return true
	})
	seen := map[finding.Finding]bool{}
	d.Findings = slices.DeleteFunc(d.Findings, func(f finding.Finding) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	slices.SortFunc(d.Components, func(a, b component) int { return strings.Compare(a.id, b.id) })
}

// ComponentTable returns a table of the ids of workloads; empty if there are none.
func (d *Discovery) ComponentTable(style term.Style) string {
	if len(d.Components) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(d.Components))
	for _, c := range d.Components {
		rows = append(rows, []string{c.id, fmt.Sprint(c.count), strings.Join(c.clusters, ",")})
	}
	text := term.Table(rows, []string{"COMPONENT", "WORKLOADS", "CLUSTERS"}, style)
	if len(d.Taken) > 0 {
		text = "\n" + text
	}
	return text
}

// Rows returns the definitions to list, sorted.
func (d *Discovery) Rows(all bool) []*xrd.Definition {
	rows := slices.Clone(d.Taken)
	if all {
		rows = append(rows, d.Refused...)
		slices.SortStableFunc(rows, func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) })
	}
	return rows
}

// Table returns a table of the definitions to list; empty if there are none.
func (d *Discovery) Table(style term.Style, all bool) string {
	header := []string{"NAME", "GROUP", "KIND", "VERSIONS", "CLUSTERS"}
	if d.by != nil {
		header = append(header, "INGESTOR")
	}
	if d.composites != nil {
		header = append(header, "COMPOSITES")
	}
	if all {
		header = append(header, "SKIPPED BECAUSE")
	}
	var rows [][]string
	for _, def := range d.Rows(all) {
		row := []string{def.Label(), def.Group, def.Names.Kind, strings.Join(versions(def, true), ","), strings.Join(foundIn(def), ",")}
		if d.by != nil {
			row = append(row, d.by[def])
		}
		if d.composites != nil {
			row = append(row, d.count(def))
		}
		if all {
			row = append(row, d.Why[def])
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return term.Table(rows, header, style)
}

// count returns the number of composites and claims of a definition that is taken.
func (d *Discovery) count(def *xrd.Definition) string {
	if d.Why[def] != "" {
		return ""
	}
	n := 0
	for _, o := range d.composites {
		if xrd.NewComposite(o, def) != nil {
			n++
		}
	}
	return fmt.Sprint(n)
}

// Node returns the list as the contract defines it, plus refused definitions if
// all is set.
func (d *Discovery) Node(all bool) *tree.Node {
	items := tree.Arr()
	for _, def := range d.Taken {
		names := tree.Arr()
		for _, v := range versions(def, false) {
			names.Items = append(names.Items, tree.Str(v))
		}
		items.Items = append(items.Items, tree.Obj(
			tree.F("apiVersion", tree.Str(def.Node.Get("apiVersion").Str())),
			tree.F("kind", tree.Str(def.Kind)),
			tree.F("metadata", tree.Obj(tree.F("name", tree.Str(def.Name)))),
			tree.F("spec", tree.Obj(tree.F("group", tree.Str(def.Group)), tree.F("versions", names))),
		))
	}
	n := tree.Obj(tree.F("discovered", items), tree.F("count", tree.Number(int64(len(d.Taken)))))
	if len(d.Components) > 0 {
		components := tree.Arr()
		for _, c := range d.Components {
			components.Items = append(components.Items, tree.Obj(
				tree.F("name", tree.Str(c.id)), tree.F("workloads", tree.Number(int64(c.count))), tree.F("clusters", tree.Strs(c.clusters)),
			))
		}
		n.Set("components", components)
	}
	if all {
		refused := tree.Arr()
		for _, def := range d.Refused {
			refused.Items = append(refused.Items, tree.Obj(tree.F("name", tree.Str(def.Name)), tree.F("why", tree.Str(d.Why[def]))))
		}
		n.Set("refused", refused)
	}
	return n
}

// versions returns the names of a definition's versions: in the order of the
// document, or with the preferred one first.
func versions(d *xrd.Definition, preferred bool) []string {
	var out []string
	for _, v := range d.Versions {
		if preferred && v == d.Preferred() {
			out = slices.Insert(out, 0, v.Name)
			continue
		}
		out = append(out, v.Name)
	}
	return out
}

// foundIn returns the clusters in which a definition was found.
func foundIn(d *xrd.Definition) []string {
	var out []string
	for _, o := range append([]xrd.Origin{d.Origin}, d.Also...) {
		out = append(out, o.Cluster)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WhyNothing returns why nothing is taken.
func (d *Discovery) WhyNothing() string {
	if len(d.Refused) == 0 {
		return "no definition in the clusters matches the labels"
	}
	first := d.Refused[0]
	return fmt.Sprintf("%s found, none selected: %s because %s; see --all or explain",
		output.Count(len(d.Refused), "definition", "definitions"), first.Label(), d.Why[first])
}
