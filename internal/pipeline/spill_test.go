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

// spilled is text whose trees go to a Spill.
func spilled(spill xrd.Spill, docs ...string) source.Source {
	return source.Func(func(context.Context) (*xrd.Set, error) {
		set := xrd.Set{Spill: spill}
		err := set.Read(strings.NewReader(strings.Join(docs, "")), xrd.Origin{File: "in.yaml"})
		return &set, err
	})
}

// several are documents of which everything can be made that a run makes: those
// given twice with the same content and with another, names that clash, even but
// for their case, Compositions and composites, and some that nobody defines.
func several() []string {
	described := strings.Replace(definition("as.example.org"), "A thing.", "Another thing.", 1)
	return []string{
		definition("as.example.org"), described, definition("bs.example.org"), definition("bs.example.org"),
		definition("as.other.org"), definition("AS.example.org"), definition("as"), strings.Replace(definition("zs.example.org"), "name: zs.example.org", "labels: {a: b}", 1),
		composition("one", "Xas"), strings.Replace(composition("one", "Xas"), "{name: f}", "{name: g}", 1), composition("lost", "Nobody"),
		composite("mine", "as"), strings.Replace(composite("mine", "as"), "shop", "mall", 1), strings.Replace(composite("mine", "as"), "spec: {}", "spec: {size: large}", 1), composite("whole", "Xas"), composite("stray", "Nobody"),
		strings.Replace(composite("ready", "Xas"), "spec: {}", "spec: {crossplane: {compositionRef: {name: one}}}\nstatus: {conditions: [{type: Ready, status: \"True\", reason: Available}], url: https://example.org}", 1),
		strings.Replace(composite("made", "as"), "name: made", "generateName: made-", 1),
		"---\njust text\n",
	}
}

// TestSpill makes the same of what is in memory and of what is in a file: entities,
// findings and all that the Report counts.
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
	want := run(t, pipeline.Options{Source: text(several()...)})
	for _, part := range []string{xrd.RuleConflict, engine.RuleClash, "kind: Template", "kind: System", "https://example.org"} {
		if !strings.Contains(want, part) {
			t.Errorf("the documents give no %s", part)
		}
	}
	for _, room := range []int{0, 100, 1_000_000} {
		spill := pipeline.NewSpill(room)
		got := run(t, pipeline.Options{Source: spilled(spill.Tree, several()...), Spill: spill})
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("with room for %d values something else is made (-memory +file):\n%s", room, diff)
		}
		if err := spill.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSpillFails has a run end with an error, and write nothing, when what it put
// away cannot be written or read.
func TestSpillFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		spill  func(t *testing.T, s *pipeline.Spill) xrd.Spill
		want   string
	}{
		"Write": {"there is no folder for the file", func(t *testing.T, s *pipeline.Spill) xrd.Spill {
			t.Setenv("TMPDIR", "/nowhere")
			return s.Tree
		}, "cannot use a temporary file: "},
		"Read": {"the file is gone when its trees are asked for", func(t *testing.T, s *pipeline.Spill) xrd.Spill {
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
				Source: spilled(tc.spill(t, spill), definition("as.example.org"), definition("bs.example.org")),
				Engine: newEngine(engine.CLI, engine.Hooks{}), Sink: to, Spill: spill,
			})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || to.calls > 0 {
				t.Errorf("%s: %v after %d writes, want %q", tc.reason, err, to.calls, tc.want)
			}
		})
	}
}

// TestSpilledEntity is read back with Whole, and cannot be written without.
func TestSpilledEntity(t *testing.T) {
	spill := pipeline.NewSpill(0)
	defer spill.Close() //nolint:errcheck // the test is over
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: spilled(spill.Tree, definition("as.example.org")), Engine: newEngine(engine.CLI, engine.Hooks{}), Spill: spill,
	})
	if err != nil || len(r.Entities) != 3 {
		t.Fatal(r.Entities, err)
	}
	e := r.Entities[0]
	whole, err := e.Whole()
	if err != nil || whole.Key() != e.Key() || whole.Spec.Get("parameters").Len() == 0 {
		t.Errorf("%s is read back as %v, %v", e.Key(), whole, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an entity of which the rest is in a file was written without it")
		}
	}()
	entity.AppendYAML(nil, e)
}
