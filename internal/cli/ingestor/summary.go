package ingestor

import (
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/outline"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
)

// summary prints what was done and what was not.
func (s *session) summary() {
	// A machine-readable report must not be mixed with other text.
	if s.Quiet || s.outputFormat != report.Text {
		return
	}
	r := s.report
	if s.validate {
		what := output.Count(len(r.Definitions), "definition", "definitions")
		if r.Composites > 0 {
			what += ", " + output.Count(r.Composites, "resource", "resources")
		}
		s.Sayf("%s checked: %s", what, s.Tally(r.Findings))
	} else if len(r.Definitions) > 0 {
		if output.Failed(r.Findings, true) {
			defer func() { s.Sayf("%s", s.Tally(r.Findings)) }()
		}
		s.Sayf("%s%s", output.Made(r), s.where())
	}
	if infos := finding.Count(r.Findings, finding.Info); infos > 0 && s.Least(s.outputFormat, s.strict) > finding.Info && !s.validate {
		s.Sayf("not shown: %s (see --verbose)", output.Count(infos, "remark", "remarks"))
	}
	if s.Domain != "" && !s.organize {
		s.Sayf("--domain has no effect without --organize, which writes the System of the domain")
	}
	if why := s.idle(); why != "" {
		s.Sayf("the service generates nothing with this configuration: %s", why)
	}
	if n := len(r.Refused); n > 0 && len(r.Definitions) > 0 {
		s.Sayf("%s not selected", output.Count(n, "definition", "definitions"))
		if s.Detailed() {
			for _, x := range r.Refused {
				s.Sayf("  %s: %s", term.Safe(x.Name), x.Why)
			}
		}
	}
	s.passedOver()
}

// where returns where the entities were written.
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
	return fmt.Sprintf(" in %s under %s", output.Count(s.files, "file", "files"), term.Safe(s.output))
}

// passedOver prints the kinds that were skipped.
func (s *session) passedOver() {
	for _, p := range s.report.Passed {
		why := "not a kind this tool reads"
		if p.Why != "" {
			why = p.Why
		}
		s.Sayf("skipped: %d %s (%s): %s", p.Count, term.Safe(p.Kind), term.Safe(p.APIVersion), why)
	}
}

// show prints a preview: a table of the entities, each entity, and each form as an
// outline.
func (s *session) show(w io.Writer) error {
	entities := s.report.Entities
	if len(entities) == 0 {
		return nil
	}
	rows := make([][]string, 0, len(entities))
	for _, part := range entities {
		e, err := part.Whole()
		if err != nil {
			return err
		}
		rows = append(rows, []string{e.Kind, e.Metadata.Namespace + "/" + e.Metadata.Name, e.Spec.Get("type").Str(), e.Spec.Get("owner").Str(), oneLine(e.Metadata.Title)})
	}
	fmt.Fprint(w, term.Table(rows, []string{"KIND", "NAME", "TYPE", "OWNER", "TITLE"}, s.Out()))
	for _, part := range entities {
		e, err := part.Whole()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s\n", s.Out().Bold(term.Safe(e.Kind+" "+e.Metadata.Namespace+"/"+e.Metadata.Name)))
		fmt.Fprint(w, indent(term.SafeLines(s.text(e)), "  "))
		if e.Kind == entity.KindTemplate {
			fmt.Fprintf(w, "\n%s\n", s.Out().Bold("Form of "+term.Safe(e.Metadata.Name)))
			fmt.Fprint(w, outline.Form(e.Spec.Get("parameters"), s.Out()))
		}
	}
	fmt.Fprintln(w)
	return nil
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
