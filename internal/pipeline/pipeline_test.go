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

// definition returns a definition without faults.
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

// text is a source of YAML documents.
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

// collect is a sink that keeps what it is given.
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

// told lists findings that are more than remarks, in few words.
func told(fs []finding.Finding) []string {
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
		"Empty": {reason: "nothing in, nothing out"},
		"Sorted": {
			reason: "entities come by kind and name, whatever the order of the input",
			docs:   []string{definition("bs.example.org"), definition("as.example.org")},
			want: want{Entities: []string{
				"template:default/as", "template:default/bs", "api:default/as-api", "api:default/bs-api", "resource:default/as-xrd", "resource:default/bs-xrd",
			}},
		},
		"Attached": {
			reason: "Compositions and composites go with their definition, claims too",
			docs:   []string{composite("mine", "as"), composite("whole", "Xas"), composition("one", "Xas"), definition("as.example.org")},
			want: want{
				Entities: []string{
					"template:default/as", "api:default/as-api", "resource:default/as-xrd", "resource:default/mine-*", "resource:default/one-composition", "resource:default/whole-*",
				},
				Compositions: 1, Composites: 2,
			},
		},
		"Orphan": {
			reason: "a Composition whose kind nobody defines is passed over, with a reason",
			docs:   []string{definition("as.example.org"), composition("lost", "Nobody"), composite("stray", "Nobody")},
			want: want{
				Entities: []string{"template:default/as", "api:default/as-api", "resource:default/as-xrd"},
				Passed: []pipeline.Passed{
					{APIVersion: "apiextensions.crossplane.io/v1", Kind: "Composition", Count: 1, Why: "no definition in the input defines their kind"},
					{APIVersion: "example.org/v1", Kind: "Nobody", Count: 1},
				},
			},
		},
		"Refused": {
			reason: "the profile takes labelled definitions only; what belongs to the others goes with them",
			docs:   []string{definition("as.example.org"), composition("one", "Xas"), composite("mine", "as")},
			opts:   pipeline.Options{Engine: newEngine(engine.ComposerIngestor, engine.Hooks{})},
			want: want{
				Refused: []pipeline.Refusal{{Name: "as.example.org", Why: `it has no label openportal.dev/ingest: "true"`}},
				Passed: []pipeline.Passed{
					{APIVersion: "apiextensions.crossplane.io/v1", Kind: "Composition", Count: 1, Why: "their definition, or they themselves, are not selected"},
					{APIVersion: "example.org/v1", Kind: "as", Count: 1, Why: "their definition, or they themselves, are not selected"},
				},
			},
		},
		"Filtered": {
			reason: "a filter narrows what the profile takes",
			docs:   []string{definition("as.example.org"), definition("bs.example.org")},
			opts:   pipeline.Options{Filter: xrd.Filter{Exclude: []string{"bs.example.org"}}},
			want: want{
				Entities: []string{"template:default/as", "api:default/as-api", "resource:default/as-xrd"},
				Refused:  []pipeline.Refusal{{Name: "bs.example.org", Why: `its name "bs.example.org" is excluded`}},
			},
		},
		"Clash": {
			reason: "of two definitions with one short name the later gets its full name",
			docs:   []string{definition("as.b.org"), definition("as.a.org")},
			want: want{
				Entities: []string{
					"template:default/as", "template:default/as.b.org", "api:default/as-api", "api:default/as.b.org-api", "resource:default/as-xrd", "resource:default/as.b.org-xrd",
				},
				Told: []string{`ENG005 warning as.b.org: short name "as" belongs to definition "as.a.org" already, so this one is called "as.b.org"`},
			},
		},
		"Surroundings": {
			reason: "the System is added when asked for",
			docs:   []string{definition("as.example.org")},
			opts:   pipeline.Options{Surroundings: true},
			want: want{Entities: []string{
				"template:default/as", "api:default/as-api", "resource:default/as-xrd", "system:default/platform",
			}},
		},
		"Panic": {
			reason: "a definition that makes a Transformer fail is one finding; the others are worked on",
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
			reason: "so is one that returns an error",
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
			reason: "a hook's error is a finding about its definition",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PreProcess: func(*xrd.Definition) (*xrd.Definition, error) {
				return nil, errors.New("not today")
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot pre-process definition "as.example.org": not today`}},
		},
		"PreHookNil": {
			reason: "a hook that returns nothing is told so",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PreProcess: func(*xrd.Definition) (*xrd.Definition, error) {
				return nil, nil // The mistake under test.
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot pre-process definition "as.example.org": the hook returned none`}},
		},
		"PostHook": {
			reason: "after the entities are made, too",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func([]*entity.Entity) ([]*entity.Entity, error) {
				return nil, errors.New("full moon")
			}})},
			want: want{Told: []string{`ENG000 error as.example.org: cannot transform the definition: cannot post-process the entities of "as.example.org": full moon`}},
		},
		"HookMakesInvalid": {
			reason: "what the catalog would refuse is told and not handed on",
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
			reason: "unless nothing is to be checked",
			docs:   []string{definition("as.example.org")},
			opts: pipeline.Options{SkipValidation: true, Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				es[1].Metadata.Name = "not a name"
				return es, nil
			}})},
			want: want{Entities: []string{"template:default/as", "api:default/not a name", "resource:default/as-xrd"}},
		},
		"DuplicateReference": {
			reason: "of two entities with one reference the first definition's stays, and the other is told",
			docs:   []string{definition("as.example.org"), definition("bs.example.org")},
			opts: pipeline.Options{Engine: newEngine(engine.CLI, engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				es = es[:1]
				es[0].Metadata.Name = "Same"
				return es, nil
			}})},
			want: want{
				Entities: []string{"template:default/same"},
				Told:     []string{`ENT021 error template:default/same: entity template:default/same of definition "bs.example.org" is left out: definition "as.example.org" has one of that name`},
			},
		},
		"Twice": {
			reason: "what is given twice with the same content is one",
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
			reason: "two Compositions of one name cannot both have their Resource: one is used, and both are named",
			docs:   []string{definition("as.example.org"), definition("bs.example.org"), composition("one", "Xas"), composition("one", "Xbs")},
			want: want{
				Entities: []string{
					"template:default/as", "template:default/bs", "api:default/as-api", "api:default/bs-api", "resource:default/as-xrd", "resource:default/bs-xrd", "resource:default/one-composition",
				},
				Told:         []string{`XRD003 warning one: Composition "one" is given twice with different content; the one at in.yaml:46 is used, the one at in.yaml:55 is not`},
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
				t.Fatalf("%s\nRun: %v", tc.reason, err)
			}
			got := want{keys(r.Entities), told(r.Findings), r.Refused, r.Passed, r.Compositions, r.Composites}
			// The names of composites end in a hash, which is the engine's matter.
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
				t.Errorf("%s\nreport (-) and sink (+):\n%s", tc.reason, diff)
			}
			if want := min(len(r.Entities), 1); to.calls != want {
				t.Errorf("%s\nthe sink was called %d times, want %d", tc.reason, to.calls, want)
			}
		})
	}
}

// failing is an engine that fails on one definition.
func failing(name string, fail func() (engine.Result, error)) engine.Transformer {
	e := newEngine(engine.CLI, engine.Hooks{})
	return engine.TransformerFunc(func(in engine.Input) (engine.Result, error) {
		if in.Definition.Name == name {
			return fail()
		}
		return e.Transform(in)
	})
}
