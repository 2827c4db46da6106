package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// definition returns a valid definition.
func definition(name string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`---
apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata:
  name: %s
spec:
  group: %s
  names: {kind: X%s, plural: %s}
  claimNames: {kind: %s, plural: c%s}
  versions:
    - name: v1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          description: A thing.
          properties:
            spec:
              type: object
              properties:
                size: {type: string, description: How large it is.}
`, name, group, plural, plural, plural, plural)
}

func composition(name, kind string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: %s}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: %s}
  mode: Pipeline
  pipeline:
    - {step: render, functionRef: {name: f}}
`, name, kind)
}

func composite(name, kind string) string {
	return fmt.Sprintf("---\napiVersion: example.org/v1\nkind: %s\nmetadata: {name: %s, namespace: shop}\nspec: {}\n", kind, name)
}

// text returns a source of YAML documents.
func text(docs ...string) source.Source {
	return source.Func(func(context.Context) (*xrd.Set, error) {
		var set xrd.Set
		err := set.Read(strings.NewReader(strings.Join(docs, "")), xrd.Origin{File: "in.yaml"})
		return &set, err
	})
}

func newEngine(p engine.Profile, h engine.Hooks) *engine.Engine {
	return engine.New(p, engine.Options{}, h)
}

// collect is a sink in memory.
type collect struct {
	calls int
	got   []*entity.Entity
}

func (c *collect) Write(_ context.Context, es []*entity.Entity) error {
	c.calls++
	c.got = append(c.got, es...)
	return nil
}

func keys(es []*entity.Entity) []string {
	var out []string
	for _, e := range es {
		out = append(out, e.Key())
	}
	return out
}

// summarizeFindings returns a summary of findings, without remarks.
func summarizeFindings(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		if f.Severity > finding.Info {
			out = append(out, fmt.Sprintf("%s %s %s: %s", f.Rule, f.Severity, f.Object, f.Message))
		}
	}
	return out
}

func TestRun(t *testing.T) {
	type want struct {
		Entities     []string
		Told         []string
		Refused      []pipeline.Refusal
		Passed       []pipeline.Passed
		Compositions int
		Composites   int
	}
	cases := map[string]struct {
		reason string
		docs   []string
		opts   pipeline.Options
		want   want
	}{
		"Empty": {reason: "An empty input has an empty output."},
		"Sorted": {
			reason: "Entities are sorted by kind and name, whatever the order of the input.",
			docs:   []string{definition("bs.example.org"), definition("as.example.org")},
			want: want{Entities: []string{
				"template:default/as", "template:default/bs", "api:default/as-api", "api:default/bs-api", "resource:default/as-xrd", "resource:default/bs-xrd",
			}},
		},
		"Attached": {
			reason: "Compositions and composites, including claims, belong to their definition.",
			docs:   []string{composite("mine", "as"), composite("whole", "Xas"), composition("one", "Xas"), definition("as.example.org")},
			want: want{
				Entities: []string{
					"template:default/as", "api:default/as-api", "resource:default/as-xrd", "resource:default/mine-*", "resource:default/one-composition", "resource:default/whole-*",
				},
				Compositions: 1, Composites: 2,
			},
		},
		"Orphan": {
			reason: "A Composition of an unknown kind is skipped with a remark.",
			docs:   []string{definition("as.example.org"), composition("lost", "Unknown"), composite("stray", "Unknown")},
			want: want{
				Entities: []string{"template:default/as", "api:default/as-api", "resource:default/as-xrd"},
				Passed: []pipeline.Passed{
					{APIVersion: "apiextensions.crossplane.io/v1", Kind: "Composition", Count: 1, Why: "no definition in the input defines their kind"},
					{APIVersion: "example.org/v1", Kind: "Unknown", Count: 1},
				},
			},
		},
		"Refused": {
			reason: "The profile selects only labelled definitions, and skips what belongs to others.",
			docs:   []string{definition("as.example.org"), composition("one", "Xas"), composite("mine", "as")},
			opts:   pipeline.Options{Engine: newEngine(engine.ComposerIngestor, engine.Hooks{})},
			want: want{
				Refused: []pipeline.Refusal{{Name: "as.example.org", Why: `label openportal.dev/ingest: "true" is missing`}},
				Passed: []pipeline.Passed{
					{APIVersion: "apiextensions.crossplane.io/v1", Kind: "Composition", Count: 1, Why: "filtered out, or their definition is"},
					{APIVersion: "example.org/v1", Kind: "as", Count: 1, Why: "filtered out, or their definition is"},
				},
			},
		},
		"Filtered": {
			reason: "A filter limits the selected definitions.",
			docs:   []string{definition("as.example.org"), definition("bs.example.org")},
			opts:   pipeline.Options{Filter: xrd.Filter{Exclude: []string{"bs.example.org"}}},
			want: want{
				Entities: []string{"template:default/as", "api:default/as-api", "resource:default/as-xrd"},
				Refused:  []pipeline.Refusal{{Name: "bs.example.org", Why: `name "bs.example.org" is excluded`}},
			},
		},
		"Clash": {
			reason: "The later of two definitions with one short name gets its full name.",
			docs:   []string{definition("as.b.org"), definition("as.a.org")},
			want: want{
				Entities: []string{
					"template:default/as", "template:default/as.b.org", "api:default/as-api", "api:default/as.b.org-api", "resource:default/as-xrd", "resource:default/as.b.org-xrd",
				},
				Told: []string{`ENG005 warning as.b.org: short name "as" is already used by definition "as.a.org", so this one is named "as.b.org"`},
			},
		},
		"Surroundings": {
			reason: "The System is added on request.",
			docs:   []string{definition("as.example.org")},
			opts:   pipeline.Options{Surroundings: true},
			want: want{Entities: []string{
				"template:default/as", "api:default/as-api", "resource:default/as-xrd", "system:default/platform",
			}},
		},
		"Panic": {
			reason: "A definition that makes a Transformer panic is one finding, and the others are built.",
			docs:   []string{definition("as.example.org"), definition("bad.example.org"), definition("zs.example.org")},
			opts: pipeline.Options{Transformer: failing("bad.example.org", func() (engine.Result, error) {
				panic("a bug")
			})},
			want: want{
				Entities: []string{
					"template:default/as", "template:default/zs", "api:default/as-api", "api:default/zs-api", "resource:default/as-xrd", "resource:default/zs-xrd",
				},
				Told: []string{"ENG000 error bad.example.org: cannot transform the definition: a bug"},
			},
		},
		"TransformerError": {
			reason: "A definition whose Transformer returns an error is one finding.",
			docs:   []string{definition("as.example.org"), definition("bad.example.org")},
			opts: pipeline.Options{Transformer: failing("bad.example.org", func() (engine.Result, error) {
				return engine.Result{}, errors.New("no luck")
			})},
			want: want{
				Entities: []string{"template:default/as", "api:default/as-api", "resource:default/as-xrd"},
				Told:     []string{"ENG000 error bad.example.org: cannot transform the definition: no luck"},
			},
		},
		"PreHook": {
			reason: "The error of a hook is a finding about its definition.",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PreProcess: func(*xrd.Definition) (*xrd.Definition, error) {
				return nil, errors.New("not today")
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot pre-process definition "as.example.org": not today`}},
		},
		"PreHookNil": {
			reason: "A PreProcess hook that returns nothing is a finding.",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PreProcess: func(*xrd.Definition) (*xrd.Definition, error) {
				return nil, nil // This is the mistake under test.
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot pre-process definition "as.example.org": the hook returned no definition`}},
		},
		"PostHook": {
			reason: "A PostProcess hook that returns an error is a finding.",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func([]*entity.Entity) ([]*entity.Entity, error) {
				return nil, errors.New("full moon")
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot post-process the entities of "as.example.org": full moon`}},
		},
		"HookMakesInvalid": {
			reason: "An invalid entity is a finding and is not written.",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				for _, e := range es {
					if e.Kind == entity.KindAPI {
						e.Metadata.Name = "not a name"
					}
				}
				return es, nil
			}})},
			want: want{
				Entities: []string{"template:default/as", "resource:default/as-xrd"},
				Told:     []string{`ENT003 error api:default/not a name: name "not a name" is not allowed`},
			},
		},
		"HookMakesInvalidUnchecked": {
			reason: "Without validation an invalid entity is written.",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{SkipValidation: true, Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				es[1].Metadata.Name = "not a name"
				return es, nil
			}})},
			want: want{Entities: []string{"template:default/as", "api:default/not a name", "resource:default/as-xrd"}},
		},
		"DuplicateReference": {
			reason: "The first of two entities with one reference is written, and the other is a finding.",
			docs:   []string{definition("as.example.org"), definition("bs.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				es = es[:1]
				es[0].Metadata.Name = "Same"
				return es, nil
			}})},
			want: want{
				Entities: []string{"template:default/same"},
				Told:     []string{`ENT021 error template:default/same: entity template:default/same of definition "bs.example.org" skipped: definition "as.example.org" has an entity of that name`},
			},
		},
		"Twice": {
			reason: "Identical copies are merged.",
			docs: []string{
				definition("as.example.org"), composition("one", "Xas"), composite("mine", "as"),
				definition("as.example.org"), composition("one", "Xas"), composite("mine", "as"),
			},
			want: want{
				Entities: []string{
					"template:default/as", "api:default/as-api", "resource:default/as-xrd", "resource:default/mine-*", "resource:default/one-composition",
				},
				Compositions: 1, Composites: 1,
			},
		},
		"SameComposition": {
			reason: "Of two Compositions with one name one is used, and both are named in a finding.",
			docs:   []string{definition("as.example.org"), definition("bs.example.org"), composition("one", "Xas"), composition("one", "Xbs")},
			want: want{
				Entities: []string{
					"template:default/as", "template:default/bs", "api:default/as-api", "api:default/bs-api", "resource:default/as-xrd", "resource:default/bs-xrd", "resource:default/one-composition",
				},
				Told:         []string{`XRD003 warning one: duplicate Composition "one" with different content; using the one at in.yaml:46, ignoring the one at in.yaml:55`},
				Compositions: 1,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var to collect
			opts := tc.opts
			opts.Source, opts.Sink = text(tc.docs...), &to
			if opts.Engine == nil {
				opts.Engine = newEngine(engine.CLI, engine.Hooks{})
			}
			r, err := pipeline.Run(t.Context(), opts)
			if err != nil {
				t.Fatalf("%s\nRun returned %v", tc.reason, err)
			}
			got := want{keys(r.Entities), summarizeFindings(r.Findings), r.Refused, r.Passed, r.Compositions, r.Composites}
			// The names of composites end in a hash, which depends on the engine.
			for i, k := range got.Entities {
				for _, w := range tc.want.Entities {
					if prefix, ok := strings.CutSuffix(w, "*"); ok && strings.HasPrefix(k, prefix) {
						got.Entities[i] = w
					}
				}
			}
			if len(got.Passed) == 0 {
				got.Passed = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(keys(r.Entities), keys(to.got)); diff != "" {
				t.Errorf("%s\nentities of report (-) and sink (+):\n%s", tc.reason, diff)
			}
			if want := min(len(r.Entities), 1); to.calls != want {
				t.Errorf("%s\nsink was called %d times, want %d", tc.reason, to.calls, want)
			}
		})
	}
}

// failing returns an engine that fails on one definition.
func failing(name string, fail func() (engine.Result, error)) engine.Transformer {
	e := newEngine(engine.CLI, engine.Hooks{})
	return engine.TransformerFunc(func(in engine.Input) (engine.Result, error) {
		if in.Definition.Name == name {
			return fail()
		}
		return e.Transform(in)
	})
}
