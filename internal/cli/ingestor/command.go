// Package ingestor implements the command ingestor-cli, which converts definitions
// in files into catalog entities, or reports problems with them.
package ingestor

import (
	"context"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/change"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
)

// Name is the program's name.
const Name = "ingestor-cli"

const long = `Reads composite resource definitions, with their Compositions and composite
resources if present, and writes their catalog entities: the form as a Template,
the API, and Resources that track both.

Inputs are files, directories, and - for standard input. In a directory, .yaml,
.yml and .json files are read; a file may contain many documents.

With --config the options and filters are those of the service, so that with
the service's profile the output is what the service writes, apart from where
and when a definition was found. Flags override it. Without inputs the files and
repositories of composerIngestor.sources are read. Clusters are not:
composer-ingestor export reads those. The command diff finds breaking changes.

Exit codes: 0 success, 1 failure, 2 validation failed (or warnings with
--strict), 3 nothing matched, 4 invalid flags or configuration.`

const examples = `  # Write the entities of a directory to ./catalog-entities/
  ingestor-cli xrds/

  # Fail a build on any warning, with a report for code scanning
  ingestor-cli xrds/ --recursive --validate --strict --output-format sarif > findings.sarif

  # Check composite resources against their definitions, as an API server does
  ingestor-cli xrds/ claims/ --validate

  # Preview the form that developers fill in
  ingestor-cli database.yaml --preview

  # What the service would write, in a pull request that changes a definition
  ingestor-cli xrds/ --config app-config.yaml --profile composerIngestor --preview

  # The same for all sources of the configuration
  ingestor-cli --config app-config.yaml --profile composerIngestor --organize -o catalog/

  # Breaking changes of a pull request; see ingestor-cli diff --help
  ingestor-cli diff --base main xrds/

  # From a cluster, in Backstage's own words, to another program
  kubectl get xrd -o yaml | ingestor-cli - --words upstream --stdout --format json`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return With(engine.Extension{})(ctx, env) }

// With returns Run with an extension of the engine.
func With(x engine.Extension) app.Program {
	return func(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env, x)) }
}

func newCommand(env *app.Env, x engine.Extension) *cobra.Command {
	o := &options{Output: output.Output{Program: Name, Env: env}, extension: x}
	cmd := &cobra.Command{
		Use:     Name + " [options] [files...]",
		Short:   "Turn composite resource definitions into catalog entities",
		Long:    long,
		Example: examples,
		Args:    flags.Files,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(cmd.Flags(), args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	o.bind(cmd)
	cmd.AddCommand(change.NewCommand(env, Name, x))
	return flags.Program(cmd)
}
