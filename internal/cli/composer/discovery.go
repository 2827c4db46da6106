package composer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// discovery is the result of discover.
type discovery struct {
	taken, refused []*xrd.Definition
	// by is the ingestor that takes a definition; nil if there is only one.
	by  map[*xrd.Definition]string
	why map[*xrd.Definition]string
	// composites are those of the definitions that are taken; nil if not requested.
	composites []*xrd.Object
	// components are the ids of workloads, sorted.
	components []component
	findings   []finding.Finding
}

// component is an id that workloads have.
type component struct {
	id       string
	count    int
	clusters []string
}

// discover reads the clusters and selects as the service does: the second ingestor
// skips the definitions that the first one takes.
func (f *fleet) discover(ctx context.Context, o *discoverOptions) (*discovery, error) {
	d := &discovery{why: map[*xrd.Definition]string{}}
	if len(f.variants) > 1 {
		d.by = map[*xrd.Definition]string{}
	}
	if o.composites {
		d.composites = []*xrd.Object{}
	}
	claimed := map[string]*variant{}
	for _, v := range f.variants {
		wanted := append(slices.Clone(v.asks), filter{admit: func(def *xrd.Definition) (bool, string) {
			by := claimed[def.Name]
			if by == nil || by == v {
				return true, ""
			}
			return false, "ingested by " + by.name
		}})
		wanted = append(wanted, parts("--", flagNames, o.filter)...)
		set, _ := f.source(v, o.reads(v, wanted)).Read(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, def := range set.Definitions {
			if claimed[def.Name] == nil && v.takes(def) {
				claimed[def.Name] = v
			}
		}
		d.add(v, set, wanted)
	}
	d.settle()
	return d, nil
}

// reads returns what is read for an ingestor with the wanted definitions.
func (o *discoverOptions) reads(v *variant, wanted selection) cluster.ReadOptions {
	read := cluster.ReadOptions{NoCompositions: true}
	if !o.all {
		// Objects that labels exclude need not be read, unless they are shown.
		read.Labels = v.filter.Labels.And(o.filter.Labels)
	}
	if o.composites {
		// Metadata is sufficient for counting.
		read.Composites, read.Metadata, read.Namespaces = wanted.takes, true, v.namespaces
	}
	return read
}

// add adds the result of an ingestor.
func (d *discovery) add(v *variant, set *xrd.Set, wanted selection) {
	taken, refused, conflicts := xrd.Select(set.Definitions, wanted.refusal)
	d.findings = append(append(d.findings, set.Findings...), conflicts...)
	if d.composites != nil {
		d.composites = append(d.composites, set.Others...)
	}
	for _, def := range taken {
		if d.by != nil {
			d.by[def] = v.name
		}
	}
	d.taken = append(d.taken, taken...)
	for _, def := range refused {
		d.why[def] = wanted.refusal(def)
		if d.by != nil {
			d.why[def] = v.name + ": " + d.why[def]
		}
	}
	d.refused = append(d.refused, refused...)
	for _, w := range set.Workloads {
		d.workload(w)
	}
}

// workload counts a workload.
func (d *discovery) workload(w *xrd.Object) {
	for _, label := range words.Spellings(words.Key, words.LabelClusterID) {
		id := w.Node.Get("metadata", "labels", label).Str()
		if id == "" {
			continue
		}
		i := slices.IndexFunc(d.components, func(c component) bool { return c.id == id })
		if i < 0 {
			i, d.components = len(d.components), append(d.components, component{id: id})
		}
		c := &d.components[i]
		c.count++
		if !slices.Contains(c.clusters, w.Origin.Cluster) {
			c.clusters = append(c.clusters, w.Origin.Cluster)
		}
	}
}

// settle merges and sorts the results of several ingestors: a definition is
// refused once, and only if no ingestor takes it.
func (d *discovery) settle() {
	byName := func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(d.taken, byName)
	slices.SortStableFunc(d.refused, byName)
	first := map[string]*xrd.Definition{}
	d.refused = slices.DeleteFunc(d.refused, func(def *xrd.Definition) bool {
		if slices.ContainsFunc(d.taken, func(t *xrd.Definition) bool { return t.Name == def.Name }) {
			return true
		}
		one := first[def.Name]
		if one == nil {
			first[def.Name] = def
			return false
		}
		one.Also = append(one.Also, def.Origin)
		d.why[one] += "; " + d.why[def]
		return true
	})
	seen := map[finding.Finding]bool{}
	d.findings = slices.DeleteFunc(d.findings, func(f finding.Finding) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	slices.SortFunc(d.components, func(a, b component) int { return strings.Compare(a.id, b.id) })
}

// componentTable returns a table of the ids of workloads; empty if there are none.
func (d *discovery) componentTable(s *session) string {
	if len(d.components) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(d.components))
	for _, c := range d.components {
		rows = append(rows, []string{c.id, fmt.Sprint(c.count), strings.Join(c.clusters, ",")})
	}
	text := term.Table(rows, []string{"COMPONENT", "WORKLOADS", "CLUSTERS"}, s.Out())
	if len(d.taken) > 0 {
		text = "\n" + text
	}
	return text
}

// rows returns the definitions to list, sorted.
func (d *discovery) rows(all bool) []*xrd.Definition {
	rows := slices.Clone(d.taken)
	if all {
		rows = append(rows, d.refused...)
		slices.SortStableFunc(rows, func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) })
	}
	return rows
}

func (d *discovery) table(s *session, all bool) string {
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
	for _, def := range d.rows(all) {
		row := []string{def.Label(), def.Group, def.Names.Kind, strings.Join(versions(def, true), ","), strings.Join(foundIn(def), ",")}
		if d.by != nil {
			row = append(row, d.by[def])
		}
		if d.composites != nil {
			row = append(row, d.count(def))
		}
		if all {
			row = append(row, d.why[def])
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return term.Table(rows, header, s.Out())
}

// count returns the number of composites and claims of a definition that is taken.
func (d *discovery) count(def *xrd.Definition) string {
	if d.why[def] != "" {
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

// node returns the list as the contract defines it, plus refused definitions if
// all is set.
func (d *discovery) node(all bool) *tree.Node {
	items := tree.Arr()
	for _, def := range d.taken {
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
	n := tree.Obj(tree.F("discovered", items), tree.F("count", tree.Number(int64(len(d.taken)))))
	if len(d.components) > 0 {
		components := tree.Arr()
		for _, c := range d.components {
			components.Items = append(components.Items, tree.Obj(
				tree.F("name", tree.Str(c.id)), tree.F("workloads", tree.Number(int64(c.count))), tree.F("clusters", tree.Strs(c.clusters)),
			))
		}
		n.Set("components", components)
	}
	if all {
		refused := tree.Arr()
		for _, def := range d.refused {
			refused.Items = append(refused.Items, tree.Obj(tree.F("name", tree.Str(def.Name)), tree.F("why", tree.Str(d.why[def]))))
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

// say prints how many definitions are not taken.
func (d *discovery) say(s *session, o *discoverOptions) {
	if len(d.refused) == 0 || len(d.taken) == 0 || s.Quiet || o.all {
		return
	}
	first := d.refused[0]
	s.Sayf("%s not selected (%s: %s; see --all or explain)", output.Count(len(d.refused), "definition", "definitions"), term.Safe(first.Label()), term.Safe(d.why[first]))
	if s.Detailed() {
		for _, def := range d.refused {
			s.Sayf("  %s: %s", term.Safe(def.Label()), term.Safe(d.why[def]))
		}
	}
}

// whyNothing returns why nothing is taken.
func (d *discovery) whyNothing() string {
	if len(d.refused) == 0 {
		return "no definition in the clusters matches the labels"
	}
	first := d.refused[0]
	return fmt.Sprintf("%s found, none selected: %s because %s; see --all or explain",
		output.Count(len(d.refused), "definition", "definitions"), first.Label(), d.why[first])
}
