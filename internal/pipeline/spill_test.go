package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/sink/stream"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// spilledSource returns text whose trees are written to a Spill.
func spilledSource(spill xrd.Spill, docs ...string) source.Source {
	return source.Func(func(context.Context) (*xrd.Set, error) {
		set := xrd.Set{Spill: spill}
		err := set.Read(strings.NewReader(strings.Join(docs, "")), xrd.Origin{File: "in.yaml"})
		return &set, err
	})
}

// mixedDocuments returns documents that cover all results of a run: copies with the
// same and with different content, name conflicts, also by case, Compositions
// and composites, and some of unknown kinds.
func mixedDocuments() []string {
	described := strings.Replace(definition("as.example.org"), "A thing.", "Another thing.", 1)
	return []string{
		definition("as.example.org"), described, definition("bs.example.org"), definition("bs.example.org"),
		definition("as.other.org"), definition("AS.example.org"), definition("as"), strings.Replace(definition("zs.example.org"), "name: zs.example.org", "labels: {a: b}", 1),
		composition("one", "Xas"), strings.Replace(composition("one", "Xas"), "{name: f}", "{name: g}", 1), composition("lost", "Unknown"),
		composite("mine", "as"), strings.Replace(composite("mine", "as"), "shop", "mall", 1), strings.Replace(composite("mine", "as"), "spec: {}", "spec: {size: large}", 1), composite("whole", "Xas"), composite("stray", "Unknown"),
		strings.Replace(composite("ready", "Xas"), "spec: {}", "spec: {crossplane: {compositionRef: {name: one}}}\nstatus: {conditions: [{type: Ready, status: \"True\", reason: Available}], url: https://example.org}", 1),
		strings.Replace(composite("made", "as"), "name: made", "generateName: made-", 1),
		"---\njust text\n",
	}
}

// TestSpill compares a run in memory with one that uses a file: entities,
// findings and all counts of the Report.
func TestSpill(t *testing.T) {
	run := func(t *testing.T, opts pipeline.Options) string {
		t.Helper()
		var out bytes.Buffer
		opts.Engine, opts.Sink, opts.Surroundings = newEngine(engine.CLI, engine.Hooks{}), stream.New(&out, 0), true
		r, err := pipeline.Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&out, "%+v\n", f)
		}
		fmt.Fprintf(&out, "%v %v %v %v %v\n", r.Definitions, r.Refused, r.Compositions, r.Composites, r.Passed)
		for _, e := range r.Entities {
			fmt.Fprintln(&out, e.Key())
		}
		return out.String()
	}
	want := run(t, pipeline.Options{Source: text(mixedDocuments()...)})
	for _, part := range []string{xrd.RuleConflict, engine.RuleClash, "kind: Template", "kind: System", "https://example.org"} {
		if !strings.Contains(want, part) {
			t.Errorf("documents give no %s", part)
		}
	}
	for _, room := range []int{0, 100, 1_000_000} {
		spill := pipeline.NewSpill(room)
		got := run(t, pipeline.Options{Source: spilledSource(spill.Tree, mixedDocuments()...), Spill: spill})
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("with room for %d values the output differs (-memory +file):\n%s", room, diff)
		}
		if err := spill.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSpillFails checks that a run fails and writes nothing if the temporary
// file cannot be written or read.
func TestSpillFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		spill  func(t *testing.T, s *pipeline.Spill) xrd.Spill
		want   string
	}{
		"Write": {"The folder of the temporary file is missing.", func(t *testing.T, s *pipeline.Spill) xrd.Spill {
			t.Setenv("TMPDIR", "/nowhere")
			return s.Tree
		}, "cannot use a temporary file: "},
		"Read": {"The temporary file is closed before its trees are read.", func(t *testing.T, s *pipeline.Spill) xrd.Spill {
			return func(n *tree.Node) func() *tree.Node {
				load := s.Tree(n)
				return func() *tree.Node {
					_ = s.Close()
					return load()
				}
			}
		}, "cannot use a temporary file: read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spill := pipeline.NewSpill(0)
			to := &collect{}
			_, err := pipeline.Run(t.Context(), pipeline.Options{
				Source: spilledSource(tc.spill(t, spill), definition("as.example.org"), definition("bs.example.org")),
				Engine: newEngine(engine.CLI, engine.Hooks{}), Sink: to, Spill: spill,
			})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || to.calls > 0 {
				t.Errorf("%s: run returned %v after %d writes, want %q", tc.reason, err, to.calls, tc.want)
			}
		})
	}
}

// TestSpilledEntity checks that a spilled entity is read with Whole, and cannot
// be written without.
func TestSpilledEntity(t *testing.T) {
	spill := pipeline.NewSpill(0)
	defer spill.Close() //nolint:errcheck // the test is over
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: spilledSource(spill.Tree, definition("as.example.org")), Engine: newEngine(engine.CLI, engine.Hooks{}), Spill: spill,
	})
	if err != nil || len(r.Entities) != 3 {
		t.Fatal(r.Entities, err)
	}
	e := r.Entities[0]
	whole, err := e.Whole()
	if err != nil || whole.Key() != e.Key() || whole.Spec.Get("parameters").Len() == 0 {
		t.Errorf("%s is read as %v, %v", e.Key(), whole, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("spilled entity was written incompletely")
		}
	}()
	entity.AppendYAML(nil, e)
}
