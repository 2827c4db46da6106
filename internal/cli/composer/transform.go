package composer

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/sink/dir"
	"example.dev/ingestor/sink/stream"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// transformOptions are the flags of transform.
type transformOptions struct {
	inputs
	flags.Entities
	output, formatName string
	stdout             bool
	format             sink.Format
}

func newTransform(c *common) *cobra.Command {
	o := &transformOptions{}
	cmd := &cobra.Command{
		Use:   "transform --xrd FILE... [options]",
		Short: "Write the entities of definitions to files",
		Long: `Writes the entities of each definition to template-<name>.yaml, api-<name>.yaml
and resource-<name>.yaml, the last with all Resources of the definition. Names
are short, as with ingestor-cli: databases for databases.platform.io.

With --cluster or --context the definitions are read from clusters: those that
--xrd names, or all that the configuration's xrdFilters select.`,
		Example: `  # Write three files for a definition
  composer-ingestor transform --xrd database.yaml --output out/

  # A definition as a cluster has it, to standard output
  composer-ingestor transform --context dev --xrd databases.platform.io --stdout`,
		RunE:              c.run(func(ctx context.Context, s *session, args []string) error { return s.transform(ctx, o, args) }),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: flags.CompleteFiles,
	}
	f := cmd.Flags()
	o.inputs.bind(f)
	f.StringVarP(&o.output, "output", "o", ".", "output `directory`")
	f.StringVarP(&o.formatName, "format", "f", "yaml", "`format` of the entities: yaml or json")
	f.BoolVar(&o.stdout, "stdout", false, "write to standard output: YAML documents, or one JSON object per line")
	o.Entities.Bind(f, "")
	flags.Complete(cmd, map[string][]string{"format": {"yaml", "json"}})
	return cmd
}

func (o *transformOptions) settle(s *session) (err error) {
	if o.format, err = sink.ParseFormat(o.formatName); err != nil {
		return flags.Usage(err, "--format yaml or --format json")
	}
	if err := flags.Together(s.given, "stdout", "output"); err != nil {
		return err
	}
	return o.Check()
}

// parts returns the ingestors, with flags overriding the configuration.
// Definitions from files and those that the first ingestor takes get the short
// names of ingestor-cli.
func (o *transformOptions) parts(s *session) []pipeline.Part {
	if o.fleet == nil {
		v := *o.variants[0]
		v.profile, v.filter, v.options = engine.CLI, xrd.Filter{}, o.settled(s.engineOptions(engine.CLI))
		return []pipeline.Part{v.part(o.sources[0])}
	}
	var out []pipeline.Part
	for i, v := range o.variants {
		v.options = o.settled(v.options)
		p := v.part(o.sources[i])
		if v.profile.Name == engine.ComposerIngestor.Name {
			p.Engine, p.Transformer = s.extension.Engine(engine.CLI, o.settled(s.engineOptions(engine.CLI)))
			p.Chooser = &v.profile
			// The label decides what the service takes; a user may ask for a definition
			// before it is set.
			p.Fallback = func(d *xrd.Definition) bool { ok, _ := v.filter.Admit(d); return ok }
		}
		out = append(out, p)
	}
	return out
}

// settled returns the options, overridden by the flags.
func (o *transformOptions) settled(e engine.Options) engine.Options {
	e.Namespace, e.Tags = o.Namespace, o.Tags
	if o.Owner != "" {
		e.Owner = o.Owner
	}
	if o.System != "" {
		e.System = o.System
	}
	return e
}

func (s *session) transform(ctx context.Context, o *transformOptions, args []string) error {
	if err := o.settle(s); err != nil {
		return err
	}
	if err := o.open(s, args); err != nil {
		return err
	}
	files := 0
	var to sink.Sink = stream.New(s.Env.Stdout, o.format)
	if !o.stdout {
		to = byDefinition(o.output, o.format, func(path string, n int) {
			files++
			if s.Detailed() {
				s.Sayf("wrote %s (%s)", term.Safe(path), output.Count(n, "entity", "entities"))
			}
		})
	}
	r, err := o.run(ctx, s, o.parts(s), to)
	if err != nil {
		return output.Failure(err)
	}
	o.tell(s, r)
	if err := s.Report(output.Report{Findings: r.Findings}); err != nil {
		return err
	}
	if len(r.Definitions)+r.Workloads > 0 && !s.Quiet {
		where := ""
		if !o.stdout {
			where = fmt.Sprintf(" in %s under %s", output.Count(files, "file", "files"), term.Safe(o.output))
		}
		s.Sayf("%s%s", output.Made(r), where)
	}
	return s.end(o.ending(r, false))
}

// byDefinition returns a sink that writes a file for each kind of each definition,
// named after the definition's Template.
func byDefinition(root string, format sink.Format, wrote func(path string, n int)) sink.Sink {
	return sink.Func(func(ctx context.Context, entities []*entity.Entity) error {
		names := definitionNames(entities)
		return dir.New(root, dir.Options{
			Format: format, Layout: dir.Named, Wrote: wrote,
			File: func(e *entity.Entity) string {
				name, ok := names[definitionOf(e)]
				if !ok {
					name = baseName(e)
				}
				return strings.ToLower(e.Kind) + "-" + name
			},
		}).Write(ctx, entities)
	})
}

// definitionOf returns the name of the definition from which an entity was made;
// empty if the definition has none.
func definitionOf(e *entity.Entity) string {
	return words.KeysIn(e.Metadata.Annotations)[words.AnnotationXRDName]
}

// definitionNames returns the name for the files of each definition: that of its
// Template or, if it has none or one for each version, that of its own Resource.
func definitionNames(entities []*entity.Entity) map[string]string {
	names, templates := map[string]string{}, map[string]int{}
	for _, e := range entities {
		if e.Kind == entity.KindTemplate {
			templates[definitionOf(e)]++
		}
	}
	for _, e := range entities {
		name := definitionOf(e)
		switch {
		case name == "":
		case e.Kind == entity.KindTemplate && templates[name] == 1:
			names[name] = e.Metadata.Name
		case e.Kind == entity.KindResource && names[name] == "" && words.In(words.Type, e.Spec.Get("type").Str()) == words.TypeXRD:
			names[name] = baseName(e)
		}
	}
	return names
}

// baseName returns an entity's name without the suffix for its kind.
func baseName(e *entity.Entity) string {
	return strings.TrimSuffix(strings.TrimSuffix(e.Metadata.Name, "-api"), "-xrd")
}
