package migration

import (
	"strings"

	"example.dev/ingestor/internal/term"
)

// Markdown is the format of reports besides those of package report.
const Markdown = "markdown"

// Section is a part of a report: a sentence, and a table, of which either may be empty.
type Section struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Write returns sections as text or as Markdown.
func Write(sections []Section, format string, style term.Style) string {
	var b strings.Builder
	for i, s := range sections {
		// Sentences on a terminal need no space between them.
		if i > 0 && (format == Markdown || len(s.Rows) > 0 || len(sections[i-1].Rows) > 0) {
			b.WriteString("\n")
		}
		if s.Title != "" {
			b.WriteString(term.Safe(s.Title) + "\n")
		}
		switch {
		case len(s.Rows) == 0:
		case format == Markdown:
			if s.Title != "" {
				b.WriteString("\n")
			}
			b.WriteString(markdownRow(s.Header) + strings.Repeat("|---", len(s.Header)) + "|\n")
			for _, row := range s.Rows {
				b.WriteString(markdownRow(row))
			}
		default:
			b.WriteString(term.Table(s.Rows, s.Header, style))
		}
	}
	return b.String()
}

// markdown escapes what Markdown, or HTML in it, would interpret.
var markdown = strings.NewReplacer("|", `\|`, `\`, `\\`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`)

func markdownRow(cells []string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + markdown.Replace(term.Safe(c)) + " ")
	}
	return b.String() + "|\n"
}
