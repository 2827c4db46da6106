// Package composer implements the command composer-ingestor, which shows what the
// service finds in clusters, which entities it makes and why not, without running
// the service.
//
// It is one package because its subcommands share one session: the same flags, clusters
// and ingestors.
package composer

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
)

// Name is the program's name.
const Name = "composer-ingestor"

const long = `Shows what the service finds in clusters and what it generates from it: the
definitions it ingests, those it skips and why, and the entities it writes. With
the same configuration the result is the same as that of the service.

The clusters are those of the configuration (--config), or the contexts of a
kubeconfig (--kubeconfig, --context). Without either it is the cluster of
ORCHESTRATOR_API_URL, else the current context of $KUBECONFIG or
~/.kube/config, else the cluster this runs in.

Exit codes: 0 success, 1 failure, 2 validation failed, 3 nothing matched,
4 invalid flags or configuration, 5 no cluster could be reached, or all refused.`

const examples = `  # Check access to the clusters
  composer-ingestor test-connection --config app-config.yaml

  # List the definitions that the service ingests, and why it skips the others
  composer-ingestor discover --config app-config.yaml --all

  # Why is this definition not in the catalog?
  composer-ingestor explain --config app-config.yaml --xrd databases.platform.io`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return With(engine.Extension{})(ctx, env) }

// With returns Run with an extension of the engine.
func With(x engine.Extension) app.Program {
	return func(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env, x)) }
}

func newCommand(env *app.Env, x engine.Extension) *cobra.Command {
	c := &common{Output: output.Output{Program: Name, Env: env}, extension: x}
	root := &cobra.Command{
		Use:     Name,
		Short:   "Show what the service finds in clusters and generates from it",
		Long:    long,
		Example: examples,
		Args:    flags.Subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.OnlyV(env) {
				return flags.PrintVersion(cmd)
			}
			return cmd.Help()
		},
	}
	// Without a subcommand the program only shows its help.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable .HasParent}}", 1))
	c.bind(root)
	root.AddCommand(newDiscover(c), newTransform(c), newExport(c), newValidate(c), newConnection(c), newExplain(c), newStatus(c), newPlan(c))
	return flags.Program(root)
}
