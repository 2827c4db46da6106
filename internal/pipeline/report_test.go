package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/sink"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
	"example.dev/ingestor/xrd/lint"
)

// TestOrphanFinding checks that a Composition without a definition is reported
// with position and hint.
func TestOrphanFinding(t *testing.T) {
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: text(composition("lost", "Unknown")), Engine: newEngine(engine.CLI, engine.Hooks{}),
	})
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("findings are %v, error %v; want one", r.Findings, err)
	}
	f := r.Findings[0]
	if f.Rule != engine.RuleOrphan || f.Severity != finding.Info || f.Where() != "in.yaml:2:1" || f.Hint == "" {
		t.Errorf("finding is %+v", f)
	}
}

// TestFailurePlace checks that a failure has the position of its definition.
func TestFailurePlace(t *testing.T) {
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source:      text(definition("as.example.org"), definition("bad.example.org")),
		Engine:      newEngine(engine.CLI, engine.Hooks{}),
		Transformer: failing("bad.example.org", func() (engine.Result, error) { panic("a bug") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == pipeline.RuleInternal })
	if i < 0 || r.Findings[i].Where() != "in.yaml:24:1" || r.Findings[i].Hint == "" {
		t.Errorf("findings are %v", r.Findings)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("tape torn")
	var to collect
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: source.Func(func(ctx context.Context) (*xrd.Set, error) {
			set, _ := text(definition("as.example.org")).Read(ctx)
			return set, broken
		}),
		Engine: newEngine(engine.CLI, engine.Hooks{}), Sink: &to,
	})
	if err != nil || !errors.Is(r.ReadErr, broken) || len(to.got) != 3 {
		t.Errorf("%d entities were written, ReadErr is %v, error %v; want the readable ones and the error", len(to.got), r.ReadErr, err)
	}
}

func TestSinkError(t *testing.T) {
	full := errors.New("disk full")
	r, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: text(definition("as.example.org")), Engine: newEngine(engine.CLI, engine.Hooks{}),
		Sink: sink.Func(func(context.Context, []*entity.Entity) error { return full }),
	})
	if !errors.Is(err, full) || r == nil || len(r.Entities) != 3 {
		t.Errorf("run returned %v, %v; want the error of the sink with a report", r, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cases := map[string]struct {
		reason string
		opts   pipeline.Options
	}{
		"WhileReading": {"An incomplete set is not processed.", pipeline.Options{
			Source: source.Func(func(ctx context.Context) (*xrd.Set, error) {
				cancel()
				set, _ := text(definition("as.example.org")).Read(ctx)
				return set, ctx.Err()
			}),
		}},
		"WhileTransforming": {"Remaining definitions are not started.", pipeline.Options{
			Source: text(definition("as.example.org"), definition("bs.example.org")), Parallelism: 1,
			Progress: func(done, _ int) {
				if done > 1 {
					t.Error("definition was processed after the cancellation")
				}
				cancel()
			},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			var to collect
			opts := tc.opts
			opts.Engine, opts.Sink = newEngine(engine.CLI, engine.Hooks{}), &to
			_, err := pipeline.Run(ctx, opts)
			if !errors.Is(err, context.Canceled) || to.calls > 0 {
				t.Errorf("%s: error is %v, sink was called %d times", tc.reason, err, to.calls)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	var docs []string
	for i := range 20 {
		docs = append(docs, definition(fmt.Sprintf("d%02ds.example.org", i)))
	}
	for _, parallelism := range []int{0, 1, 3, 100} {
		var calls, last atomic.Int64
		_, err := pipeline.Run(t.Context(), pipeline.Options{
			Source: text(docs...), Engine: newEngine(engine.CLI, engine.Hooks{}), Parallelism: parallelism,
			Progress: func(done, total int) {
				calls.Add(1)
				if total != 20 {
					t.Errorf("total is %d, want 20", total)
				}
				if done == total {
					last.Store(int64(done))
				}
			},
		})
		if err != nil || calls.Load() != 20 || last.Load() != 20 {
			t.Errorf("parallelism %d: %d calls, the last is %d, error %v", parallelism, calls.Load(), last.Load(), err)
		}
	}
}

// TestParallelism checks that the output does not depend on the parallelism.
func TestParallelism(t *testing.T) {
	var docs []string
	for i := range 30 {
		docs = append(docs, definition(fmt.Sprintf("d%02ds.example.org", i)), composition(fmt.Sprintf("c%d", i), fmt.Sprintf("Xd%02ds", i)))
	}
	var first []byte
	for _, parallelism := range []int{1, 2, 8} {
		r, err := pipeline.Run(t.Context(), pipeline.Options{
			Source: text(docs...), Engine: newEngine(engine.CLI, engine.Hooks{}), Parallelism: parallelism, Surroundings: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := entity.YAMLDocuments(r.Entities)
		if first == nil {
			first = got
		}
		if !bytes.Equal(first, got) {
			t.Errorf("output with parallelism %d (-1 +%d):\n%s", parallelism, parallelism, cmp.Diff(string(first), string(got)))
		}
	}
}

// TestSurroundingWords checks that the System has the vocabulary of the
// definitions.
func TestSurroundingWords(t *testing.T) {
	own := strings.Replace(definition("bs.example.org"), "crossplane", "composer", 1)
	upstream := words.Upstream
	cases := map[string]struct {
		reason string
		docs   []string
		choice words.Choice
		want   string
	}{
		"Upstream": {"Upstream definitions have an upstream System.", []string{definition("as.example.org")}, words.Choice{}, "backstage.io/v1alpha1"},
		"Portal":   {"Definitions of the contract have a System of the contract.", []string{own}, words.Choice{}, "portal.io/v1alpha1"},
		"Chosen":   {"A selected vocabulary is used.", []string{own}, words.Choice{Fixed: &upstream}, "backstage.io/v1alpha1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := pipeline.Run(t.Context(), pipeline.Options{
				Source: text(tc.docs...), Engine: engine.New(engine.CLI, engine.Options{Words: tc.choice}, engine.Hooks{}), Surroundings: true, Words: tc.choice,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range r.Entities {
				if e.Kind == entity.KindSystem && e.APIVersion != tc.want {
					t.Errorf("%s: System has %s, want %s", tc.reason, e.APIVersion, tc.want)
				}
			}
		})
	}
}

// TestSources checks that the report has the sources of values.
func TestSources(t *testing.T) {
	r, err := pipeline.Run(t.Context(), pipeline.Options{Source: text(definition("as.example.org")), Engine: newEngine(engine.CLI, engine.Hooks{})})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Source{Field: "owner", Value: "platform-team", From: engine.FromDefault}
	if !slices.Contains(r.Sources["as.example.org"], want) {
		t.Errorf("sources are %v, want %v among them", r.Sources["as.example.org"], want)
	}
}

func TestLog(t *testing.T) {
	var log bytes.Buffer
	_, err := pipeline.Run(t.Context(), pipeline.Options{
		Source: text(definition("as.example.org")), Engine: newEngine(engine.CLI, engine.Hooks{}), Sink: &collect{},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil || !strings.Contains(log.String(), "msg=read documents=1") || !strings.Contains(log.String(), "msg=write entities=3") {
		t.Errorf("error is %v, log is\n%s", err, log.String())
	}
}

// TestInputUntouched checks that a run does not change its input, which a
// service keeps.
func TestInputUntouched(t *testing.T) {
	var set xrd.Set
	docs := definition("as.example.org") + composition("one", "Xas") + composite("mine", "as")
	if err := set.Read(strings.NewReader(docs), xrd.Origin{File: "in.yaml"}); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	before := string(tree.AppendCanonical(nil, set.Definitions[0].Node))
	for range 2 {
		_, err := pipeline.Run(t.Context(), pipeline.Options{
			Source: source.Func(func(context.Context) (*xrd.Set, error) { return &set, nil }), Engine: newEngine(engine.CLI, engine.Hooks{}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, string(tree.AppendCanonical(nil, set.Definitions[0].Node))); diff != "" {
		t.Errorf("run changed its input (-before +after):\n%s", diff)
	}
	if len(set.Definitions) != 1 || len(set.Compositions) != 1 || len(set.Others) != 1 {
		t.Errorf("set has %d definitions, %d Compositions, %d others after the run", len(set.Definitions), len(set.Compositions), len(set.Others))
	}
}

// TestOutcomes checks that each definition has its own findings, that the report
// has them all, and that required labels can be ignored.
func TestOutcomes(t *testing.T) {
	bad := strings.Replace(definition("bad.example.org"), "served: true", "served: false", 1)
	src := text(definition("as.example.org"), bad)
	opts := pipeline.Options{Source: src, Engine: newEngine(engine.ComposerIngestor, engine.Hooks{})}
	r, err := pipeline.Run(t.Context(), opts)
	if err != nil || len(r.Outcomes) != 0 || len(r.Refused) != 2 {
		t.Fatalf("run with required labels has %d outcomes, %d refused, error %v", len(r.Outcomes), len(r.Refused), err)
	}
	opts.Fallback = func(*xrd.Definition) bool { return true }
	if r, err = pipeline.Run(t.Context(), opts); err != nil || len(r.Outcomes) != 2 || len(r.Refused) != 0 {
		t.Fatalf("run without required labels has %d outcomes, %d refused, error %v", len(r.Outcomes), len(r.Refused), err)
	}
	for i, want := range []struct {
		name     string
		unserved bool
	}{{"as.example.org", false}, {"bad.example.org", true}} {
		got := r.Outcomes[i]
		unserved := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Rule == lint.RuleNoServed })
		label := slices.ContainsFunc(got.Findings, func(f finding.Finding) bool { return f.Rule == lint.RuleRequiredLabel })
		if got.Name != want.name || unserved != want.unserved || !label {
			t.Errorf("outcome %d is %q with %v", i, got.Name, got.Findings)
		}
		for _, f := range got.Findings {
			if !slices.Contains(r.Findings, f) {
				t.Errorf("report lacks %v", f)
			}
		}
	}
	opts.Fallback = func(d *xrd.Definition) bool { return d.Name != "bad.example.org" }
	if r, err = pipeline.Run(t.Context(), opts); err != nil || len(r.Outcomes) != 1 || len(r.Refused) != 1 {
		t.Errorf("run with a fallback has %d outcomes, %d refused, error %v", len(r.Outcomes), len(r.Refused), err)
	}
}
