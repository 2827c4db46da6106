package plan

import (
	"fmt"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
)

// signs are how actions are shown in front of an object.
var signs = map[Action]string{Create: "+", Change: "~", Delete: "-", Unchanged: "=", Uncertain: "?", Blocked: "!"}

// Sign returns the character for the action, as in a diff.
func (a Action) Sign() string { return signs[a] }

// mostMarkdown limits a Markdown text in bytes: Git servers refuse texts of more than
// 64 KiB.
const mostMarkdown = 48 << 10

// longer ends a plan that is shortened.
const longer = "\n… the plan is longer; run composer-ingestor plan to see all of it.\n"

// Markdown returns the plan for the text of a change request. A long plan is shortened:
// first manifests are left out, then objects.
func (p *Plan) Markdown() string {
	text := p.markdown(true)
	if len(text) > mostMarkdown {
		text = p.markdown(false)
	}
	if len(text) > mostMarkdown {
		text = strings.ToValidUTF8(text[:mostMarkdown-len(longer)], "")
		text = text[:strings.LastIndexByte(text, '\n')+1] + longer
	}
	return text
}

func (p *Plan) markdown(manifests bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Plan: %s**", p.Counts)
	if p.Composition.Name != "" {
		fmt.Fprintf(&b, " (Composition %s)", code(p.Composition.String()))
	}
	b.WriteString("\n\n")
	if p.Fatal != "" {
		fmt.Fprintf(&b, "Nothing would be applied: %s\n\n", code(p.Fatal))
	}
	for _, o := range p.Objects {
		if o.Action == Unchanged {
			continue
		}
		o.markdown(&b, manifests)
	}
	if len(p.Objects) > 0 {
		b.WriteByte('\n')
	}
	for _, r := range p.Results {
		word := "Note"
		if r.Warning {
			word = "Warning"
		}
		fmt.Fprintf(&b, "- %s: %s\n", word, code(r.Text()))
	}
	for _, u := range p.Unknown {
		fmt.Fprintf(&b, "- Known only after apply: %s: %s\n", code(u.Subject), code(u.Message))
	}
	return b.String()
}

// String returns the name, and the revision if there is one.
func (c Composition) String() string {
	if c.Revision == "" {
		return c.Name
	}
	return c.Name + ", revision " + c.Revision
}

func (o Object) markdown(b *strings.Builder, manifests bool) {
	fmt.Fprintf(b, "- %s %s\n", code(o.Action.Sign()+" "+o.Title()), o.Action)
	if !manifests {
		return
	}
	text, language := "", "yaml"
	switch {
	case o.Action == Change:
		text, language = strings.Join(o.Diff(), "\n")+"\n", "diff"
	case o.Manifest != nil:
		text = string(tree.AppendYAML(nil, o.Manifest.Node))
	default:
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "\n  <details><summary>details</summary>\n\n  %s%s\n", fence, language)
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	fmt.Fprintf(b, "  %s\n  </details>\n\n", fence)
}

// Diff returns the fields that change, as lines of a diff.
func (o Object) Diff() []string {
	var out []string
	for _, f := range o.Fields {
		if f.Old != nil {
			out = append(out, "- "+f.Path+": "+inline(f.Old.Node))
		}
		if f.New != nil {
			out = append(out, "+ "+f.Path+": "+inline(f.New.Node))
		}
	}
	return out
}

func inline(n *tree.Node) string { return string(tree.AppendJSON(nil, n, "")) }

// printable replaces control characters, which terminals interpret.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// code returns text as inline code, so that nothing in it is read as Markdown.
func code(text string) string {
	text = strings.Join(strings.Fields(strings.Map(printable, text)), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
