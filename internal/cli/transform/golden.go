package transform

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/xrd"
)

// The folder of tests in a template folder, and the files of each test.
const (
	testsFolder  = "tests"
	testInput    = "xrd.yaml"
	testExpected = "expected.yaml"
	testValues   = "values.yaml"
)

// testOptions are the flags of test.
type testOptions struct {
	*output.Output
	rendering
	update bool
}

func newTest(v *output.Output, x engine.Extension) *cobra.Command {
	o := &testOptions{Output: v}
	o.extension = x
	cmd := &cobra.Command{
		Use:   "test [options] [cases...]",
		Short: "Compare the output of the templates with the expected output",
		Long: `Renders the tests of a template folder and compares the entities with the
expected ones. A test is a folder in tests/ of the template folder:

  tests/<case>/xrd.yaml       a definition, or several, or extract records
  tests/<case>/expected.yaml  the entities, as YAML documents
  tests/<case>/values.yaml    values for the templates, as --set gives them
                              (optional)

Differences are shown. --update writes the output of the templates to
expected.yaml; review the change before you commit it. Comments and YAML style
are ignored.

Exit codes: 0 success, 1 failure, such as of a template, 2 differences, 3 no
tests, 4 invalid flags or configuration.`,
		Example: `  # All tests of ./templates
  xrd-transform test

  # One test of another folder
  xrd-transform test --templates platform/templates database

  # Accept the current output as expected
  xrd-transform test --update`,
		RunE: body(func(ctx context.Context, given map[string]bool, args []string) error {
			if err := o.settle(given); err != nil {
				return err
			}
			if o.templates == "" {
				o.templates = defaultFolder
			}
			return o.run(ctx, args)
		}),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.rendering.bind(cmd.Flags())
	cmd.Flags().BoolVar(&o.update, "update", false, "write the output of the templates to the expected files")
	return cmd
}

// tested counts the results of tests.
type tested struct{ passed, differ, failed, updated int }

func (o *testOptions) run(ctx context.Context, only []string) error {
	root, err := openFolder(o.templates)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	cases, err := o.cases(root, only)
	if err != nil {
		return err
	}
	maker, err := o.open(o.Output)
	if err != nil {
		return err
	}
	defer maker.close()
	var all tested
	for _, name := range cases {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := o.one(ctx, root, maker, name, &all); err != nil {
			o.Complain(fmt.Errorf("cannot run test %q: %w", name, err), "")
			all.failed++
		}
	}
	return o.verdict(all)
}

// cases returns the names of the tests, or of those that are requested.
func (o *testOptions) cases(root *os.Root, only []string) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), testsFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the tests in %q: %w", filepath.Join(o.templates, testsFolder), bare(err))
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			all = append(all, e.Name())
		}
	}
	if len(all) == 0 {
		return nil, &app.Exit{
			Code: app.ExitNothing, Err: fmt.Errorf("no tests in %q", filepath.Join(o.templates, testsFolder)),
			Hint: fmt.Sprintf("write a definition to %s and run %s test --update", filepath.Join(o.templates, testsFolder, "<case>", testInput), Name),
		}
	}
	for _, name := range only {
		if !slices.Contains(all, name) {
			return nil, flags.Usagef("available: "+strings.Join(all, ", "), "unknown test %q", name)
		}
	}
	if len(only) > 0 {
		return only, nil
	}
	return all, nil
}

// one runs one test.
func (o *testOptions) one(ctx context.Context, root *os.Root, maker *maker, name string, all *tested) error {
	at := path.Join(testsFolder, name)
	values, err := o.valuesOf(root, at)
	if err != nil {
		return err
	}
	got, found, err := o.render(ctx, root, maker.with(values), at)
	if err != nil {
		return err
	}
	if err := o.Report(output.Report{Findings: found}); err != nil {
		return err
	}
	if finding.Count(found, finding.Error) > 0 {
		o.result(name, "failed")
		all.failed++
		return nil
	}
	want, err := root.ReadFile(path.Join(at, testExpected))
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("cannot read %s: %w", testExpected, bare(err))
	}
	switch {
	case !missing && bytes.Equal(normal(want), normal(got)):
		o.result(name, "ok")
		all.passed++
	case o.update:
		if err := replace(root, path.Join(at, testExpected), got); err != nil {
			return fmt.Errorf("cannot write %s: %w", testExpected, bare(err))
		}
		o.result(name, "updated")
		all.updated++
	default:
		o.result(name, "differs")
		o.show(filepath.Join(o.templates, testsFolder, name, testExpected), want, got)
		all.differ++
	}
	return nil
}

// valuesOf returns the values of a test, overridden by those of the command line,
// map by map.
func (o *testOptions) valuesOf(root *os.Root, at string) (*tree.Node, error) {
	text, err := root.ReadFile(path.Join(at, testValues))
	if errors.Is(err, fs.ErrNotExist) {
		return o.values, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", testValues, bare(err))
	}
	where := filepath.Join(o.templates, at, testValues)
	docs, errs := parser.DecodeBytes(text)
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s:%d:%d: %s", where, errs[0].Pos.Line, errs[0].Pos.Column, errs[0].Msg)
	}
	if len(docs) == 0 {
		return o.values, nil
	}
	if len(docs) > 1 || !docs[0].IsMap() {
		return nil, fmt.Errorf("%s: want one map of values", where)
	}
	return merge(docs[0], o.values), nil
}

// render returns the output of the templates for the definitions of a test. The
// location of the definitions does not depend on where the folder is.
func (o *testOptions) render(ctx context.Context, root *os.Root, maker *maker, at string) (text []byte, found []finding.Finding, err error) {
	in, err := root.Open(path.Join(at, testInput))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read %s: %w", testInput, bare(err))
	}
	defer in.Close() //nolint:errcheck // it was only read
	origin := xrd.Origin{Source: xrd.SourceFile, File: filepath.Join(o.templates, at, testInput), Location: "file:" + testInput}
	definitions := 0
	var torn error
	err = xrd.Each(in, origin, func(f xrd.Found) bool {
		switch {
		case f.Finding != nil:
			found = append(found, *f.Finding)
		case f.Failed:
			torn = fmt.Errorf("%s is incomplete: %s", testInput, f.Failure)
		case f.Definition != nil:
			definitions++
			m := maker.make(ctx, f)
			found = append(found, m.findings...)
			text = append(text, entity.YAMLDocuments(m.entities)...)
		}
		return torn == nil && ctx.Err() == nil
	})
	err = cmp.Or(err, torn, ctx.Err())
	if err == nil && definitions == 0 && finding.Count(found, finding.Error) == 0 {
		err = fmt.Errorf("%s contains no %s", testInput, xrd.KindDefinition)
	}
	return text, found, err
}

// normal returns normalized YAML, or the text unchanged if it is not YAML.
func normal(text []byte) []byte {
	docs, errs := parser.DecodeBytes(text)
	if len(errs) > 0 {
		return text
	}
	var out []byte
	for _, d := range docs {
		out = tree.AppendYAML(append(out, "---\n"...), d)
	}
	return out
}

// result prints the result of a test.
func (o *testOptions) result(name, how string) {
	style := o.Out()
	shown := map[string]func(string) string{"ok": style.Green, "updated": style.Yellow, "differs": style.Red, "failed": style.Red}[how](how)
	if how == "ok" && o.Quiet {
		return
	}
	fmt.Fprintf(o.Env.Stdout, "%s: %s\n", term.Safe(name), shown)
}

// show prints a diff.
func (o *testOptions) show(name string, want, got []byte) {
	style := o.Out()
	text := string(diff.Diff(name, normal(want), "rendered", normal(got)))
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		shown := term.SafeLines(line)
		switch {
		case i < 3:
			if strings.HasPrefix(line, "diff ") {
				continue
			}
			shown = style.Bold(shown)
		case strings.HasPrefix(line, "+"):
			shown = style.Green(shown)
		case strings.HasPrefix(line, "-"):
			shown = style.Red(shown)
		case strings.HasPrefix(line, "@"):
			shown = style.Cyan(shown)
		}
		fmt.Fprintln(o.Env.Stdout, shown)
	}
}

func (o *testOptions) verdict(all tested) error {
	if !o.Quiet {
		var parts []string
		for _, p := range []struct {
			n   int
			how string
		}{{all.passed, "passed"}, {all.updated, "updated"}, {all.differ, "differed"}, {all.failed, "failed"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.how))
			}
		}
		o.Sayf("%s: %s", output.Count(all.passed+all.updated+all.differ+all.failed, "test", "tests"), strings.Join(parts, ", "))
	}
	switch {
	case all.failed > 0:
		return &app.Exit{Code: app.ExitFailed}
	case all.differ > 0:
		return &app.Exit{Code: app.ExitInvalid}
	}
	return nil
}
