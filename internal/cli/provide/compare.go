package provide

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/provide/migration"
	"example.dev/ingestor/sink/portal"
)

const nothingCompared = "nothing was compared"

// comparing is the command compare.
type comparing struct {
	*push
	from   backstage
	prefix string

	source *portal.Portal
}

func newCompare(env *app.Env) *cobra.Command {
	c := &comparing{push: &push{common: newCommon(env, nothingCompared)}}
	cmd := &cobra.Command{
		Use:   "compare [options]",
		Short: "Compare the entities of kubernetes-ingestor in a Backstage with a portal",
		Long: `Compares the entities that TeraSky's kubernetes-ingestor made in a running
Backstage with those of a portal that ingests the same clusters. It prints which
entities keep their name and which get another one or have no counterpart, which
references in other entities break, and what becomes of the annotations on
objects. Entities correspond if they stand for the same object, whatever their
names are.

It only reads, on both sides.

Exit codes: 0 success, 1 failure, 3 Backstage has no entities of
kubernetes-ingestor, 4 invalid flags.`,
		Example: `  # On the terminal
  portal-provide compare --from https://backstage.example.org --from-token-file backstage.token --api-url http://localhost:7007

  # As a page
  portal-provide compare --from https://backstage.example.org --api-url http://localhost:7007 --output-format markdown > report.md`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.settle(flags.Given(cmd.Flags())); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	c.from.bind(f)
	c.connection.bind(f, " (required)")
	f.StringVar(&c.prefix, "annotation-prefix", migration.DefaultPrefix, "`prefix` of annotations, as in kubernetesIngestor.annotationPrefix of Backstage")
	bindFormat(cmd, &c.outputFormat)
	c.Output.Bind(f)
	return cmd
}

func (c *comparing) settle(given map[string]bool) (err error) {
	if err := c.common.settle(given, nil); err != nil {
		return err
	}
	if err := parseReportFormat(c.outputFormat); err != nil {
		return err
	}
	if c.prefix == "" {
		return flags.Usagef("check for an empty shell variable", "annotation prefix is the empty string")
	}
	if c.source, err = c.from.connect(c.Env, &c.connection); err != nil {
		return err
	}
	c.portal, err = c.toPortal(portal.Options{})
	return err
}

func (c *comparing) run(ctx context.Context) error {
	reading := c.Progress("reading", "entities")
	report, err := migration.Compare(ctx, c.source, c.portal, c.prefix, func(n int) { reading.Update(n, 0) })
	reading.Done()
	if e, ok := errors.AsType[*portal.Error](err); ok && e.URL == c.portal.URL() {
		return &app.Exit{Code: app.ExitFailed, Err: err, Hint: e.Hint()}
	}
	if err != nil {
		return c.from.failed(err, nothingCompared)
	}
	if len(report.Entities) == 0 {
		return &app.Exit{Code: app.ExitNothing, Err: errors.New(nothingCompared + ": Backstage has no entities of kubernetes-ingestor"), Hint: "check --annotation-prefix, and that the token may read the catalog"}
	}
	return c.present(report.Sections(), report)
}
