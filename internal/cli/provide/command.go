// Package provide implements the command portal-provide, which delivers entities
// to a portal by a push, by a URL that the portal reads, by a repository, or from a
// Backstage.
//
// It is one package because it is one program, with one file per way of delivery.
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

const long = `Pushes entities to a portal's catalog: reads them from files, directories or
standard input, validates them, and pushes them to the portal at --api-url in one
step. Then it prints how many were added, updated, removed, unchanged and
refused.

Inputs are YAML documents, JSON objects one per line, and JSON arrays. In a
directory, .yaml, .yml and .json files are read, also in its subdirectories.
Without inputs, and for -, standard input is read.

A full push replaces all entities of the provider: those that are not in the
input are removed. So nothing is pushed when the input is not complete (a file
cannot be read, or a program before this one failed), when an entity is
invalid, or when more than half of the entities would be removed. With
--mode delta only entities are removed that --remove or a document
{"remove": "kind:namespace/name"} names; with --remove and no inputs, standard
input is not read.

A portal without a push API, such as Backstage, reads the URL that serve
provides, or the repository that commit writes to. import brings the catalog of
a Backstage into a portal, and compare reports what that changes.

Exit codes: 0 success, 1 failure, 2 validation failed, or the portal refused
entities, 3 nothing to push, 4 invalid flags.`

const examples = `  # Definitions in files to a running portal
  xrd-extract --source file --path xrds/ | xrd-transform | portal-provide --api-url http://localhost:7007

  # The entities of a directory, as the provider "platform"
  portal-provide catalog-entities/ --api-url https://portal.example.org --provider platform --token-file token

  # Validate without pushing
  portal-provide catalog-entities/ --api-url http://localhost:7007 --dry-run

  # Add or replace one entity, and remove another
  portal-provide shop.yaml --api-url http://localhost:7007 --mode delta --remove component:default/old-shop`

// Run runs the command.
func Run(ctx context.Context, env *app.Env) error { return flags.Execute(ctx, env, newCommand(env)) }

func newCommand(env *app.Env) *cobra.Command {
	p := &push{common: newCommon(env, "nothing was pushed")}
	root := &cobra.Command{
		Use:               Name + " [options] [files...]",
		Short:             "Push entities to a portal's catalog",
		Long:              long,
		Example:           examples,
		Args:              flags.Files,
		ValidArgsFunction: flags.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.OnlyV(env) {
				return flags.PrintVersion(cmd)
			}
			if err := p.settle(flags.Given(cmd.Flags()), args); err != nil {
				return err
			}
			return p.run(cmd.Context(), args)
		},
	}
	p.bind(root)
	root.AddCommand(newServe(env), newCommit(env), newImport(env), newCompare(env))
	return flags.Program(root)
}

// bind defines the flags of the push.
func (p *push) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	p.connection.bind(f, " (required)")
	f.StringVar(&p.provider, "provider", portal.DefaultProvider, "`name` of the provider that owns the pushed entities")
	f.StringVar(&p.modeName, "mode", portal.Full.String(), "full: the input is all entities of the provider, or delta: only changes")
	f.StringArrayVar(&p.removeNames, "remove", nil, "with --mode delta, remove the entity of this `reference`; may be given several times")
	f.BoolVar(&p.dryRun, "dry-run", false, "validate without pushing")
	f.BoolVar(&p.allowEmpty, "allow-empty", false, "allow an input without entities, which removes all entities of the provider")
	f.BoolVar(&p.allowRemovals, "allow-removals", false, "allow a full push to remove more than half of the provider's entities")
	f.BoolVar(&p.partial, "partial", false, "push an incomplete input, as a delta")
	p.common.bind(f)
	f.StringVar(&p.outputFormat, "output-format", report.Text, "`format` of the result, and of findings: "+strings.Join(report.Formats, ", "))
	p.Output.Bind(f)
	flags.Complete(cmd, map[string][]string{
		"mode":          {portal.Full.String(), portal.Delta.String()},
		"output-format": report.Formats,
	})
}
