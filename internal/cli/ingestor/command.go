// Package ingestor is the command ingestor-cli: definitions in files become
// catalog entities, or a report of what is wrong with them.
package ingestor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
)

// Name is the program's name.
const Name = "ingestor-cli"

const long = `Reads composite resource definitions, with their Compositions and composite
resources if they are there, and writes the catalog entities a portal shows
for them: the form as a Template, the API, and Resources that track both.

Inputs are files, directories, and - for standard input. A directory gives its
.yaml, .yml and .json files; a file may hold many documents.

Exit codes: 0 fine, 1 something failed, 2 validation failed (or warnings with
--strict), 3 nothing matched, 4 bad flags.`

const examples = `  # Write the entities of a directory to ./catalog-entities/
  ingestor-cli xrds/

  # Fail a build on anything worth mending, with a report for code scanning
  ingestor-cli xrds/ --recursive --validate --strict --output-format sarif > findings.sarif

  # See the form developers will fill
  ingestor-cli database.yaml --preview

  # From a cluster, in Backstage's own words, to another program
  kubectl get xrd -o yaml | ingestor-cli - --words upstream --stdout --format json`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error {
	cmd := newCommand(env)
	cmd.SetArgs(env.Args)
	cmd.SetIn(env.Stdin)
	cmd.SetOut(env.Stdout)
	cmd.SetErr(env.Stderr)
	return cmd.ExecuteContext(ctx)
}

func newCommand(env *app.Env) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:           Name + " [options] [files...]",
		Short:         "Turn composite resource definitions into catalog entities",
		Long:          long,
		Example:       examples,
		Version:       app.BuildVersion(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		// The usage line says so already.
		DisableFlagsInUseLine: true,
		SilenceUsage:          true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(cmd.Flags(), env, args); err != nil {
				return err
			}
			return run(cmd.Context(), env, o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err, "see "+Name+" --help") })
	o.bind(cmd, env)
	return cmd
}

// usage is an error about how the command was called.
func usage(err error, hint string) error {
	return &app.Exit{Code: app.ExitUsage, Err: err, Hint: hint}
}

func usagef(hint, format string, args ...any) error {
	return usage(fmt.Errorf(format, args...), hint)
}

// together returns an error if more than one of the flags was given.
func together(given map[string]bool, names ...string) error {
	var found []string
	for _, n := range names {
		if given[n] {
			found = append(found, "--"+n)
		}
	}
	if len(found) < 2 {
		return nil
	}
	return usage(errors.New("cannot use "+strings.Join(found, " and ")+" together"), "leave one of them out")
}
