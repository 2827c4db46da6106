package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
	// unreadable are findings about documents that cannot be read, and conflicts those about
	// definitions that are not compared because another one has the same name.
	unreadable, conflicts []finding.Finding
	// impact is nil if no resources were validated.
	impact *impact.Result
	// partial are the reasons why some resources could not be read.
	partial []string
	// unasked is the exit error of a portal that failed; nil if none did.
	unasked error
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
	if err := s.compare(ctx, older, newer); err != nil {
		return err
	}
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
func (s *session) compare(ctx context.Context, older, newer *xrd.Set) error {
	var err error
	if s.pairs, err = diff.CompareSets(ctx, older, newer); err != nil {
		return err
	}
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
	for _, f := range conflicts {
		if !slices.EqualFunc(copiesOf(older, f.Object), copiesOf(newer, f.Object), (*xrd.Definition).Same) {
			f.Message += ", which is not compared"
			s.conflicts = append(s.conflicts, f)
		}
	}
	return nil
}

// copiesOf returns the definitions of a set that have a name.
func copiesOf(set *xrd.Set, name string) []*xrd.Definition {
	return slices.DeleteFunc(slices.Clone(set.Definitions), func(d *xrd.Definition) bool { return d.Name != name })
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
	fs := slices.Concat(s.unreadable, s.conflicts, s.findings())
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

// findings returns the changes as findings, with the number of resources that they affect in
// their messages. A change that affects resources is breaking. What affects resources without
// a change that explains it is a finding of its own.
func (s *session) findings() []finding.Finding {
	fs := diff.Findings(s.changes())
	if s.impact == nil {
		return fs
	}
	type key struct{ definition, rule, message string }
	changed, counted := map[key]int{}, map[int]bool{}
	for i, f := range fs {
		changed[key{f.Object, f.Rule, f.Message}] = i
	}
	names, renames := s.names()
	for _, d := range s.impact.Definitions {
		name := cmp.Or(names[d.Name], d.Name)
		for i := range d.Effects {
			e := &d.Effects[i]
			at, ok := changed[key{name, e.Rule, e.Message}]
			if renaming, renamed := renames[d.Name]; !ok && renamed && e.Rule == diff.RuleRemoved {
				// A portal knows nothing of the new name.
				at, ok = changed[key{name, renaming.Rule, renaming.Message}]
			}
			if !ok {
				fs = append(fs, finding.Finding{Rule: e.Rule, Severity: finding.Error, Object: name, Message: e.Describe(d.Checked)})
				continue
			}
			separator := ": "
			if counted[at] {
				separator = "; "
			}
			counted[at] = true
			fs[at].Severity = finding.Error
			fs[at].Message += separator + strings.TrimPrefix(e.Describe(d.Checked), e.Message+": ")
		}
	}
	return fs
}

// names returns the new names of definitions by their old ones, as labels, and the changes of
// those that are renamed.
func (s *session) names() (names map[string]string, renames map[string]finding.Finding) {
	names, renames = map[string]string{}, map[string]finding.Finding{}
	for i := range s.pairs {
		p := &s.pairs[i]
		if p.Old == nil {
			continue
		}
		names[p.Old.Label()] = p.Name()
		if at := slices.IndexFunc(p.Changes, func(c diff.Change) bool { return c.Rule == diff.RuleRenamed }); at >= 0 {
			renames[p.Old.Label()] = p.Changes[at].Finding()
		}
	}
	return names, renames
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
	sum := s.summary()
	s.Sayf("%s compared: %s, %s, %s", output.Count(len(s.pairs), "definition", "definitions"),
		output.Count(sum.Breaking, "breaking change", "breaking changes"),
		output.Count(sum.Warnings, "warning", "warnings"),
		output.Count(sum.Compatible, "compatible change", "compatible changes"))
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
			fmt.Fprintf(s.Env.Stdout, "\n%s\n", s.Out().Bold(term.Safe(s.describe(&d, &e))))
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

// describe returns an effect in one sentence, with the definition if there are several.
func (s *session) describe(d *impact.Definition, e *impact.Effect) string {
	if len(s.impact.Definitions) == 1 {
		return e.Describe(d.Checked)
	}
	return d.Name + ": " + e.Describe(d.Checked)
}

// document is the JSON format.
type document struct {
	Definitions []diff.Compared `json:"definitions"`
	// Unreadable are documents that cannot be read, and Conflicts definitions that are not
	// compared because another one has the same name.
	Unreadable []problem      `json:"unreadable"`
	Conflicts  []problem      `json:"conflicts,omitempty"`
	Impact     *impact.Result `json:"impact,omitempty"`
	// Incomplete says which resources could not be read.
	Incomplete []string `json:"incomplete,omitempty"`
	Summary    summary  `json:"summary"`
}

type problem struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// summary counts the changes, and as breaking also what affects resources without a change
// that explains it.
type summary struct {
	Breaking   int `json:"breaking"`
	Warnings   int `json:"warnings"`
	Compatible int `json:"compatible"`
}

func (s *session) summary() summary {
	fs := s.findings()
	return summary{finding.Count(fs, finding.Error), finding.Count(fs, finding.Warning), finding.Count(fs, finding.Info)}
}

func (s *session) showJSON() error {
	d := document{
		Definitions: []diff.Compared{}, Unreadable: problems(s.unreadable), Conflicts: problems(s.conflicts),
		Impact: s.impact, Incomplete: s.partial, Summary: s.summary(),
	}
	for i := range s.pairs {
		d.Definitions = append(d.Definitions, s.pairs[i].Compared())
	}
	enc := json.NewEncoder(s.Env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

// problems returns findings as JSON.
func problems(fs []finding.Finding) []problem {
	out := []problem{}
	for _, f := range fs {
		out = append(out, problem{f.Rule, f.File, int(f.Pos.Line), f.Message})
	}
	return out
}

// verdict returns the exit code.
func (s *session) verdict() error {
	all := slices.Concat(s.unreadable, s.conflicts, s.findings())
	if s.failOn != failNever && output.Failed(all, s.failOn == failWarning) {
		return &app.Exit{Code: app.ExitInvalid}
	}
	if s.fleet != nil {
		return s.fleet.Verdict()
	}
	return s.unasked
}
