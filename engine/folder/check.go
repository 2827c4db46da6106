package folder

import (
	"fmt"
	"strconv"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// Check checks the entities against the catalog's rules. Each finding names the template
// and shows the line of the output.
func (r *Rendered) Check(d *xrd.Definition) []finding.Finding {
	var out []finding.Finding
	first := map[string]tree.Pos{}
	for _, doc := range r.Documents {
		for _, f := range entity.Check(doc.Entity) {
			at := r.finding(d, RuleEntity, place(doc.Node, f.Path), f.Message, f.Hint)
			at.Rule, at.Severity, at.Path = f.Rule, f.Severity, f.Path
			out = append(out, at)
		}
		key := doc.Entity.Key()
		before, twice := first[key]
		if !twice {
			first[key] = doc.Node.Pos
			continue
		}
		at := r.finding(d, entity.RuleDuplicate, place(doc.Node, "metadata.name"),
			fmt.Sprintf("duplicate %s, first on line %d of the output", key, before.Line), "give one of the two another name")
		out = append(out, at)
	}
	return append(append(out, r.pages(d)...), r.expressions(d)...)
}

// DropUnsafeURLs removes links and annotations that no portal shows from the entities.
// Each finding names the template and shows the line of the output.
func (r *Rendered) DropUnsafeURLs(d *xrd.Definition) []finding.Finding {
	var out []finding.Finding
	for _, doc := range r.Documents {
		for _, f := range entity.DropUnsafeURLs(doc.Entity) {
			at := r.finding(d, RuleEntity, place(doc.Node, f.Path), f.Message, f.Hint)
			at.Rule, at.Severity, at.Path = f.Rule, f.Severity, f.Path
			out = append(out, at)
		}
	}
	return out
}

// pages reports parameters that occur on two pages of a Template.
func (r *Rendered) pages(d *xrd.Definition) []finding.Finding {
	var out []finding.Finding
	for _, doc := range r.Documents {
		if doc.Entity.Kind != entity.KindTemplate {
			continue
		}
		seen := map[string]int{}
		for i, page := range doc.Entity.Spec.Get("parameters").List() {
			parameters(page, func(name string) {
				before, ok := seen[name]
				if !ok || before == i {
					seen[name] = i
					return
				}
				seen[name] = i
				out = append(out, r.finding(d, RuleTwice, page.Pos, fmt.Sprintf("pages %d and %d both have a field %q", before+1, i+1, shorten(name)), "give one of the two another name"))
			})
		}
	}
	return out
}

// expressions reports text of the definition that is copied into a step and contains an
// expression: the portal would evaluate it (template injection).
func (r *Rendered) expressions(d *xrd.Definition) []finding.Finding {
	var texts []string
	walk(d.Node, func(n *tree.Node) {
		if strings.Contains(n.Text, "${{") {
			texts = append(texts, n.Text)
		}
	})
	if len(texts) == 0 {
		return nil
	}
	var out []finding.Finding
	for _, doc := range r.Documents {
		if doc.Entity.Kind != entity.KindTemplate {
			continue
		}
		for _, part := range []string{"steps", "output"} {
			walk(doc.Entity.Spec.Get(part), func(n *tree.Node) {
				for _, text := range texts {
					if strings.Contains(n.Text, text) {
						out = append(out, r.finding(d, RuleExpression, n.Pos, fmt.Sprintf("%s has %q from the definition, which the portal evaluates", part, shorten(text)), "keep text of the definition out of steps"))
						return
					}
				}
			})
		}
	}
	return out
}

// walk calls visit for each string in n.
func walk(n *tree.Node, visit func(*tree.Node)) {
	if n.IsString() {
		visit(n)
	}
	for _, it := range n.List() {
		walk(it, visit)
	}
	for _, f := range entries(n) {
		walk(f.Value, visit)
	}
}

// place returns the position of a path such as metadata.tags[2] in a document, or of its
// longest prefix that exists.
func place(n *tree.Node, path string) tree.Pos {
	at := n.Pos
	for path != "" && n != nil {
		var step string
		step, path = cutStep(path)
		if i, err := strconv.Atoi(step); err == nil && n.IsList() && i < len(n.Items) {
			n = n.Items[i]
		} else {
			n = n.Get(step)
		}
		if n.At().Line > 0 {
			at = n.Pos
		}
	}
	return at
}

// cutStep splits off the first step of a path: a key, [2] or ["a key"].
func cutStep(path string) (step, rest string) {
	if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(path, "[")); err == nil && path[0] == '[' {
		step, _ = strconv.Unquote(quoted)
		return step, strings.TrimLeft(path[1+len(quoted):], "].")
	}
	if path[0] == '[' {
		step, rest, _ = strings.Cut(path[1:], "]")
		return step, strings.TrimPrefix(rest, ".")
	}
	i := strings.IndexAny(path, ".[")
	if i < 0 {
		return path, ""
	}
	return path[:i], strings.TrimPrefix(path[i:], ".")
}
