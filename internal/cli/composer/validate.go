package composer

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
)

// validateOptions are the flags of validate.
type validateOptions struct {
	inputs
	format string
	strict bool
}

func newValidate(c *common) *cobra.Command {
	o := &validateOptions{}
	cmd := &cobra.Command{
		Use:   "validate --xrd FILE... [options]",
		Short: "Check that the service can ingest definitions",
		Long: `Checks definitions as the service reads them and prints, for each, whether its
structure is valid, it has a schema, it has the labels that the service requires,
and a Template can be generated from it; then every finding with its place.

With --cluster or --context the definitions are read from clusters: those that
--xrd names, or all that the service ingests.`,
		Example: `  # Check a definition
  composer-ingestor validate --xrd database.yaml

  # Also fail a build on warnings, with a report for code scanning
  composer-ingestor validate --xrd xrds/ --strict --output-format sarif > findings.sarif

  # Check the definitions of a cluster
  composer-ingestor validate --context prod --xrd databases.platform.io`,
		RunE:              c.run(func(ctx context.Context, s *session, args []string) error { return s.validate(ctx, o, args) }),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: flags.CompleteFiles,
	}
	f := cmd.Flags()
	o.bind(f)
	f.StringVar(&o.format, "output-format", report.Text, "`format` of the findings: "+strings.Join(report.Formats, ", "))
	f.BoolVar(&o.strict, "strict", false, "fail on warnings")
	flags.Complete(cmd, map[string][]string{"output-format": report.Formats})
	return cmd
}

func (s *session) validate(ctx context.Context, o *validateOptions, args []string) error {
	if _, err := report.ParseFormat(o.format); err != nil {
		return flags.Usage(err, "see "+Name+" validate --help")
	}
	if err := o.open(s, args); err != nil {
		return err
	}
	for _, v := range o.variants {
		// A workload has nothing to validate.
		v.workloads = false
	}
	parts := o.parts()
	for i := range parts {
		parts[i].Discard = true
	}
	r, err := o.run(ctx, s, parts, nil)
	if err != nil {
		return output.Failure(err)
	}
	r.Findings = raised(r.Findings)
	o.tell(s, r)
	if err := s.verdicts(r, o); err != nil {
		return output.Failure(err)
	}
	if !s.Quiet && o.format == report.Text {
		s.Sayf("%s checked: %s", output.Count(len(r.Definitions), "definition", "definitions"), s.Tally(r.Findings))
	}
	return s.end(o.ending(r, o.strict))
}

// verdicts writes the result: as text the checks of each definition with its
// findings, in machine-readable formats only the findings.
func (s *session) verdicts(r *pipeline.Report, o *validateOptions) error {
	all := output.Report{Findings: r.Findings, Format: o.format, Objects: r.Definitions, Strict: o.strict, Result: true}
	if o.format != report.Text {
		return s.Report(all)
	}
	rest := map[finding.Finding]int{}
	for _, f := range r.Findings {
		rest[f]++
	}
	for _, d := range r.Outcomes {
		found := raised(d.Findings)
		if err := s.print([]byte(s.checklist(d.Name, found))); err != nil {
			return err
		}
		if err := s.Report(output.Report{Findings: found, Result: true}); err != nil {
			return err
		}
		for _, f := range found {
			rest[f]--
		}
	}
	// The remaining findings concern no definition, or several.
	all.Findings = nil
	for _, f := range r.Findings {
		if rest[f] > 0 {
			all.Findings = append(all.Findings, f)
			rest[f]--
		}
	}
	return s.Report(all)
}

// checklist returns a line for each check of a definition.
func (s *session) checklist(name string, found []finding.Finding) string {
	style := s.Out()
	var b strings.Builder
	if name == "" {
		name = "unnamed"
	}
	fmt.Fprintf(&b, "%s\n", style.Bold(term.Safe(name)))
	for _, c := range checks {
		broken := c.broken(found)
		fmt.Fprintf(&b, "  %s %s", s.mark(len(broken) == 0), c.title)
		if len(broken) > 0 {
			fmt.Fprint(&b, " ", style.Dim("["+strings.Join(broken, ", ")+"]"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mark returns the result of a check: a symbol on a terminal, otherwise a word
// that can be searched for.
func (s *session) mark(ok bool) string {
	switch {
	case ok && s.Env.StdoutTerminal:
		return s.Out().Green("✓")
	case s.Env.StdoutTerminal:
		return s.Out().Red("✗")
	case ok:
		return "ok:    "
	}
	return "failed:"
}
