package composer

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/voice"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

var explainForms = []string{asText, asJSON}

func newExplain(c *common) *cobra.Command {
	var given []string
	var output string
	cmd := &cobra.Command{
		Use:   "explain --xrd NAME|FILE [options]",
		Short: "Say why the service takes a definition or not, and what it makes of it",
		Long: `Says of one definition where it was found, which filters of the service take or
refuse it, where every value of its entities comes from, and which entities
there are. A value with a path separator, one that ends in .yaml, .yml or .json,
and - are files; anything else is the name of a definition in the clusters.`,
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
	f.StringVarP(&output, "output", "o", asText, "`form` of the result: "+strings.Join(explainForms, ", "))
	flags.Complete(cmd, map[string][]string{"output": explainForms})
	return cmd
}

func (s *session) explain(ctx context.Context, given []string, output string) error {
	if err := oneOf("output", output, explainForms); err != nil {
		return err
	}
	if len(given) != 1 || given[0] == "" {
		return flags.Usagef("give one name or file with --xrd; see "+Name+" explain --help", "cannot explain %s", voice.Count(len(given), "definition", "definitions"))
	}
	in := &inputs{given: given}
	if err := in.openOne(s, given[0]); err != nil {
		return err
	}
	set, unread := in.source.Read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// What the service takes hides what it does not; of the rest it is shown
	// what would become of it.
	taken, refused, _ := xrd.Select(set.Definitions, s.selection().refusal)
	used := *set
	used.Definitions = slices.DeleteFunc(slices.Clone(set.Definitions), func(d *xrd.Definition) bool {
		return !s.selection().takes(d) && slices.ContainsFunc(taken, func(t *xrd.Definition) bool { return t.Name == d.Name })
	})
	in.source = source.Func(func(context.Context) (*xrd.Set, error) { return &used, unread })
	e := engine.New(engine.ComposerIngestor, s.engineOptions(engine.ComposerIngestor), engine.Hooks{})
	r, err := in.run(ctx, s, e, pipeline.Options{})
	if err != nil {
		return err
	}
	merged := slices.SortedStableFunc(slices.Values(append(taken, refused...)), func(a, b *xrd.Definition) int { return strings.Compare(a.Name, b.Name) })
	var all []*explanation
	for _, d := range merged {
		all = append(all, s.explanation(d, set, in.fleet, r))
	}
	if len(merged) == 0 && in.fleet != nil {
		all = append(all, in.fleet.notFound(given[0]))
	}
	if err := s.showExplanations(all, output); err != nil {
		return err
	}
	if in.fleet != nil {
		in.fleet.Fleet.Complain()
	}
	if err := s.Report(voice.Report{Findings: r.Findings}); err != nil {
		return err
	}
	return s.end(in.ending(r, false))
}

// openOne opens a file, or the clusters to look for a name in.
func (in *inputs) openOne(s *session, given string) (err error) {
	if isFile(given) {
		in.source = s.files(in.given)
		return s.configure(false)
	}
	if in.fleet, err = s.connect(); err != nil {
		return err
	}
	in.names = in.given
	in.source = in.fleet.source(cluster.ReadOptions{Names: in.names})
	return nil
}

func (s *session) showExplanations(all []*explanation, output string) error {
	if output == asJSON {
		items := tree.Arr()
		for _, x := range all {
			items.Items = append(items.Items, x.node())
		}
		return s.print(append(tree.AppendJSON(nil, tree.Obj(tree.F("definitions", items)), "  "), '\n'))
	}
	var b strings.Builder
	for _, x := range all {
		x.write(&b, s.Out())
	}
	return s.print([]byte(b.String()))
}

// optionKeys are where the configuration sets the engine's options.
var optionKeys = map[string]string{
	"owner":             config.SectionComposer + ".defaultOwner",
	"system":            config.SectionComposer + ".defaultSystem",
	"default-namespace": config.SectionComposer + ".templateGeneration.defaultNamespace",
}

// values returns where the values of a definition's entities came from. What
// the configuration does not set is the default, although it is handed on as
// if it were set.
func (s *session) values(sources []engine.Source) []engine.Source {
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
