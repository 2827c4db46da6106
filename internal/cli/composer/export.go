package composer

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/composer/catalog"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// exportOptions are the flags of export.
type exportOptions struct {
	format, output    string
	composites, prune bool
}

// asCatalog is the only format.
const asCatalog = "catalog"

func newExport(c *common) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export [options]",
		Short: "Write everything the service generates from clusters to files",
		Long: `Writes the entities of all definitions that the service ingests, and of the
workloads, to <output>/<Kind>/<name>.yaml, and catalog-info.yaml, a Location
that lists them for a portal to read.

Nothing is removed. Entities of a cluster that cannot be read, or is not
selected, are kept. Entities that none of their clusters has any more leave the
list, and their files stay until --prune removes them.`,
		Example: `  # Everything in the clusters of the configuration
  composer-ingestor export --config app-config.yaml --cluster all --output catalog/

  # With composite resources and claims, and without stale files
  composer-ingestor export --config app-config.yaml --composites --prune`,
		Args: flags.NoArguments,
		RunE: c.run(func(ctx context.Context, s *session, _ []string) error { return s.export(ctx, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.format, "format", "f", asCatalog, "`format`: "+asCatalog)
	f.StringVarP(&o.output, "output", "o", "./catalog-entities", "output `directory`")
	f.BoolVar(&o.composites, "composites", false, "also read composite resources and claims")
	f.BoolVar(&o.prune, "prune", false, "remove stale files of earlier exports")
	flags.Complete(cmd, map[string][]string{"format": {asCatalog}})
	return cmd
}

func (s *session) export(ctx context.Context, o *exportOptions) error {
	if err := oneOf("format", o.format, []string{asCatalog}); err != nil {
		return err
	}
	fleet, err := s.connect()
	if err != nil {
		return err
	}
	out, err := catalog.Open(o.output)
	if err != nil {
		return output.Failure(err)
	}
	files := dir.New(o.output, dir.Options{Layout: dir.PerEntity, Wrote: func(path string, _ int) {
		if s.Detailed() {
			s.Sayf("wrote %s", term.Safe(path))
		}
		out.Add(path)
	}})
	progress := s.Progress("transforming", "definitions")
	defer progress.Done()
	var parts []pipeline.Part
	for _, v := range fleet.variants {
		read := cluster.ReadOptions{Labels: v.filter.Labels}
		if o.composites {
			read.Composites, read.Namespaces = v.takes, v.namespaces
		}
		p := v.part(fleet.source(v, read))
		p.Progress, p.Log = progress.Update, s.Logger()
		parts = append(parts, p)
	}
	r, err := pipeline.RunParts(ctx, parts, sink.Func(func(ctx context.Context, es []*entity.Entity) error {
		if fleet.verdict() != nil {
			var err error
			if es, err = out.Spare(es, func(cluster string) bool { _, failed := fleet.complete(cluster); return failed }); err != nil {
				return err
			}
		}
		return files.Write(ctx, es)
	}))
	progress.Done()
	if err != nil {
		return output.Failure(err)
	}
	fleet.tell()
	s.tellRefused(r)
	if err := s.Report(output.Report{Findings: r.Findings}); err != nil {
		return err
	}
	if err := s.conclude(ctx, fleet, out, o, r); err != nil {
		return output.Failure(err)
	}
	return s.end(ending{fleet: fleet, findings: r.Findings, empty: len(r.Definitions)+r.Workloads == 0, why: func() string {
		if why := output.WhyNothing(r); why != "" {
			return why
		}
		return "no definition in the clusters matches the labels"
	}})
}

// conclude writes the Location, removes files if requested, and reports it.
func (s *session) conclude(ctx context.Context, f *fleet, c *catalog.Catalog, o *exportOptions, r *pipeline.Report) error {
	lost := isLost(r.Findings)
	plan, err := c.Plan(func(e *catalog.Earlier) bool { return !lost && f.gone(e, o.composites) }, o.prune)
	if err != nil {
		return err
	}
	if err := c.Write(ctx, plan, s.words.For(c.Spoken(r.Entities, len(plan.Kept) > 0))); err != nil {
		return err
	}
	if err := c.Remove(plan.Remove); err != nil {
		return err
	}
	if s.Quiet {
		return nil
	}
	if len(r.Definitions)+r.Workloads > 0 {
		s.Sayf("%s in %s under %s", output.Made(r), output.Count(len(c.Made), "file", "files"), term.Safe(filepath.Clean(o.output)))
	}
	tell := func(n int, what, why string) {
		if n > 0 {
			s.Sayf("%s: %s of an earlier export%s", what, output.Count(n, "file", "files"), why)
		}
	}
	tell(len(plan.Kept), "kept", ", because not all of their sources were read")
	tell(len(plan.Remove), "removed", "")
	tell(len(plan.Left), "left", " that are stale; use --prune to remove them")
	return nil
}

// gone reports whether an entity that is no longer generated is gone: every
// cluster in which it was found was read completely. Composites are read only on
// request.
func (f *fleet) gone(e *catalog.Earlier, composites bool) bool {
	if e.Composite && !composites {
		return false
	}
	if len(e.From) == 0 {
		return f.verdict() == nil
	}
	return !slices.ContainsFunc(e.From, func(cluster string) bool { complete, _ := f.complete(cluster); return !complete })
}

// isLost reports whether an object was read but could not be converted, so that a
// missing entity may not be gone.
func isLost(found []finding.Finding) bool {
	lost := append(entityErrors(), xrd.RuleSyntax, pipeline.RuleInternal)
	return slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Severity == finding.Error && slices.Contains(lost, f.Rule)
	})
}
