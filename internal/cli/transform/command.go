// Package transform implements the command xrd-transform, which converts extract
// records into catalog entities with template files.
//
// It is one package because it is one program, with one file per mode.
package transform

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/report"
)

// Name is the program's name.
const Name = "xrd-transform"

const long = `Renders catalog entities from composite resource definitions and template
files. It reads extract records, as xrd-extract writes them, or plain definitions:
one JSON object per line, a JSON array, YAML documents, or the output of kubectl
get. Without an input it reads standard input; without --output it writes to
standard output, as a stream of any length.

Templates are built in. The files of the folder in --templates override them, so
it needs only the files that differ: portal/*.eta give the entities, wizard/*.eta
the pages of the form, steps/*.eta the steps that run on submit. The annotations
portal.io/template, portal.io/wizard and portal.io/steps of a definition choose
a file of each; the default is default. xrd-transform init writes the built-in
folder as a start.

A definition that fails does not affect others. If one fails, the output ends
with a failure record, {"error":{"message":...}}, so that the next program in a
pipe does not use an incomplete stream; --partial omits it.

In a directory the entities of a definition are in template-<name>.yaml,
api-<name>.yaml and resource-<name>.yaml, where <name> is that of its Template.

Exit codes: 0 success, 1 failure, such as of a template, 2 validation failed (or
warnings with --strict), 3 nothing matched, 4 invalid flags or configuration.`

const examples = `  # The three tools in a pipe
  xrd-extract --path xrds/ | xrd-transform | portal-provide --api-url https://portal.example.org

  # From a cluster to files, with your own templates
  kubectl get xrd -o yaml | xrd-transform --templates templates/ --output catalog/

  # Start your own templates: one file, the rest stays built in
  xrd-transform init templates/ --only portal/default

  # Render again whenever a definition or a template changes
  xrd-transform --input xrds/ --templates templates/ --output catalog/ --watch

  # A value for the templates: metadata.values.clusters
  xrd-transform --input xrds/ --set 'clusters=[dev, prod]' --format ndjson`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return With(engine.Extension{})(ctx, env) }

// With returns Run with an extension of the templates.
func With(x engine.Extension) app.Program {
	return func(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env, x)) }
}

func newCommand(env *app.Env, x engine.Extension) *cobra.Command {
	v := &output.Output{Program: Name, Env: env}
	o := &options{Output: v}
	o.extension = x
	root := &cobra.Command{
		Use:     Name + " [options] [files...]",
		Short:   "Render catalog entities from definitions and template files",
		Long:    long,
		Example: examples,
		Args:    flags.Files,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.NoteVersion(cmd, env)
			if err := o.settle(flags.Given(cmd.Flags()), args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	o.bind(root)
	v.Bind(root.PersistentFlags())
	root.AddCommand(newInit(v), newLint(v, x), newTest(v, x), newDebug(v, x), newList(v))
	for _, cmd := range append(root.Commands(), root) {
		flags.Complete(cmd, map[string][]string{
			"format":        formats,
			"output-format": report.Formats,
			"words":         flags.WordsNames,
			"on-error":      onErrors,
		})
	}
	root.PersistentFlags().SortFlags = false
	return flags.Program(root)
}

// body returns the body of a subcommand: it validates the common flags, then does
// its work.
func body(work func(ctx context.Context, given map[string]bool, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		given := flags.Given(cmd.Flags())
		if err := quietOrLoud(given); err != nil {
			return err
		}
		return work(cmd.Context(), given, args)
	}
}

// atMostOne is for commands with at most one argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return flags.Usagef(flags.Help(cmd), "cannot use %s: %s takes one argument", strings.Join(args[1:], " "), cmd.CommandPath())
}
