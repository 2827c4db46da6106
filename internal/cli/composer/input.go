package composer

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.dev/ingestor/internal/cli/flags"
	"example.dev/ingestor/internal/cli/output"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/internal/term"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/source"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// inputs are the values of --xrd: files, or definitions in clusters.
type inputs struct {
	given []string

	// fleet is the clusters that are read; nil for files.
	fleet *fleet
	// variants are the ingestors, and sources their sources, in the same order.
	variants []*variant
	sources  []source.Source
	// sets are the contents of the sources, if they were read ahead.
	sets []*xrd.Set
	// names are the requested definitions.
	names []string
	// chosen means that the service's filters select, because no definition was
	// named.
	chosen bool
}

func (in *inputs) bind(f *pflag.FlagSet) {
	f.StringArrayVar(&in.given, "xrd", nil, "`file` or directory of definitions, or - for standard input; with --cluster, --context or\n--kubeconfig the name of a definition. May be given several times")
}

// isFile reports whether a value of --xrd is a file and not the name of a
// definition.
func isFile(s string) bool {
	ext := filepath.Ext(s)
	return s == file.Stdin || strings.ContainsAny(s, `/\`) || ext == ".yaml" || ext == ".yml" || ext == ".json"
}

// open determines where the definitions come from. args are further values of
// --xrd, as a shell leaves them after expanding a pattern.
func (in *inputs) open(s *session, args []string) error {
	in.given = append(in.given, args...)
	if slices.Contains(in.given, "") {
		return flags.Usagef("check for an empty shell variable", "an input is the empty string")
	}
	// A kubeconfig has no effect with files, and selects clusters with names.
	if s.useClusters() || s.given["kubeconfig"] && !slices.ContainsFunc(in.given, isFile) {
		return in.openClusters(s)
	}
	if len(in.given) == 0 {
		return flags.Usagef("pass files or directories with --xrd, or - for standard input; or clusters with --cluster or --context", "no input given")
	}
	if err := s.configure(false); err != nil {
		return err
	}
	in.openFiles(s)
	return nil
}

// openFiles makes every running ingestor read the files.
func (in *inputs) openFiles(s *session) {
	from := s.files(in.given)
	var set *xrd.Set
	for i, v := range running(s.variants()) {
		in.variants = append(in.variants, v)
		in.sources = append(in.sources, source.Func(func(ctx context.Context) (_ *xrd.Set, err error) {
			if i == 0 {
				set, err = from.Read(ctx)
				return set, err
			}
			// Findings about the files were already reported by the first.
			return &xrd.Set{Definitions: set.Definitions, Compositions: set.Compositions, Others: set.Others}, nil
		}))
	}
}

// files returns a source of files.
func (s *session) files(paths []string) source.Source {
	return source.Func(func(ctx context.Context) (*xrd.Set, error) {
		s.ReadingFiles(paths, output.Named)
		progress := s.Progress("reading", "files")
		defer progress.Done()
		return file.New(paths, file.Options{Stdin: s.Env.Stdin, Progress: progress.Update, Skipped: func(path, why string) {
			if s.Detailed() {
				s.Sayf("skipped %s: %s", term.Safe(path), why)
			}
		}}).Read(ctx)
	})
}

func (in *inputs) openClusters(s *session) (err error) {
	if i := slices.IndexFunc(in.given, isFile); i >= 0 {
		return flags.Usagef("pass the name of a definition with --xrd, or remove --cluster and --context to read files", "cannot read %q from a cluster", in.given[i])
	}
	if in.fleet, err = s.connect(); err != nil {
		return err
	}
	in.names, in.chosen = in.given, len(in.given) == 0
	in.readClusters()
	return nil
}

// readClusters makes every ingestor read its clusters.
func (in *inputs) readClusters() {
	for _, v := range in.fleet.variants {
		read := cluster.ReadOptions{Names: in.names}
		if in.chosen {
			read.Labels = v.filter.Labels
		} else {
			// The user asked for definitions.
			v.workloads = false
		}
		in.variants = append(in.variants, v)
		in.sources = append(in.sources, in.fleet.source(v, read))
	}
}

// run runs the pipeline over the inputs, with parts as the ingestors. Named
// definitions are always taken; otherwise the service's filters select.
func (in *inputs) run(ctx context.Context, s *session, parts []pipeline.Part, to sink.Sink) (*pipeline.Report, error) {
	progress := s.Progress("transforming", "definitions")
	defer progress.Done()
	for i := range parts {
		parts[i].Progress, parts[i].Log = progress.Update, s.Logger()
		if !in.chosen {
			parts[i].Fallback = func(*xrd.Definition) bool { return true }
		}
	}
	return pipeline.RunParts(ctx, parts, to)
}

// parts returns the ingestors as parts of a run, with the settings of the service.
func (in *inputs) parts() []pipeline.Part {
	var out []pipeline.Part
	for i, v := range in.variants {
		out = append(out, v.part(in.sources[i]))
	}
	return out
}

// tell prints how the clusters were read, and what was omitted.
func (in *inputs) tell(s *session, r *pipeline.Report) {
	if in.fleet != nil {
		in.fleet.tell()
	}
	s.tellRefused(r)
}

// tellRefused prints how many definitions were not selected.
func (s *session) tellRefused(r *pipeline.Report) {
	if s.Quiet || len(r.Refused) == 0 || len(r.Definitions) == 0 {
		return
	}
	first := r.Refused[0]
	s.Sayf("%s not selected (%s: %s; see explain)", output.Count(len(r.Refused), "definition", "definitions"), term.Safe(first.Name), term.Safe(first.Why))
}

// ending returns what determines the exit code of a run over the inputs.
func (in *inputs) ending(r *pipeline.Report, strict bool) ending {
	e := ending{
		fleet: in.fleet, findings: r.Findings, strict: strict, absent: absent(in.names, r.Definitions), empty: len(r.Definitions)+r.Workloads == 0,
		why: func() string {
			if why := output.WhyNothing(r); why != "" {
				return why
			}
			return "the input contains no documents"
		},
	}
	if in.fleet == nil {
		e.unread = r.ReadErr
	}
	return e
}
