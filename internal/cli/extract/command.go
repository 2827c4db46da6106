// Package extract implements the command xrd-extract, which converts definitions
// from clusters, files and Git repositories into extract records, one by one.
package extract

import (
	"context"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
)

// Name is the program's name.
const Name = "xrd-extract"

const long = `Reads composite resource definitions and writes an extract record for each:
the definition as it was found, with where and when. The records go to standard
output, one JSON object per line, or to a directory, one file each.
xrd-transform reads them.

The source is files, a Git repository or clusters. Without --source it follows
from the other flags, and is files if they do not tell. Files are read from
paths or, without any, from standard input: definitions and records, the output
of kubectl get xrd -o yaml or -o json, lists and JSON arrays. Records that are
read keep their place and time, so that the program can be run on its own output.
Objects of other kinds are skipped.

The clusters are those of the configuration (--config), or the contexts of a
kubeconfig (--kubeconfig, --context). Without either it is the cluster of
ORCHESTRATOR_API_URL, else the current context of $KUBECONFIG or
~/.kube/config, else the cluster this runs in.

If something could not be read, the stream ends with a failure record,
{"error":{"message":"..."}}, so that the next program in a pipe does not use an
incomplete stream; --partial omits it.

Exit codes: 0 success, 1 failure, 2 invalid document, 3 nothing matched,
4 invalid flags or configuration, 5 no cluster could be reached, or all refused.`

const examples = `  # The definitions of a directory, through templates, into a portal
  xrd-extract --path xrds/ | xrd-transform | portal-provide --api-url https://portal.example.org

  # All YAML files below, at any depth, to a file for each definition
  xrd-extract --path 'teams/**/*.yaml' --output records/

  # Only the definitions of one team, from a cluster of the configuration
  xrd-extract --source kubernetes --config app-config.yaml --cluster prod --labels team=payments

  # A branch of a repository
  xrd-extract --source git --repo https://git.example.org/platform/xrds.git --ref main --path xrds

  # The output of kubectl, as records
  kubectl get xrd -o yaml | xrd-extract`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env)) }

func newCommand(env *app.Env) *cobra.Command {
	o := &options{Output: output.Output{Program: Name, Env: env}}
	cmd := &cobra.Command{
		Use:     Name + " [options] [paths...]",
		Short:   "Write extract records of composite resource definitions",
		Long:    long,
		Example: examples,
		Args:    flags.Files,
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.NoteVersion(cmd, env)
			if err := o.settle(cmd.Flags(), args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	o.bind(cmd)
	return flags.Program(cmd)
}
