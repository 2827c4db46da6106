package output

import (
	"errors"
	"fmt"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
	"example.dev/ingestor/xrd/structural"
)

// Report is a set of findings to print.
type Report struct {
	Findings []finding.Finding
	// Format is one of report.Formats; empty means text.
	Format string
	// Result means that the findings are the result of the command: they go to
	// standard output instead of standard error.
	Result bool
	// Objects are the names of everything that was checked.
	Objects []string
	// Strict means that warnings fail the run.
	Strict bool
}

// Report prints findings.
func (v *Output) Report(r Report) error {
	if r.Format == "" {
		r.Format = report.Text
	}
	w, style := v.Env.Stderr, v.Note()
	if r.Result {
		w, style = v.Env.Stdout, v.Out()
	}
	return report.Write(w, r.Format, r.Findings, report.Options{
		Tool: v.Program, Version: app.BuildVersion(), Rules: Rules(), Objects: r.Objects,
		Min: v.Least(r.Format, r.Strict), Color: style.Color, Strict: r.Strict,
	})
}

// Misconfigured prints the findings of the configuration, and returns an error if
// it cannot be used.
func (v *Output) Misconfigured(found []finding.Finding) error {
	err := report.Write(v.Env.Stderr, report.Text, found, report.Options{Tool: v.Program, Min: v.Least(report.Text, false), Color: v.Note().Color})
	if err == nil && Failed(found, false) {
		err = &app.Exit{Code: app.ExitUsage}
	}
	return err
}

// Least returns the lowest severity that is shown. Formats for machines show all;
// --quiet shows only findings that fail the run: errors, and warnings under --strict.
func (v *Output) Least(format string, strict bool) finding.Severity {
	switch {
	case v.Quiet && !strict:
		return finding.Error
	case !v.Quiet && (v.Detailed() || format != report.Text):
		return finding.Info
	}
	return finding.Warning
}

// Tally returns the number of errors and warnings.
func (v *Output) Tally(fs []finding.Finding) string {
	errs, warns := finding.Count(fs, finding.Error), finding.Count(fs, finding.Warning)
	mark := func(text string, bad int, style func(string) string) string {
		if bad == 0 {
			return text
		}
		return style(text)
	}
	return mark(Count(errs, "error", "errors"), errs, v.Note().Red) + ", " + mark(Count(warns, "warning", "warnings"), warns, v.Note().Yellow)
}

// Failed reports whether findings fail a run.
func Failed(fs []finding.Finding, strict bool) bool {
	return finding.Count(fs, finding.Error) > 0 || strict && finding.Count(fs, finding.Warning) > 0
}

// Unread prints every read error, and returns the exit error of the run.
func (v *Output) Unread(err error) error {
	for _, e := range Each(err) {
		hint := ""
		if fe, ok := errors.AsType[*file.Error](e); ok {
			hint = fe.Hint
		}
		v.Complain(e, hint)
	}
	return &app.Exit{Code: app.ExitFailed}
}

// Count returns "1 entity" or "2 entities".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Made returns what was made: "3 entities from 1 definition (1 Template, 1 API, 1
// Resource)".
func Made(r *pipeline.Report) string {
	from := Count(len(r.Definitions), "definition", "definitions")
	if r.Workloads > 0 {
		from += " and " + Count(r.Workloads, "workload", "workloads")
	}
	return fmt.Sprintf("%s from %s%s", Count(len(r.Entities), "entity", "entities"), from, byKind(r.Entities))
}

// WhyNothing returns why a run had nothing to do, empty if its report does not
// tell.
func WhyNothing(r *pipeline.Report) string {
	switch {
	case len(r.Refused) > 0:
		first := r.Refused[0]
		return fmt.Sprintf("%s found, none selected: %s because %s", Count(len(r.Refused), "definition", "definitions"), first.Name, first.Why)
	case r.Documents > 0:
		return fmt.Sprintf("%s read, no %s among them", Count(r.Documents, "document", "documents"), xrd.KindDefinition)
	}
	return ""
}

// byKind returns the number of entities of each kind. The entities must be sorted
// by kind.
func byKind(es []*entity.Entity) string {
	var parts []string
	for i := 0; i < len(es); {
		kind, n := es[i].Kind, 0
		for ; i < len(es) && es[i].Kind == kind; i++ {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, kind))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Rules returns all rules that a run can report, grouped by package.
func Rules() []finding.Rule {
	var all []finding.Rule
	all = append(all, xrd.Rules...)
	all = append(all, lint.Rules...)
	all = append(all, structural.Rules...)
	all = append(all, pipeline.Rules...)
	all = append(all, engine.Rules...)
	all = append(all, form.Rules...)
	all = append(all, folder.Rules...)
	all = append(all, entity.Rules...)
	return all
}
