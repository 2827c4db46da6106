package transform

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/xrd"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	*output.Output
	inputs
	rendering
	outputFormat string
	strict       bool
}

func newLint(v *output.Output, x engine.Extension) *cobra.Command {
	o := &lintOptions{Output: v}
	o.extension = x
	cmd := &cobra.Command{
		Use:   "lint [options] [files...]",
		Short: "Check templates",
		Long: `Checks a template folder: reads its metadata.yaml and all its templates, renders
every portal file with every wizard file and every steps file for built-in sample
definitions, and validates the entities. The samples are a claim, a
cluster-scoped and a namespaced definition, one without a schema, one with a
hundred fields, and one full of text that breaks carelessly written YAML.

The given definitions are rendered too, with the files they choose.`,
		Example: `  # The folder templates/ over the built-in one
  xrd-transform lint --templates templates/

  # With your own definitions, and a report for code scanning
  xrd-transform lint --templates templates/ xrds/ --output-format sarif > findings.sarif`,
		RunE: body(func(ctx context.Context, given map[string]bool, args []string) error {
			if err := cmp.Or(o.inputs.settle(args), checkOutputFormat(o.outputFormat), o.rendering.settle(given)); err != nil {
				return err
			}
			return o.run(ctx)
		}),
		ValidArgsFunction: flags.CompleteFiles,
	}
	o.inputs.bind(cmd.Flags())
	o.rendering.bind(cmd.Flags())
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings")
	bindOutputFormat(cmd.Flags(), &o.outputFormat)
	return cmd
}

func (o *lintOptions) run(ctx context.Context) error {
	l := &linter{known: map[finding.Finding]bool{}, broken: map[string]int{}}
	tellTemplates(o.Output, o.templates)
	t, found, err := openFolders(o.templates)
	if err != nil {
		return err
	}
	l.add(found, "")
	var unread error
	if t != nil {
		defer t.close()
		maker := o.maker(t)
		l.maker = maker
		for _, e := range t.folder.Check() {
			l.add(maker.placed([]finding.Finding{shown(e)}), "")
		}
		for _, f := range l.found {
			l.broken[maker.inFolder(f.File)] = enough
		}
		if err := l.samples(ctx); err != nil {
			return err
		}
		if unread = l.given(ctx, o); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	finding.Sort(l.found)
	err = o.Report(output.Report{Findings: l.found, Format: o.outputFormat, Objects: l.files(), Strict: o.strict, Result: true})
	if err != nil {
		return output.Failure(err)
	}
	if !o.Quiet && o.outputFormat == report.Text {
		o.Sayf("%s checked in %s: %s", output.Count(len(l.files()), "template", "templates"), output.Count(l.renders, "render", "renders"), o.Tally(l.found))
	}
	switch {
	case unread != nil:
		return o.Unread(unread)
	case output.Failed(l.found, o.strict):
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}

// enough is the number of failures after which a template is not tried again.
const enough = 3

// linter is one run of lint.
type linter struct {
	maker   *maker
	found   []finding.Finding
	known   map[finding.Finding]bool
	renders int
	// broken counts the failures of each template, by path.
	broken map[string]int
}

// files returns the names of all templates.
func (l *linter) files() []string {
	if l.maker == nil {
		return nil
	}
	var names []string
	for _, f := range l.maker.folder.Files() {
		names = append(names, f.Path)
	}
	return names
}

// add adds new findings. when describes the input with which they were found.
func (l *linter) add(found []finding.Finding, when string) {
	for _, f := range found {
		key := f
		// The same mistake occurs with every definition.
		key.Object, key.Hint = "", ""
		key.Message, _, _ = strings.Cut(key.Message, " (included from ")
		if l.known[key] {
			continue
		}
		l.known[key] = true
		if when != "" {
			f.Hint = strings.TrimPrefix(f.Hint+"\n"+when, "\n")
		}
		l.found = append(l.found, f)
	}
}

// samples renders every combination of templates over each sample. Templates that
// keep failing are skipped after a while, so that an endless loop does not make
// the linter run endlessly.
func (l *linter) samples(ctx context.Context) error {
	all := l.combinations()
	for _, s := range samples() {
		for some := range slices.Chunk(all, atATime) {
			if err := l.try(ctx, s, slices.DeleteFunc(slices.Clone(some), l.hopeless)); err != nil {
				return err
			}
		}
	}
	return nil
}

// atATime is how many combinations are rendered concurrently before failed
// templates are counted. It does not depend on the machine, so that the findings
// do not either.
const atATime = 4

// try renders combinations of templates over a sample.
func (l *linter) try(ctx context.Context, s sample, todo []folder.Choice) error {
	made := make([][]finding.Finding, len(todo))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range todo {
		workers.Go(func() error {
			made[i] = about(l.maker.makeWith(ctx, s.found, c).findings)
			return nil
		})
	}
	_ = workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, c := range todo {
		l.renders++
		l.blame(made[i], c)
		l.add(made[i], fmt.Sprintf("with the sample %q, %s, %s and %s", s.name, c.Portal.Path, c.Wizard.Path, c.Steps.Path))
	}
	return nil
}

// combinations returns all combinations that definitions can choose.
func (l *linter) combinations() []folder.Choice {
	var all []folder.Choice
	f := l.maker.folder
	for _, portal := range f.In(folder.Portal) {
		for _, wizard := range f.In(folder.Wizard) {
			for _, steps := range f.In(folder.Steps) {
				all = append(all, folder.Choice{Portal: portal, Wizard: wizard, Steps: steps})
			}
		}
	}
	return all
}

// blame counts failures: for the template that the finding is about or, if that is
// a partial, for the portal file.
func (l *linter) blame(found []finding.Finding, c folder.Choice) {
	for _, f := range found {
		if !isBroken(f) {
			continue
		}
		path := l.maker.inFolder(f.File)
		if path != c.Wizard.Path && path != c.Steps.Path {
			path = c.Portal.Path
		}
		l.broken[path]++
	}
}

func (l *linter) hopeless(c folder.Choice) bool {
	return l.broken[c.Portal.Path] >= enough || l.broken[c.Wizard.Path] >= enough || l.broken[c.Steps.Path] >= enough
}

// given renders the definitions that are named as arguments, if any.
func (l *linter) given(ctx context.Context, o *lintOptions) error {
	if len(o.paths) == 0 {
		return nil
	}
	return o.each(ctx, o.Output, func(f xrd.Found) bool {
		switch {
		case f.Finding != nil:
			l.add([]finding.Finding{*f.Finding}, "")
		case f.Failed:
			l.add([]finding.Finding{incomplete(f.Failure)}, "")
		case f.Definition != nil:
			l.renders++
			l.add(about(l.maker.make(ctx, f).findings), fmt.Sprintf("with the definition %q", f.Definition.Label()))
		}
		return true
	})
}

// about returns the findings about templates and their output.
func about(found []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		return !strings.HasPrefix(f.Rule, "TPL") && !strings.HasPrefix(f.Rule, "ENT")
	})
}
