package report

import (
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/term"
)

// writeText writes a line for each finding, in a format that editors can jump to,
// and its hint on the next line.
func writeText(w io.Writer, fs []finding.Finding, color bool) {
	style := term.Style{Color: color}
	severities := [...]func(string) string{finding.Info: style.Cyan, finding.Warning: style.Yellow, finding.Error: style.Red}
	for _, f := range fs {
		if where := term.Safe(f.Where()); where != "" {
			fmt.Fprintf(w, "%s: ", style.Bold(where))
		}
		if f.Pos.Line == 0 && f.File != "" && f.Path != "" {
			// Without a line, as in a cluster, the path inside the object locates it.
			fmt.Fprintf(w, "%s: ", term.Safe(f.Path))
		}
		fmt.Fprintf(w, "%s: %s", severities[f.Severity](f.Severity.String()), term.Safe(f.Message))
		if f.Rule != "" {
			fmt.Fprint(w, " ", style.Dim("["+term.Safe(f.Rule)+"]"))
		}
		fmt.Fprintln(w)
		if f.Hint == "" {
			continue
		}
		for line := range strings.SplitSeq(term.SafeLines(f.Hint), "\n") {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}
