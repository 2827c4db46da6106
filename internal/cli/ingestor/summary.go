package ingestor

import (
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/finding"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
)

// summary says in a few lines what was done and what was not.
func (s *session) summary() {
	// A report for machines stands alone, wherever it goes.
	if s.quiet || s.outputFormat != report.Text {
		return
	}
	r := s.report
	errs, warns := finding.Count(r.Findings, finding.Error), finding.Count(r.Findings, finding.Warning)
	if s.validate {
		s.sayf("%s checked: %s, %s", count(len(r.Definitions), "definition", "definitions"),
			s.mark(count(errs, "error", "errors"), errs > 0, s.note.Red), s.mark(count(warns, "warning", "warnings"), warns > 0, s.note.Yellow))
	} else if len(r.Definitions) > 0 {
		if errs+warns > 0 {
			defer func() {
				s.sayf("%s, %s", s.mark(count(errs, "error", "errors"), errs > 0, s.note.Red), s.mark(count(warns, "warning", "warnings"), warns > 0, s.note.Yellow))
			}()
		}
		s.sayf("%s from %s%s%s", count(len(r.Entities), "entity", "entities"), count(len(r.Definitions), "definition", "definitions"), s.byKind(), s.where())
	}
	if infos := finding.Count(r.Findings, finding.Info); infos > 0 && s.least() > finding.Info && !s.validate {
		s.sayf("not shown: %s (see --verbose)", count(infos, "remark", "remarks"))
	}
	if s.domain != "" && !s.organize {
		s.sayf("--domain has no effect without --organize, which writes the System that belongs to it")
	}
	if n := len(r.Refused); n > 0 && len(r.Definitions) > 0 {
		s.sayf("%s not selected", count(n, "definition", "definitions"))
		if s.verbose || s.debug {
			for _, x := range r.Refused {
				s.sayf("  %s: %s", term.Safe(x.Name), x.Why)
			}
		}
	}
	s.passedOver()
}

func (s *session) mark(text string, bad bool, style func(string) string) string {
	if !bad {
		return text
	}
	return style(text)
}

// byKind says how many entities of each kind there are.
func (s *session) byKind() string {
	var parts []string
	for i := 0; i < len(s.report.Entities); {
		kind, n := s.report.Entities[i].Kind, 0
		for ; i < len(s.report.Entities) && s.report.Entities[i].Kind == kind; i++ {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, kind))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// where says where the entities went.
func (s *session) where() string {
	switch {
	case s.preview:
		return "; nothing was written"
	case s.stdout:
		return ""
	case len(s.report.Entities) == 0:
		return "; nothing to write"
	case s.singleFile:
		return " written to " + term.Safe(s.output)
	}
	return fmt.Sprintf(" in %s under %s", count(s.files, "file", "files"), term.Safe(s.output))
}

// passedOver names the kinds nothing was made of.
func (s *session) passedOver() {
	for _, p := range s.report.Passed {
		why := "not a kind this tool reads"
		if p.Why != "" {
			why = p.Why
		}
		s.sayf("passed over: %d %s (%s), %s", p.Count, term.Safe(p.Kind), term.Safe(p.APIVersion), why)
	}
}

// show writes what a person wants to see before anything is written: a table
// of the entities, each entity, and each form as an outline.
func (s *session) show(w io.Writer) {
	entities := s.report.Entities
	if len(entities) == 0 {
		return
	}
	rows := make([][]string, 0, len(entities))
	for _, e := range entities {
		rows = append(rows, []string{e.Kind, e.Metadata.Namespace + "/" + e.Metadata.Name, e.Spec.Get("type").Str(), e.Spec.Get("owner").Str(), oneLine(e.Metadata.Title)})
	}
	fmt.Fprint(w, term.Table(rows, []string{"KIND", "NAME", "TYPE", "OWNER", "TITLE"}, s.out))
	for _, e := range entities {
		fmt.Fprintf(w, "\n%s\n", s.out.Bold(term.Safe(e.Kind+" "+e.Metadata.Namespace+"/"+e.Metadata.Name)))
		fmt.Fprint(w, indent(term.SafeLines(s.text(e)), "  "))
		if e.Kind == entity.KindTemplate {
			fmt.Fprintf(w, "\n%s\n", s.out.Bold("Form of "+term.Safe(e.Metadata.Name)))
			fmt.Fprint(w, outline(e.Spec.Get("parameters"), s.out))
		}
	}
	fmt.Fprintln(w)
}

func (s *session) text(e *entity.Entity) string {
	if s.format == "json" {
		return string(entity.AppendJSON(nil, e)) + "\n"
	}
	return string(entity.AppendYAML(nil, e))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func indent(text, by string) string {
	lines := strings.SplitAfter(text, "\n")
	var b strings.Builder
	for _, l := range lines {
		if l != "" && l != "\n" {
			b.WriteString(by)
		}
		b.WriteString(l)
	}
	return b.String()
}
