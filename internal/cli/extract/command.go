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
output, one JSON object a line, or to a directory, a file each. They are what
xrd-transform reads.

The source is files, a Git repository or clusters. Without --source it is what
the other flags speak of, and files if they speak of none. Files are read from
paths or, without any, from standard input: definitions and records, what
kubectl get xrd -o yaml or -o json prints, lists and JSON arrays. Records that
are read keep where and when they say they were found, so that this can be run
twice. Objects of other kinds are passed over.

The clusters are those of the configuration (--config), or the contexts of a
kubeconfig (--kubeconfig, --context). Without either it is the cluster of
ORCHESTRATOR_API_URL, else the current context of $KUBECONFIG or
~/.kube/config, else the cluster this runs in.

If something could not be read, the stream ends with a failure record,
{"error":{"message":"..."}}, so that the next program in a pipe does not take
half for the whole; --partial leaves it out.

Exit codes: 0 fine, 1 something failed, 2 a document is not valid, 3 nothing
matched, 4 bad flags or configuration, 5 no cluster could be reached, or all
refused.`

const examples = `  # The definitions of a directory, through templates, into a portal
  xrd-extract --path xrds/ | xrd-transform | portal-provide --api-url https://portal.example.org

  # All YAML files below, at any depth, to a file for each definition
  xrd-extract --path 'teams/**/*.yaml' --output records/

  # A cluster of the configuration, and of it only what a team has
  xrd-extract --source kubernetes --config app-config.yaml --cluster prod --labels team=payments

  # A branch of a repository
  xrd-extract --source git --repo https://git.example.org/platform/xrds.git --ref main --path xrds

  # What kubectl prints, as records
  kubectl get xrd -o yaml | xrd-extract`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env)) }

func newCommand(env *app.Env) *cobra.Command {
	o := &options{Output: output.Output{Program: Name, Env: env}}
	cmd := &cobra.Command{
		Use:           Name + " [options] [paths...]",
		Short:         "Write extract records of composite resource definitions",
		Long:          long,
		Example:       examples,
		Version:       app.BuildVersion(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		// The usage line already mentions the options.
		DisableFlagsInUseLine: true,
		SilenceUsage:          true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(cmd.Flags(), args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
		ValidArgsFunction: flags.CompleteFiles,
	}
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flags.Usage(err, flags.Help(cmd)) })
	o.bind(cmd)
	return cmd
}
