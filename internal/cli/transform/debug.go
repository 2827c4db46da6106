package transform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// debugOptions are the flags of debug.
type debugOptions struct {
	*output.Output
	inputs
	rendering
	text bool
}

func newDebug(v *output.Output, x engine.Extension) *cobra.Command {
	o := &debugOptions{Output: v}
	o.extension = x
	cmd := &cobra.Command{
		Use:   "debug [options] [files...]",
		Short: "Show the input or the output of a template",
		Long: `Prints, for each definition, the chosen files and their input, as YAML: xrd,
metadata and the names of the helpers. With --text it prints the text that the
templates write, before it is parsed as YAML, with the line numbers that messages
refer to.`,
		Example: `  # What can a template use?
  xrd-transform debug database.yaml | less

  # Why is the output not YAML?
  xrd-transform debug --templates templates/ --text database.yaml`,
		RunE: body(func(ctx context.Context, given map[string]bool, args []string) error {
			if err := cmp.Or(o.inputs.settle(args), o.rendering.settle(given)); err != nil {
				return err
			}
			return o.run(ctx)
		}),
		ValidArgsFunction: flags.CompleteFiles,
	}
	o.inputs.bind(cmd.Flags())
	o.rendering.bind(cmd.Flags())
	cmd.Flags().BoolVar(&o.text, "text", false, "print the text that the templates write, with line numbers")
	return cmd
}

func (o *debugOptions) run(ctx context.Context) error {
	maker, err := o.open(o.Output)
	if err != nil {
		return err
	}
	defer maker.close()
	var t tally
	var failed error
	unread := o.each(ctx, o.Output, func(f xrd.Found) bool {
		t.documents++
		switch {
		case f.Finding != nil:
			failed = o.found(*f.Finding, failed)
		case f.Failed:
			failed = o.found(incomplete(f.Failure), failed)
		case f.Definition != nil:
			t.definitions++
			err = o.one(ctx, maker, f, &failed)
		}
		return err == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	case unread != nil:
		return o.Unread(unread)
	case failed != nil:
		return failed
	case t.definitions == 0:
		return &app.Exit{Code: app.ExitNothing, Err: errors.New("nothing matched"), Hint: t.empty()}
	}
	return nil
}

// found prints a finding, and returns the exit error of the command.
func (o *debugOptions) found(f finding.Finding, so error) error {
	_ = o.Report(output.Report{Findings: []finding.Finding{f}})
	if f.Severity == finding.Error {
		return &app.Exit{Code: app.ExitFailed}
	}
	return so
}

// one prints one definition. The error is one of the output.
func (o *debugOptions) one(ctx context.Context, m *maker, f xrd.Found, failed *error) error {
	seen, found := m.look(ctx, f, o.text)
	for _, x := range found {
		*failed = o.found(x, *failed)
	}
	if seen == nil {
		return nil
	}
	style := o.Out()
	head := fmt.Sprintf("# %s: %s, %s, %s", f.Definition.Label(), seen.choice.Portal.Path, seen.choice.Wizard.Path, seen.choice.Steps.Path)
	var b strings.Builder
	b.WriteString("---\n" + style.Dim(term.Safe(head)) + "\n")
	if o.text {
		number(&b, seen.text, style)
	} else {
		b.WriteString(term.SafeLines(string(tree.AppendYAML(nil, seen.context))))
	}
	_, err := fmt.Fprint(o.Env.Stdout, b.String())
	return err
}

// number writes text with line numbers.
func number(b *strings.Builder, text string, style term.Style) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	width := len(fmt.Sprint(len(lines)))
	for i, line := range lines {
		fmt.Fprintf(b, "%s %s\n", style.Dim(fmt.Sprintf("%*d |", width, i+1)), term.SafeLines(line))
	}
}
