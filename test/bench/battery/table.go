package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// figure is a measured value.
type figure struct {
	name, unit, target, reference string
	// p50 is the value if unit is not ms.
	first, p50, p99, cpu float64
}

// column has the figures of one size of catalog.
type column struct {
	entities int
	figures  []figure
}

func (c *column) add(w io.Writer, f figure) {
	c.figures = append(c.figures, f)
	if f.unit != "ms" {
		fmt.Fprintf(w, "  %s: %.0f %s\n", f.name, f.p50, f.unit)
		return
	}
	fmt.Fprintf(w, "  %s: p50 %.2f ms, p99 %.2f ms, %.2f ms of CPU time; the first %.1f ms\n", f.name, f.p50, f.p99, f.cpu, f.first)
}

// writeTable writes the figures as a Markdown table.
func writeTable(w io.Writer, engine string, columns []*column) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n| %s: p50 / p99 in ms, CPU in ms |", engine)
	for _, c := range columns {
		fmt.Fprintf(&b, " %d |", c.entities)
	}
	b.WriteString(" growth of p50 | target at 750,000 | SQL of Backstage at 739,000 |\n|---|" + strings.Repeat("---|", len(columns)+3) + "\n")
	last := columns[len(columns)-1]
	for _, f := range last.figures {
		fmt.Fprintf(&b, "| %s |", f.name)
		var smallest float64
		for _, c := range columns {
			i := slices.IndexFunc(c.figures, func(o figure) bool { return o.name == f.name })
			switch {
			case i < 0:
				b.WriteString(" |")
				continue
			case f.unit == "ms":
				fmt.Fprintf(&b, " %.2f / %.2f, %.2f |", c.figures[i].p50, c.figures[i].p99, c.figures[i].cpu)
			default:
				fmt.Fprintf(&b, " %.0f %s |", c.figures[i].p50, f.unit)
			}
			if smallest == 0 {
				smallest = c.figures[i].p50
			}
		}
		growth := ""
		if f.unit == "ms" && len(columns) > 1 {
			growth = fmt.Sprintf("%.2f", f.p50/smallest)
		}
		fmt.Fprintf(&b, " %s | %s | %s |\n", growth, f.target, f.reference)
	}
	_, _ = w.Write(b.Bytes()) // Nothing can be done if the output is closed.
}
