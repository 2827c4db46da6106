// Package planning shows plans in a terminal.
package planning

import (
	"fmt"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/plan"
	"example.dev/ingestor/internal/term"
)

// Text returns a plan as text: an object in each line, its changes below, then what
// functions say and what is known only after apply, and the counts in the last line.
func Text(p *plan.Plan, style term.Style) string {
	colors := map[plan.Action]func(string) string{
		plan.Create: style.Green, plan.Change: style.Yellow, plan.Delete: style.Red, plan.Unchanged: style.Dim, plan.Uncertain: style.Yellow, plan.Blocked: style.Red,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", style.Bold(term.Safe(p.Composite.Title())), p.Composite.Action)
	if p.Composition.Name != "" {
		fmt.Fprintf(&b, "Composition %s\n", term.Safe(p.Composition.String()))
	}
	for _, line := range p.Composite.Diff() {
		fmt.Fprintf(&b, "      %s\n", term.Safe(line))
	}
	b.WriteByte('\n')
	for _, o := range p.Objects {
		indent := strings.Repeat("  ", len(o.Within))
		fmt.Fprintf(&b, "%s%s %s%s\n", indent, colors[o.Action](o.Action.Sign()), term.Safe(o.Title()), style.Dim(" "+term.Safe(o.Resource)))
		for _, line := range details(o) {
			fmt.Fprintf(&b, "%s      %s\n", indent, term.Safe(line))
		}
	}
	if len(p.Objects) > 0 {
		b.WriteByte('\n')
	}
	if p.Fatal != "" {
		fmt.Fprintf(&b, "%s: nothing would be applied: %s\n", style.Red("fatal"), term.Safe(p.Fatal))
	}
	for _, r := range p.Results {
		word := "note"
		if r.Warning {
			word = style.Yellow("warning")
		}
		fmt.Fprintf(&b, "%s: %s\n", word, term.Safe(r.Text()))
	}
	for _, u := range p.Unknown {
		fmt.Fprintf(&b, "known only after apply: %s: %s\n", term.Safe(u.Subject), term.Safe(u.Message))
	}
	fmt.Fprintf(&b, "%s\n", p.Counts)
	return b.String()
}

// details returns the lines below an object: its changes, or the manifest of a new one
// without what all composed objects have.
func details(o plan.Object) []string {
	switch o.Action {
	case plan.Change:
		return o.Diff()
	case plan.Create, plan.Uncertain, plan.Blocked:
		n := tree.Obj()
		for _, f := range o.Manifest.Fields {
			if f.Key != "apiVersion" && f.Key != "kind" && f.Key != "metadata" {
				n.Fields = append(n.Fields, f)
			}
		}
		if n.Len() > 0 {
			return strings.Split(strings.TrimSuffix(string(tree.AppendYAML(nil, n)), "\n"), "\n")
		}
	}
	return nil
}
