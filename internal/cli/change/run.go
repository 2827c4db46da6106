package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/clusters"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/diff"
	"example.dev/ingestor/xrd/impact"
)

// session is one run.
type session struct {
	*options
	pairs []diff.Pair
	// unreadable are findings about documents that cannot be read.
	unreadable []finding.Finding
	// impact is nil if no resources were validated.
	impact *impact.Result
	// partial are the reasons why some resources could not be read.
	partial []string
	choice  *clusters.Choice
	fleet   *clusters.Fleet
}

func run(ctx context.Context, o *options) error {
	s := &session{options: o}
	ctx, done := context.WithCancel(ctx)
	defer done()
	// Resources are read page by page, which leaves much garbage and little else.
	go app.BoundMemory(ctx, app.ServerRoom)
	if err := s.configure(); err != nil {
		return err
	}
	older, newer, err := s.inputs(ctx)
	if err != nil {
		return output.Failure(err)
	}
	s.compare(older, newer)
	if len(s.pairs) == 0 && len(s.unreadable) == 0 {
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing to compare"), Hint: "neither side has a definition; use --recursive to read subdirectories"}
	}
	if err := s.resources(ctx); err != nil {
		return output.Failure(err)
	}
	if err := s.show(); err != nil {
		return err
	}
	return s.verdict()
}

// compare compares both sides. What could not be read on one side is neither added nor
// removed.
func (s *session) compare(older, newer *xrd.Set) {
	s.pairs = diff.CompareSets(older, newer)
	before, after := unreadable(older), unreadable(newer)
	for i := range s.pairs {
		p := &s.pairs[i]
		switch {
		case p.New == nil && slices.ContainsFunc(after, func(f finding.Finding) bool { return s.sameFile(f.File, p.Old.Origin.File) }):
			p.Changes = []diff.Change{diff.Incomparable(p.Old, "new definition cannot be read")}
		case p.Old == nil && slices.ContainsFunc(before, func(f finding.Finding) bool { return s.sameFile(f.File, p.New.Origin.File) }):
			p.Changes = []diff.Change{diff.Incomparable(p.New, "old definition cannot be read")}
		}
	}
	// A file that was as unreadable before is not what changed.
	s.unreadable = slices.DeleteFunc(after, func(f finding.Finding) bool {
		return slices.ContainsFunc(before, func(o finding.Finding) bool { return s.sameFile(o.File, f.File) && o.Message == f.Message })
	})
	if !slices.ContainsFunc(s.pairs, func(p diff.Pair) bool { return p.Old != nil }) {
		// With nothing on the old side, what is wrong there is the result.
		s.unreadable = append(s.unreadable, before...)
	}
	_, conflicts := xrd.Merge(newer.Definitions)
	s.unreadable = append(s.unreadable, conflicts...)
}

// unreadable returns the findings about documents that could not be read.
func unreadable(set *xrd.Set) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(set.Findings), func(f finding.Finding) bool { return f.Severity != finding.Error })
}

// sameFile reports whether files of the two sides correspond: their names are the same,
// or they are all there is.
func (s *session) sameFile(a, b string) bool {
	if s.base != "" {
		return a == b
	}
	return path.Base(a) == path.Base(b) || !isFolder(s.args[0]) && !isFolder(s.args[1])
}

// changes returns all changes.
func (s *session) changes() []diff.Change { return diff.Changes(s.pairs) }

// show writes the result in the chosen format.
func (s *session) show() error {
	switch s.outputFormat {
	case markdown:
		_, err := fmt.Fprint(s.Env.Stdout, s.comment())
		return err
	case report.JSON:
		return s.showJSON()
	case report.Text:
		return s.showText()
	}
	return s.write(s.outputFormat)
}

// write writes the findings in a format of package report.
func (s *session) write(format string) error {
	fs := append(slices.Clone(s.unreadable), s.findings()...)
	names := make([]string, len(s.pairs))
	for i := range s.pairs {
		names[i] = s.pairs[i].Name()
	}
	strict := s.failOn == failWarning
	return report.Write(s.Env.Stdout, format, fs, report.Options{
		Tool: s.Program, Version: app.BuildVersion(), Rules: append(slices.Clone(xrd.Rules), diff.Rules...), Objects: names,
		Min: s.Least(format, strict), Color: s.Out().Color, Strict: strict,
	})
}

// findings returns the changes as findings, with the resources that they concern in
// their hints.
func (s *session) findings() []finding.Finding {
	fs := diff.Findings(s.changes())
	if s.impact == nil {
		return fs
	}
	for _, d := range s.impact.Definitions {
		for i := range d.Effects {
			e := &d.Effects[i]
			at := slices.IndexFunc(fs, func(f finding.Finding) bool { return f.Rule == e.Rule && f.Message == e.Message })
			if at >= 0 {
				fs[at].Message = e.Describe(d.Checked)
				continue
			}
			fs = append(fs, finding.Finding{Rule: e.Rule, Severity: finding.Error, Object: d.Name, Message: e.Describe(d.Checked)})
		}
	}
	return fs
}

// showText writes the findings, and a summary to standard error.
func (s *session) showText() error {
	if err := s.write(report.Text); err != nil {
		return err
	}
	s.showResources()
	if s.Quiet {
		return nil
	}
	changes := s.changes()
	s.Sayf("%s compared: %s, %s, %s", output.Count(len(s.pairs), "definition", "definitions"),
		output.Count(diff.Count(changes, finding.Error), "breaking change", "breaking changes"),
		output.Count(diff.Count(changes, finding.Warning), "warning", "warnings"),
		output.Count(diff.Count(changes, finding.Info), "compatible change", "compatible changes"))
	if s.impact != nil {
		s.Sayf("%s in %s checked, %d affected", output.Count(s.impact.Checked, "resource", "resources"),
			output.Count(s.impact.Clusters, "cluster", "clusters"), s.impact.Affected)
	}
	return nil
}

// mostShown is how many resources of an effect the terminal shows without --verbose.
const mostShown = 10

// showResources writes the names of the resources of each effect.
func (s *session) showResources() {
	if s.impact == nil || s.Quiet {
		return
	}
	for _, d := range s.impact.Definitions {
		for _, e := range d.Effects {
			fmt.Fprintf(s.Env.Stdout, "\n%s\n", s.Out().Bold(term.Safe(e.Describe(d.Checked))))
			shown := e.Resources
			if !s.Detailed() {
				shown = shown[:min(len(shown), mostShown)]
			}
			var rows [][]string
			for _, r := range shown {
				rows = append(rows, []string{"  " + term.Safe(r.Cluster), term.Safe(r.Kind), term.Safe(r.Namespace), term.Safe(r.Name), term.Safe(r.Owner)})
			}
			fmt.Fprint(s.Env.Stdout, term.Table(rows, nil, s.Out()))
			if more := e.Count - len(shown); more > 0 {
				fmt.Fprintf(s.Env.Stdout, "  and %d more\n", more)
			}
		}
	}
}

// document is the JSON format.
type document struct {
	Definitions []diff.Compared `json:"definitions"`
	// Unreadable are documents that cannot be read.
	Unreadable []unread       `json:"unreadable"`
	Impact     *impact.Result `json:"impact,omitempty"`
	// Incomplete says which resources could not be read.
	Incomplete []string `json:"incomplete,omitempty"`
	Summary    summary  `json:"summary"`
}

type unread struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

type summary struct {
	Breaking   int `json:"breaking"`
	Warnings   int `json:"warnings"`
	Compatible int `json:"compatible"`
}

func (s *session) showJSON() error {
	changes := s.changes()
	d := document{Definitions: []diff.Compared{}, Unreadable: []unread{}, Impact: s.impact, Incomplete: s.partial, Summary: summary{
		Breaking: diff.Count(changes, finding.Error), Warnings: diff.Count(changes, finding.Warning), Compatible: diff.Count(changes, finding.Info),
	}}
	for i := range s.pairs {
		d.Definitions = append(d.Definitions, s.pairs[i].Compared())
	}
	for _, f := range s.unreadable {
		d.Unreadable = append(d.Unreadable, unread{f.Rule, f.File, int(f.Pos.Line), f.Message})
	}
	enc := json.NewEncoder(s.Env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// verdict returns the exit code.
func (s *session) verdict() error {
	changes := s.changes()
	bad := diff.Count(changes, finding.Error) > 0 || output.Failed(s.unreadable, false)
	if s.failOn == failWarning {
		bad = bad || diff.Count(changes, finding.Warning) > 0 || output.Failed(s.unreadable, true)
	}
	if bad && s.failOn != failNever {
		return &app.Exit{Code: app.ExitInvalid}
	}
	if s.fleet != nil {
		return s.fleet.Verdict()
	}
	return nil
}
