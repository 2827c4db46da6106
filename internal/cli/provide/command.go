// Package provide implements the command portal-provide, which delivers entities
// to a portal by a push, by a URL that the portal reads, or by a repository.
package provide

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/report"
	"example.dev/ingestor/sink/portal"
)

// Name is the program's name.
const Name = "portal-provide"

const long = `Brings entities into a portal's catalog: reads them from files, directories or
standard input, checks them, and pushes them to the portal at --api-url in one
step. Then it prints how many were added, updated, removed, left unchanged and
refused.

Inputs are YAML documents, JSON objects one a line, and JSON arrays. A
directory gives its .yaml, .yml and .json files, and those of the directories
below it. Without inputs, and for -, it is standard input.

A full push is everything the provider has: what it had before and is not in
the input is removed. So nothing is pushed when the input is not complete (a
file cannot be read, or a program before this one failed), when an entity
breaks the catalog's rules, or when more than half would be removed. With
--mode delta nothing is removed but what --remove or a document
{"remove": "kind:namespace/name"} names; with --remove and no inputs, standard
input is not read.

A portal without a push, such as Backstage, reads what serve offers, or the
repository that commit writes to.

Exit codes: 0 fine, 1 something failed, 2 validation failed, or the portal
refused entities, 3 nothing to push, 4 bad flags.`

const examples = `  # Definitions in files to a running portal
  xrd-extract --source file --path xrds/ | xrd-transform | portal-provide --api-url http://localhost:7007

  # What is in a directory, as the provider "platform"
  portal-provide catalog-entities/ --api-url https://portal.example.org --provider platform --token-file token

  # Check everything, and push nothing
  portal-provide catalog-entities/ --api-url http://localhost:7007 --dry-run

  # Add or replace one entity, and remove another
  portal-provide shop.yaml --api-url http://localhost:7007 --mode delta --remove component:default/old-shop`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env)) }

func newCommand(env *app.Env) *cobra.Command {
	p := &push{common: newCommon(env, "nothing was pushed")}
	root := &cobra.Command{
		Use:               Name + " [options] [files...]",
		Short:             "Bring entities into a portal's catalog",
		Long:              long,
		Example:           examples,
		Version:           app.BuildVersion(),
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		ValidArgsFunction: flags.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.settle(flags.Given(cmd.Flags()), args); err != nil {
				return err
			}
			return p.run(cmd.Context(), args)
		},
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flags.Usage(err, flags.Help(cmd)) })
	p.bind(root)
	root.AddCommand(newServe(env), newCommit(env))
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().SortFlags = false
		// The usage line already mentions the options.
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

// bind defines the flags of the push.
func (p *push) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	p.connection.bind(f, " (required)")
	f.StringVar(&p.provider, "provider", portal.DefaultProvider, "`name` that owns what is pushed")
	f.StringVar(&p.modeName, "mode", portal.Full.String(), "what the input is: full, everything the provider has, or delta, what changed")
	f.StringArrayVar(&p.removeNames, "remove", nil, "with --mode delta, remove the entity of this `reference`; may be given several times")
	f.BoolVar(&p.dryRun, "dry-run", false, "check everything, and push nothing")
	f.BoolVar(&p.allowEmpty, "allow-empty", false, "let an input without entities remove all that the provider has")
	f.BoolVar(&p.allowRemovals, "allow-removals", false, "let a full push remove more than half of what the provider has")
	f.BoolVar(&p.partial, "partial", false, "push what is there of an input that is not complete; it is a delta then")
	p.common.bind(f)
	f.StringVar(&p.outputFormat, "output-format", report.Text, "`format` of the result, and of findings: "+strings.Join(report.Formats, ", "))
	p.Output.Bind(f)
	flags.Complete(cmd, map[string][]string{
		"mode":          {portal.Full.String(), portal.Delta.String()},
		"output-format": report.Formats,
	})
}
