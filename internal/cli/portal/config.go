package portal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/config/production"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/internal/term"
)

// newConfig returns the command that prints and checks the configuration. paths
// are the values of --config.
func newConfig(v *output.Output, paths *[]string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check or show the configuration",
		Long: `Checks and shows the configuration that the backend would start with: the
files named with --config, or app-config.yaml and app-config.local.yaml in the
working directory. It starts nothing.`,
		Example: `  # Is it right?
  portal-backend config check

  # What would a further file change?
  portal-backend config print --config app-config.yaml --config production.yaml`,
		Args: flags.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCheck(v, paths), newPrint(v, paths), newSchema(v))
	for _, sub := range cmd.Commands() {
		sub.Flags().SortFlags = false
		sub.DisableFlagsInUseLine = true
	}
	return cmd
}

func newCheck(v *output.Output, paths *[]string) *cobra.Command {
	var format string
	var production bool
	cmd := &cobra.Command{
		Use:   "check [options]",
		Short: "Check whether the configuration is valid",
		Long: `Reads the configuration and reports whether the backend can start with it. Every
mistake is reported with its place and a hint. The exit code is 4 if there are
any.

With --production, a configuration that the backend can start with is also
checked for settings that are too weak for a portal that several teams use, such
as guests, plain HTTP, and tokens that can be guessed. The exit code is 4 if
there are any.`,
		Example: `  # What the backend would read
  portal-backend config check

  # Before others use the portal
  portal-backend config check --production

  # Two files, with a report for code scanning
  portal-backend config check --config app-config.yaml --config production.yaml --output-format sarif`,
		Args: flags.NoArguments,
		RunE: func(*cobra.Command, []string) error { return check(v, *paths, format, production) },
	}
	cmd.Flags().StringVar(&format, "output-format", report.Text, "`format` of the findings: "+strings.Join(report.Formats, ", "))
	cmd.Flags().BoolVar(&production, "production", false, "also list settings that are too weak for production")
	flags.Complete(cmd, map[string][]string{"output-format": report.Formats})
	return cmd
}

func newPrint(v *output.Output, paths *[]string) *cobra.Command {
	var section string
	cmd := &cobra.Command{
		Use:   "print [options]",
		Short: "Show the effective configuration",
		Long: `Shows the effective configuration, including defaults, as YAML. Secrets are
masked; variables and paths are resolved.`,
		Example: `  # Everything
  portal-backend config print

  # One section
  portal-backend config print --section backend`,
		Args: flags.NoArguments,
		RunE: func(*cobra.Command, []string) error { return show(v, *paths, section) },
	}
	cmd.Flags().StringVar(&section, "section", "", "show this `section` alone: "+strings.Join(config.PortalSections, ", "))
	flags.Complete(cmd, map[string][]string{"section": config.PortalSections})
	return cmd
}

func newSchema(v *output.Output) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Show a JSON Schema of the configuration, for editors",
		Long: `Shows a JSON Schema (draft 2020-12) of configuration files, by which an editor
completes keys and marks mistakes.`,
		Example: `  # Keep it where an editor finds it
  portal-backend config schema > config.schema.json`,
		Args: flags.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return write(v, append(tree.AppendJSON(nil, config.Schema(), "  "), '\n'))
		},
	}
}

// read reads the files, or the default files if none is named, and returns their
// names too.
func read(v *output.Output, paths []string) (*config.Config, []finding.Finding, []string) {
	why := output.NamedConfig
	if len(paths) == 0 {
		paths, why = config.DefaultFiles(""), "configuration in the working directory"
	}
	v.ReadingFiles(paths, why)
	if len(paths) == 0 {
		v.Reading("no configuration file", "none is named or in the working directory, defaults apply")
	}
	c, found := config.Load(paths, config.Options{
		Sections: config.PortalSections,
		Lookup: func(name string) (string, bool) {
			text := v.Env.Getenv(name)
			return text, text != ""
		},
	})
	return c, found, paths
}

// load reads the configuration and prints its findings. It returns an error if the
// configuration cannot be used.
func load(v *output.Output, paths []string) (*config.Config, error) {
	c, found, _ := read(v, paths)
	return c, v.Misconfigured(found)
}

func check(v *output.Output, paths []string, format string, strict bool) error {
	if _, err := report.ParseFormat(format); err != nil {
		return flags.Usage(err, "see "+Name+" config check --help")
	}
	c, found, files := read(v, paths)
	rules := rule.All
	if strict {
		rules = slices.Concat(rules, production.Rules)
		if !output.Failed(found, false) {
			found = append(found, production.Check(c)...)
		}
	}
	if v.Detailed() && format == report.Text {
		// The result on standard output is the same with and without --verbose.
		if err := v.Report(output.Report{Findings: remarks(found)}); err != nil {
			return err
		}
	}
	plain := output.Output{}
	err := report.Write(v.Env.Stdout, format, found, report.Options{
		Tool: Name, Version: app.BuildVersion(), Rules: rules, Objects: files, Min: plain.Least(format, false), Color: v.Out().Color,
	})
	switch {
	case err != nil:
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	case output.Failed(found, false):
		return &app.Exit{Code: app.ExitUsage}
	case format != report.Text:
		return nil
	}
	what := "no file, defaults apply"
	if len(files) > 0 {
		what = term.Safe(strings.Join(files, ", "))
	}
	if strict {
		what += "; nothing is too weak for production"
	}
	return write(v, []byte(v.Out().Green("ok")+": "+what+"\n"))
}

// remarks returns the findings that are neither errors nor warnings.
func remarks(found []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Severity != finding.Info })
}

func show(v *output.Output, paths []string, section string) error {
	if section != "" && !slices.Contains(config.PortalSections, section) {
		return flags.Usagef("the sections are "+strings.Join(config.PortalSections, ", "), "unknown section %q", section)
	}
	c, err := load(v, paths)
	if err != nil {
		return err
	}
	all := c.Effective()
	if section != "" {
		all = tree.Obj(tree.F(section, all.Get(section)))
	}
	return write(v, tree.AppendYAML(nil, all))
}

// write writes a result to standard output.
func write(v *output.Output, text []byte) error {
	if _, err := v.Env.Stdout.Write(text); err != nil {
		return output.Failure(fmt.Errorf("cannot write the result: %w", err))
	}
	return nil
}
