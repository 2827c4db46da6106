package change

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/outline"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// The limits of a comment. Forges accept 65,536 characters.
const (
	mostComment = 60_000
	mostRows    = 100
	mostCell    = 300
	mostForm    = 12_000
	mostNames   = 200
)

// marker lets a pipeline find its earlier comment.
const marker = "<!-- ingestor-cli diff -->\n"

// comment returns the result as a comment on a pull request. Sections that would exceed
// the limit are left out, and the comment says so.
func (s *session) comment() string {
	var b strings.Builder
	b.WriteString(marker)
	b.WriteString(s.headline())
	left := 0
	for _, section := range s.sections() {
		if b.Len()+len(section) > mostComment-200 {
			left++
			continue
		}
		b.WriteString("\n" + section)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%s not shown because the comment would be too long; run the command for all of it.\n", output.Count(left, "section is", "sections are"))
	}
	return b.String()
}

func (s *session) headline() string {
	sum := s.summary()
	title := "No breaking changes"
	if sum.Breaking > 0 {
		title = output.Count(sum.Breaking, "breaking change", "breaking changes")
	}
	line := fmt.Sprintf("## %s\n\n%s compared: %d breaking, %s, %d compatible.", title,
		output.Count(len(s.pairs), "definition", "definitions"), sum.Breaking, output.Count(sum.Warnings, "warning", "warnings"), sum.Compatible)
	if s.impact != nil {
		line += fmt.Sprintf(" **%d of %s in %s would be affected.**", s.impact.Affected,
			output.Count(s.impact.Checked, "live resource", "live resources"), output.Count(s.impact.Clusters, "cluster", "clusters"))
	}
	return line + "\n"
}

// sections returns the parts of the comment, the most important first.
func (s *session) sections() []string {
	var all []string
	if found := slices.Concat(s.unreadable, s.conflicts); len(found) > 0 {
		rows := []string{"### Problems\n\n| file | problem |\n|---|---|\n"}
		for _, f := range found[:min(len(found), mostRows)] {
			rows = append(rows, fmt.Sprintf("| %s | %s |\n", cell(f.Where()), cell(f.Message)))
		}
		all = append(all, strings.Join(rows, ""))
	}
	changes := s.changes()
	for _, part := range []struct {
		severity finding.Severity
		title    string
	}{{finding.Error, "Breaking"}, {finding.Warning, "Warnings"}} {
		if t := changeTable(changes, part.severity, len(s.pairs) > 1); t != "" {
			all = append(all, "### "+part.title+"\n\n"+t)
		}
	}
	all = append(all, s.radius()...)
	for i := range s.pairs {
		if f := s.form(&s.pairs[i]); f != "" {
			all = append(all, f)
		}
	}
	if t := changeTable(changes, finding.Info, len(s.pairs) > 1); t != "" {
		all = append(all, details("Compatible changes", t))
	}
	return all
}

// changeTable returns the changes of a severity as a table, empty if there are none.
func changeTable(changes []diff.Change, severity finding.Severity, named bool) string {
	var b strings.Builder
	rows := 0
	for i := range changes {
		c := &changes[i]
		if c.Severity != severity {
			continue
		}
		if rows++; rows > mostRows {
			continue
		}
		field := strings.TrimSpace(c.Version + " " + c.Field)
		if named {
			field = strings.TrimSpace(c.Definition + " " + field)
		}
		where := c.Finding().Where()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Rule, code(field), cell(c.Message), code(where))
	}
	if rows == 0 {
		return ""
	}
	if rows > mostRows {
		fmt.Fprintf(&b, "| | | and %d more | |\n", rows-mostRows)
	}
	return "| rule | field | change | where |\n|---|---|---|---|\n" + b.String()
}

// radius returns the live resources that the changes concern.
func (s *session) radius() []string {
	var all []string
	var definitions []impact.Definition
	if s.impact != nil {
		definitions = s.impact.Definitions
	}
	for _, d := range definitions {
		for i := range d.Effects {
			e := &d.Effects[i]
			all = append(all, details(s.describe(&d, e), names(e)))
		}
	}
	for _, why := range s.partial {
		all = append(all, "Incomplete: "+cell(why)+"\n")
	}
	if len(all) > 0 {
		all[0] = "### Blast radius\n\nRefused means: when the resource is created again, or when the field is changed. Existing objects stay as they are.\n\n" + all[0]
	}
	return all
}

// names returns the resources of an effect as a table.
func names(e *impact.Effect) string {
	var b strings.Builder
	b.WriteString("| cluster | owner | kind | resource |\n|---|---|---|---|\n")
	shown := e.Resources[:min(len(e.Resources), mostNames)]
	for _, r := range shown {
		name := strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.Cluster), cell(r.Owner), cell(r.Kind), cell(name))
	}
	if more := e.Count - len(shown); more > 0 {
		fmt.Fprintf(&b, "| | | | and %d more |\n", more)
	}
	return b.String()
}

// form returns the difference of the forms of a definition, empty if there is none.
func (s *session) form(p *diff.Pair) string {
	if p.Old == nil || p.New == nil || len(p.Changes) == 0 {
		return ""
	}
	lines, changed := lineDiff(s.outlineOf(p.Old), s.outlineOf(p.New))
	if !changed {
		return ""
	}
	body := strings.ReplaceAll(strings.Join(lines, "\n"), "```", "'''")
	return details("Form of "+p.Name()+" before and after", "```diff\n"+text.Shorten(body, mostForm)+"\n```\n")
}

// outlineOf returns the lines of the form of a definition, nil if it has none.
func (s *session) outlineOf(d *xrd.Definition) []string {
	_, transformer := s.extension.Engine(engine.CLI, engine.Options{})
	made, err := transformer.Transform(engine.Input{Definition: d})
	if err != nil {
		return nil
	}
	var lines []string
	for _, e := range made.Entities {
		if e.Kind == entity.KindTemplate {
			lines = append(lines, strings.Split(strings.TrimRight(outline.Form(e.Spec.Get("parameters"), term.Style{}), "\n"), "\n")...)
		}
	}
	for i := range lines {
		lines[i] = squeeze(lines[i])
	}
	return lines
}

// squeeze removes the padding of columns, which depends on other lines, but keeps the
// indentation.
func squeeze(line string) string {
	body := strings.TrimLeft(line, " ")
	return line[:len(line)-len(body)] + strings.Join(strings.Fields(body), " ")
}

// mostLines is how many lines of a form are compared.
const mostLines = 1500

// lineDiff returns lines with the prefixes of a unified diff, and whether any differ. It
// keeps three lines around each difference.
func lineDiff(older, newer []string) (lines []string, changed bool) {
	older, newer = older[:min(len(older), mostLines)], newer[:min(len(newer), mostLines)]
	if slices.Equal(older, newer) {
		return nil, false
	}
	// common[i][j] is the length of the longest common part of older[i:] and newer[j:].
	common := make([][]int16, len(older)+1)
	for i := range common {
		common[i] = make([]int16, len(newer)+1)
	}
	for i := len(older) - 1; i >= 0; i-- {
		for j := len(newer) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if older[i] == newer[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(older) || j < len(newer); {
		switch {
		case i < len(older) && j < len(newer) && older[i] == newer[j]:
			lines = append(lines, " "+older[i])
			i, j = i+1, j+1
		case j == len(newer) || i < len(older) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, "-"+older[i])
			i++
		default:
			lines = append(lines, "+"+newer[j])
			j++
		}
	}
	return around(lines), true
}

// around keeps the lines that changed and three lines around them.
func around(lines []string) (out []string) {
	const context = 3
	last := -1
	for i := range lines {
		near := false
		for j := max(0, i-context); j < min(len(lines), i+context+1) && !near; j++ {
			near = lines[j][0] != ' '
		}
		if !near {
			continue
		}
		if i > last+1 {
			out = append(out, "@@")
		}
		out, last = append(out, lines[i]), i
	}
	return out
}

// details returns a section that is collapsed.
func details(title, body string) string {
	return "<details><summary>" + inHTML(title) + "</summary>\n\n" + body + "\n</details>\n"
}

// escaper escapes what Markdown or HTML would interpret, in a cell of a table too.
var escaper = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`, "!", `\!`,
	// Mentions and links would notify people or lead elsewhere.
	"@", "@\u200b", "://", ":\u200b//", "\n", " ", "\r", " ",
)

// cell returns text that is shown as it is.
func cell(s string) string { return escaper.Replace(text.Shorten(term.Safe(s), mostCell)) }

// inHTML returns text that is shown as it is inside of an HTML element, where forges do
// not interpret Markdown.
func inHTML(s string) string {
	s = strings.NewReplacer("\n", " ", "\r", " ", "@", "@\u200b", "://", ":\u200b//").Replace(text.Shorten(term.Safe(s), mostCell))
	return html.EscapeString(s)
}

// code returns text in the font of code.
func code(s string) string {
	if s == "" {
		return ""
	}
	s = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ", "\r", " ").Replace(text.Shorten(term.Safe(s), mostCell))
	return "`" + s + "`"
}
