package engine_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

const templateVersion = "scaffolder.portal.io/template-version"

// TestHookWithUnsafeLink checks that unsafe links from a hook are dropped.
func TestHookWithUnsafeLink(t *testing.T) {
	hook := func(es []*entity.Entity) ([]*entity.Entity, error) {
		es[0].Metadata.Links = []entity.Link{{URL: "javascript:alert(1)"}, {URL: "https://example.com"}}
		return es, nil
	}
	res, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{PostProcess: hook}).Transform(engine.Input{Definition: define(t, words.Portal)})
	if err != nil || len(res.Entities) != 3 || len(res.Entities[0].Metadata.Links) != 1 {
		t.Fatalf("got %q, %v", list(res.Entities), err)
	}
	if n := len(res.Findings); n != 1 || res.Findings[0].Rule != entity.RuleDroppedURL {
		t.Errorf("findings are %v", res.Findings)
	}
}

func TestPreProcess(t *testing.T) {
	broken := errors.New("no such team")
	replacement := define(t, words.Upstream, named("queues.platform.io"), set("Queue", "spec", "names", "kind"))
	cases := map[string]struct {
		reason string
		hook   func(*xrd.Definition) (*xrd.Definition, error)
		want   []string
		err    string
		is     error
	}{
		"as it is": {
			reason: "A hook can return the definition unchanged.",
			hook:   func(d *xrd.Definition) (*xrd.Definition, error) { return d, nil },
			want:   []string{"Template databases", "API databases-api", "Resource databases-xrd"},
		},
		"replaced": {
			reason: "A hook can return another definition, in another vocabulary.",
			hook:   func(*xrd.Definition) (*xrd.Definition, error) { return replacement, nil },
			want:   []string{"Template queues", "API queues-api", "Resource queues-xrd"},
		},
		"none": {
			reason: "A nil definition is an error that names the original.",
			hook:   func(*xrd.Definition) (*xrd.Definition, error) { return nil, nil },
			err:    `cannot pre-process definition "databases.platform.io": the hook returned no definition`,
		},
		"error": {
			reason: "An error is wrapped with the name of the definition.",
			hook:   func(*xrd.Definition) (*xrd.Definition, error) { return replacement, broken },
			err:    `cannot pre-process definition "databases.platform.io": no such team`, is: broken,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{PreProcess: tc.hook}).Transform(engine.Input{Definition: define(t, words.Portal)})
			failed(t, tc.reason, err, tc.err, tc.is)
			if diff := cmp.Diff(tc.want, list(res.Entities)); diff != "" && tc.err == "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if tc.err != "" && len(res.Entities) > 0 {
				t.Errorf("%s\nentities together with an error: %q", tc.reason, list(res.Entities))
			}
			if name == "replaced" && res.Entities[0].APIVersion != "scaffolder.backstage.io/v1beta3" {
				t.Errorf("%s\napiVersion of the Template is %q", tc.reason, res.Entities[0].APIVersion)
			}
		})
	}
}

// failed compares an error and its cause with the expected ones.
func failed(t *testing.T, reason string, err error, want string, is error) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want || is != nil && !errors.Is(err, is) {
		t.Errorf("%s\ngot error %q, want %q", reason, got, want)
	}
}

// TestPreProcessInput checks that a hook gets the definition itself.
func TestPreProcessInput(t *testing.T) {
	d := define(t, words.Portal)
	var given *xrd.Definition
	hooks := engine.Hooks{PreProcess: func(d *xrd.Definition) (*xrd.Definition, error) {
		given = d
		c := *d
		c.Annotations = map[string]string{"portal.io/owner": "hook"}
		return &c, nil
	}}
	res, err := engine.New(engine.CLI, engine.Options{Owner: "option"}, hooks).Transform(engine.Input{Definition: d})
	if err != nil || given != d {
		t.Fatalf("hook got %p, want %p; error %v", given, d, err)
	}
	if got := res.Entities[0].Spec.Get("owner").Str(); got != "hook" {
		t.Errorf("owner is %q, want that of the hook", got)
	}
	if d.Annotations != nil {
		t.Errorf("input definition has the annotations of the hook: %v", d.Annotations)
	}
}

func TestPostProcess(t *testing.T) {
	broken := errors.New("no")
	type entities = []*entity.Entity
	link := entity.Link{URL: "https://example.org"}
	cases := map[string]struct {
		reason string
		hook   func(entities) (entities, error)
		check  func(t *testing.T, es entities, reason string)
		want   []string
		err    string
		is     error
	}{
		"added": {
			reason: "A hook can add an entity in the portal vocabulary.",
			hook: func(es entities) (entities, error) {
				return append(es, &entity.Entity{
					APIVersion: "portal.io/v1alpha1", Kind: "Component", Metadata: entity.Metadata{Name: "extra", Annotations: map[string]string{"portal.io/cluster-id": "x"}, Tags: []string{"composer"}},
					Spec: tree.Obj(tree.F("type", tree.Str("composer-xr"))),
				}), nil
			},
			want: []string{"Template databases", "API databases-api", "Resource databases-xrd", "Component extra"},
			check: func(t *testing.T, es entities, reason string) {
				want := &entity.Entity{
					APIVersion: "backstage.io/v1alpha1", Kind: "Component", Metadata: entity.Metadata{Name: "extra", Annotations: map[string]string{"backstage.io/kubernetes-id": "x"}, Tags: []string{"crossplane"}},
					Spec: tree.Obj(tree.F("type", tree.Str("crossplane-xr"))),
				}
				if diff := cmp.Diff(want, es[3]); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", reason, diff)
				}
			},
		},
		"removed": {
			reason: "A hook can remove an entity.",
			hook:   func(es entities) (entities, error) { return es[:2], nil },
			want:   []string{"Template databases", "API databases-api"},
		},
		"all removed": {
			reason: "A hook can remove all entities.",
			hook:   func(entities) (entities, error) { return nil, nil },
			want:   []string{},
		},
		"changed": {
			reason: "A hook can change an entity.",
			hook: func(es entities) (entities, error) {
				es[0].Metadata.Links = append(es[0].Metadata.Links, link)
				es[0].Metadata.Labels = map[string]string{"example.dev/version": "2"}
				return es, nil
			},
			want: []string{"Template databases", "API databases-api", "Resource databases-xrd"},
			check: func(t *testing.T, es entities, reason string) {
				if diff := cmp.Diff([]entity.Link{link}, es[0].Metadata.Links); diff != "" {
					t.Errorf("%s\nlinks (-want +got):\n%s", reason, diff)
				}
				if diff := cmp.Diff(map[string]string{"openportal.dev/version": "2"}, es[0].Metadata.Labels); diff != "" {
					t.Errorf("%s\nlabels (-want +got):\n%s", reason, diff)
				}
			},
		},
		"a Template added": {
			reason: "A Template of a hook gets its version mark.",
			hook: func(entities) (entities, error) {
				return entities{{APIVersion: "scaffolder.portal.io/v1beta3", Kind: "Template", Metadata: entity.Metadata{Name: "own"}, Spec: tree.Obj()}}, nil
			},
			want: []string{"Template own"},
			check: func(t *testing.T, es entities, reason string) {
				want := map[string]string{in(words.Upstream, templateVersion): entity.ShortHash(tree.Obj())}
				if diff := cmp.Diff(want, es[0].Metadata.Annotations); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", reason, diff)
				}
			},
		},
		"error": {
			reason: "An error is wrapped with the name of the definition.",
			hook:   func(es entities) (entities, error) { return es, broken },
			err:    `cannot post-process the entities of "databases.platform.io": no`, is: broken,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{PostProcess: tc.hook}).Transform(engine.Input{Definition: define(t, words.Upstream)})
			failed(t, tc.reason, err, tc.err, tc.is)
			if tc.err != "" {
				if len(res.Entities) > 0 {
					t.Errorf("%s\nentities together with an error: %q", tc.reason, list(res.Entities))
				}
				return
			}
			if diff := cmp.Diff(tc.want, list(res.Entities)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if tc.check != nil {
				tc.check(t, res.Entities, tc.reason)
			}
		})
	}
}

// TestPostProcessWords checks that a hook sees the portal vocabulary,
// regardless of that of the definition and the output.
func TestPostProcessWords(t *testing.T) {
	for _, written := range vocabularies {
		for _, c := range []string{"auto", "portal", "upstream"} {
			var seen string
			hooks := engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
				seen = string(entity.YAMLDocuments(es))
				return es, nil
			}}
			if _, err := engine.New(engine.CLI, engine.Options{Words: choice(t, c), NoCompositionDetails: true}, hooks).Transform(surrounded(t, written, plain()...)); err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"backstage", "crossplane", "terasky", "openportal", "kubernetes"} {
				if strings.Contains(seen, word) {
					t.Errorf("written in %s, words %s: the hook sees %q", written, c, word)
				}
			}
			for _, word := range []string{"scaffolder.portal.io/v1beta3", "cluster:apply", "composer.vendor.io/xr-name", "example.dev/version", "portal.io/cluster-id"} {
				if !strings.Contains(seen, word) {
					t.Errorf("written in %s, words %s: the hook does not see %q", written, c, word)
				}
			}
		}
	}
}

// TestPostProcessVersion checks that the version mark is that of the form after
// the hook.
func TestPostProcessVersion(t *testing.T) {
	mark := func(hook func([]*entity.Entity) ([]*entity.Entity, error)) string {
		res, err := engine.New(engine.CLI, engine.Options{}, engine.Hooks{PostProcess: hook}).Transform(engine.Input{Definition: define(t, words.Portal)})
		if err != nil {
			t.Fatal(err)
		}
		e := first(t, res.Entities, entity.KindTemplate)
		if got := e.Metadata.Annotations[templateVersion]; got != entity.ShortHash(e.Spec) {
			t.Errorf("mark is %q, want that of the spec, %q", got, entity.ShortHash(e.Spec))
		}
		return e.Metadata.Annotations[templateVersion]
	}
	untouched := mark(nil)
	owner := mark(func(es []*entity.Entity) ([]*entity.Entity, error) {
		es[0].Spec.Set("owner", tree.Str("other"))
		return es, nil
	})
	forged := mark(func(es []*entity.Entity) ([]*entity.Entity, error) {
		es[0].Metadata.Annotations[templateVersion] = "00000000"
		es[0].Metadata.Title = "other"
		return es, nil
	})
	if untouched == owner || untouched != forged {
		t.Errorf("marks: unchanged %s, with another owner %s, with another title %s", untouched, owner, forged)
	}
}

// TestTransformer checks that the engine can be wrapped in a custom
// transformer.
func TestTransformer(t *testing.T) {
	var inner engine.Transformer = engine.New(engine.CLI, engine.Options{}, engine.Hooks{})
	var calls int
	var outer engine.Transformer = engine.TransformerFunc(func(in engine.Input) (engine.Result, error) {
		calls++
		res, err := inner.Transform(in)
		if err != nil {
			return res, err
		}
		for _, e := range res.Entities {
			if e.Kind == entity.KindTemplate {
				e.Spec.Set("presentation", tree.Obj())
				engine.Stamp(e)
			}
		}
		return res, nil
	})
	d := define(t, words.Portal)
	before, _ := inner.Transform(engine.Input{Definition: d})
	after, err := outer.Transform(engine.Input{Definition: d})
	if err != nil || calls != 1 {
		t.Fatalf("%d calls, error %v", calls, err)
	}
	one, two := before.Entities[0].Metadata.Annotations[templateVersion], after.Entities[0].Metadata.Annotations[templateVersion]
	if one == two || two != entity.ShortHash(after.Entities[0].Spec) {
		t.Errorf("mark is %s before and %s after", one, two)
	}
	valid(t, after.Entities)
	resource := after.Entities[2]
	had := maps.Clone(resource.Metadata.Annotations)
	if engine.Stamp(resource); !maps.Equal(had, resource.Metadata.Annotations) {
		t.Errorf("Resource was stamped: %v", resource.Metadata.Annotations)
	}
}

// TestStampOnce checks that a translated Template has one mark.
func TestStampOnce(t *testing.T) {
	e := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Upstream)}).Entities[0]
	e.Spec.Set("presentation", tree.Obj())
	engine.Stamp(e)
	if got, own := e.Metadata.Annotations[in(words.Upstream, templateVersion)], e.Metadata.Annotations[templateVersion]; got != entity.ShortHash(e.Spec) || own != "" {
		t.Errorf("mark is %q in the upstream and %q in the portal vocabulary, want %q and none", got, own, entity.ShortHash(e.Spec))
	}
}

// snapshot is everything in an input that a transformation could change.
func snapshot(input engine.Input) string {
	var b bytes.Buffer
	add := func(o *xrd.Object) {
		b.Write(tree.AppendJSON(nil, o.Node, ""))
		b.Write(tree.AppendCanonical(nil, tree.StrMap(o.Labels)))
		b.Write(tree.AppendCanonical(nil, tree.StrMap(o.Annotations)))
		b.WriteString(strings.Join([]string{o.APIVersion, o.Kind, o.Name, o.Namespace}, "\x00") + "\n")
	}
	add(&input.Definition.Object)
	for _, v := range append(input.Definition.Versions, input.Definition.Served...) {
		b.WriteString(v.Name)
		b.Write(tree.AppendJSON(nil, v.Schema, ""))
	}
	for _, c := range input.Compositions {
		add(&c.Object)
	}
	for _, c := range input.Composites {
		add(&c.Object)
	}
	b.WriteString(strings.Join(input.Clusters, ","))
	return b.String()
}
