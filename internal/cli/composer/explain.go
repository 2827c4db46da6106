package composer

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/composer/explanation"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

var explainForms = []string{asText, asJSON}

func newExplain(c *common) *cobra.Command {
	var given []string
	var output string
	cmd := &cobra.Command{
		Use:   "explain --xrd NAME|FILE [options]",
		Short: "Explain why the service ingests a definition or not, and what it generates",
		Long: `Shows for one definition where it was found, which filters of the service admit
or refuse it, where every value of its entities comes from, and which entities
are generated. A value with a path separator, one that ends in .yaml, .yml or
.json, and - are files; anything else is the name of a definition in the clusters.`,
		Example: `  # Why is it not in the catalog?
  composer-ingestor explain --config app-config.yaml --xrd databases.platform.io

  # Where does the owner come from?
  composer-ingestor explain --config app-config.yaml --xrd database.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: c.run(func(ctx context.Context, s *session, args []string) error {
			return s.explain(ctx, append(given, args...), output)
		}),
		ValidArgsFunction: flags.CompleteFiles,
	}
	f := cmd.Flags()
	f.StringArrayVar(&given, "xrd", nil, "`name` of a definition in the clusters, or a file")
	f.StringVarP(&output, "output", "o", asText, "`format` of the result: "+strings.Join(explainForms, ", "))
	flags.Complete(cmd, map[string][]string{"output": explainForms})
	return cmd
}

func (s *session) explain(ctx context.Context, given []string, format string) error {
	if err := oneOf("output", format, explainForms); err != nil {
		return err
	}
	if len(given) != 1 || given[0] == "" {
		return flags.Usagef("pass one name or file with --xrd; see "+Name+" explain --help", "cannot explain %s", output.Count(len(given), "definition", "definitions"))
	}
	in := &inputs{given: given}
	if err := in.openOne(s, given[0]); err != nil {
		return err
	}
	if err := in.readAll(ctx); err != nil {
		return err
	}
	r, err := in.run(ctx, s, in.parts(), nil)
	if err != nil {
		return err
	}
	var all []*explanation.Explanation
	for _, name := range in.found() {
		all = append(all, s.explanation(name, in, r))
	}
	if len(all) == 0 && in.fleet != nil {
		all = append(all, in.notFound(given[0]))
	}
	if err := s.showExplanations(all, format); err != nil {
		return err
	}
	if in.fleet != nil {
		in.fleet.complain()
	}
	if err := s.Report(output.Report{Findings: r.Findings}); err != nil {
		return err
	}
	return s.end(in.ending(r, false))
}

// readAll reads the sources once and caches their content.
func (in *inputs) readAll(ctx context.Context) error {
	for i := range in.sources {
		set, unread := in.sources[i].Read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		in.sets = append(in.sets, set)
		in.sources[i] = source.Func(func(context.Context) (*xrd.Set, error) { return set, unread })
	}
	return nil
}

// found returns the names of all definitions that were read, sorted.
func (in *inputs) found() []string {
	var out []string
	for _, set := range in.sets {
		for _, d := range set.Definitions {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// openOne opens a file, or the clusters in which to look for a name.
func (in *inputs) openOne(s *session, given string) (err error) {
	if isFile(given) {
		if err := s.configure(false); err != nil {
			return err
		}
		in.openFiles(s)
		return nil
	}
	if in.fleet, err = s.connect(); err != nil {
		return err
	}
	in.names = in.given
	in.readClusters()
	return nil
}

func (s *session) showExplanations(all []*explanation.Explanation, output string) error {
	if output == asJSON {
		items := tree.Arr()
		for _, x := range all {
			items.Items = append(items.Items, x.Node())
		}
		return s.print(append(tree.AppendJSON(nil, tree.Obj(tree.F("definitions", items)), "  "), '\n'))
	}
	var b strings.Builder
	for _, x := range all {
		x.Write(&b, s.Out())
	}
	return s.print([]byte(b.String()))
}

// optionKeys maps the engine's options to their configuration keys.
var optionKeys = map[string]string{
	"owner":             config.SectionComposer + ".defaultOwner",
	"system":            config.SectionComposer + ".defaultSystem",
	"default-namespace": config.SectionComposer + ".templateGeneration.defaultNamespace",
}

// values returns where the values of a definition's entities came from. Values
// that the configuration does not set are reported as defaults, although they are
// passed as options.
func values(sources []engine.Source) []engine.Source {
	none, _ := config.Load(nil, config.Options{})
	usual := none.EngineOptions(engine.ComposerIngestor)
	defaults := map[string]string{"owner": usual.Owner, "system": usual.System, "default-namespace": usual.ResourceNamespace}
	var out []engine.Source
	for _, v := range sources {
		switch {
		case v.From != engine.FromOption:
		case defaults[v.Key] == v.Value:
			v.From, v.Key = engine.FromDefault, ""
		case optionKeys[v.Key] != "":
			v.Key = optionKeys[v.Key]
		}
		out = append(out, v)
	}
	return out
}
