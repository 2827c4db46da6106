package engine_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// shelf is a cache without eviction.
type shelf struct {
	mu    sync.Mutex
	forms map[string]*form.Form
	hits  int
}

// Form returns a cached form, or adds it.
func (s *shelf) Form(key string, compile func() *form.Form) *form.Form {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.forms[key]; f != nil {
		s.hits++
		return f
	}
	if s.forms == nil {
		s.forms = map[string]*form.Form{}
	}
	s.forms[key] = compile()
	return s.forms[key]
}

// spoil changes every node below n.
func spoil(n *tree.Node) {
	if n == nil {
		return
	}
	for i := range n.Fields {
		spoil(n.Fields[i].Value)
		n.Fields[i].Key += "!"
	}
	for _, it := range n.Items {
		spoil(it)
	}
	n.Text += "!"
	n.Items = append(n.Items[:len(n.Items):len(n.Items)], tree.Str("spoilt"))
}

// TestForms transforms with a cache and a hook that changes every node of its
// entities: later results are the same as without a cache.
func TestForms(t *testing.T) {
	inputs := map[string]engine.Input{
		"portal":   surrounded(t, words.Portal, plain()...),
		"upstream": surrounded(t, words.Upstream, plain()...),
		"rich":     {Definition: definition(t, rich(t))},
		"large":    {Definition: definition(t, sample.Definition(0))},
	}
	spoiler := engine.Hooks{PostProcess: func(es []*entity.Entity) ([]*entity.Entity, error) {
		for _, e := range es {
			spoil(e.Spec)
		}
		return es, nil
	}}
	for name, in := range inputs {
		for _, p := range engine.Profiles {
			t.Run(name+" "+p.Name, func(t *testing.T) {
				opts := engine.Options{GitOps: true}
				text := func(h engine.Hooks) (string, []string) {
					res, err := engine.New(p, opts, h).Transform(in)
					if err != nil {
						t.Fatal(err)
					}
					return string(entity.YAMLDocuments(res.Entities)), rules(res.Findings)
				}
				want, wantRules := text(engine.Hooks{})
				cache := &shelf{}
				opts.Forms = cache
				for i, h := range []engine.Hooks{{}, spoiler, {}, spoiler, {}} {
					got, gotRules := text(h)
					if h.PostProcess != nil {
						continue
					}
					if diff := cmp.Diff(want, got) + cmp.Diff(wantRules, gotRules); diff != "" {
						t.Fatalf("run %d with a cache differs (-without +with):\n%s", i, diff)
					}
				}
				if cache.hits != 4*len(cache.forms) || cache.hits == 0 {
					t.Errorf("%d forms were found %d times in five runs", len(cache.forms), cache.hits)
				}
			})
		}
	}
}

// TestFormKey changes everything that a form depends on: the cached form must
// not be found.
func TestFormKey(t *testing.T) {
	type given struct {
		edits []edit
		opts  engine.Options
		names []string
	}
	plain := given{names: []string{"a", "b"}}
	cases := map[string]struct {
		reason string
		given  given
		hit    bool
	}{
		"same":         {"The same input is found.", plain, true},
		"owner":        {"The owner is on the Template, not in its form.", given{names: plain.names, opts: engine.Options{Owner: "x", Tags: []string{"x"}, Now: found}}, true},
		"schema":       {"Another schema needs another form.", given{names: plain.names, edits: []edit{versions(version("v1", schemaOf("integer", "properties", "spec", "properties", "size", "type")))}}, false},
		"version":      {"Another version needs another form.", given{names: plain.names, edits: []edit{versions(version("v2"))}}, false},
		"group":        {"Another group needs another form.", given{names: plain.names, edits: []edit{set("data.io", "spec", "group")}}, false},
		"scope":        {"Another scope needs another form.", given{names: plain.names, edits: []edit{set("Cluster", "spec", "scope")}}, false},
		"claim":        {"A claim needs another form.", given{names: plain.names, edits: []edit{claimed("Claim", "claims")}}, false},
		"default":      {"Another default Composition needs another form.", given{names: plain.names, edits: []edit{set("a", "spec", "defaultCompositionRef", "name")}}, false},
		"namespace":    {"Another default namespace needs another form.", given{names: plain.names, opts: engine.Options{ResourceNamespace: "x"}}, false},
		"delivery":     {"A delivery page needs another form.", given{names: plain.names, opts: engine.Options{GitOps: true}}, false},
		"stock":        {"A form for Backstage is another form.", given{names: plain.names, opts: engine.Options{Stock: form.GitHub}}, false},
		"compositions": {"Other Compositions need another form.", given{names: []string{"a", "c"}}, false},
		"details":      {"A form without Composition details is another form.", given{names: plain.names, opts: engine.Options{NoCompositionDetails: true}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cache := &shelf{}
			run := func(g given) {
				in := engine.Input{Definition: define(t, words.Portal, g.edits...), Compositions: compositions(t, g.names...)}
				g.opts.Forms = cache
				transform(t, engine.CLI, g.opts, in)
			}
			run(plain)
			run(tc.given)
			if (cache.hits == 1) != tc.hit {
				t.Errorf("%s\nfound %d times in %d forms", tc.reason, cache.hits, len(cache.forms))
			}
		})
	}
}

// TestFormFingerprint checks that a given fingerprint identifies the
// definition, but not a definition that a hook made from it.
func TestFormFingerprint(t *testing.T) {
	cache := &shelf{}
	d := define(t, words.Portal)
	in := engine.Input{Definition: d, Fingerprint: "one"}
	run := func(in engine.Input, h engine.Hooks) {
		t.Helper()
		if _, err := engine.New(engine.CLI, engine.Options{Forms: cache}, h).Transform(in); err != nil {
			t.Fatal(err)
		}
	}
	run(in, engine.Hooks{})
	run(engine.Input{Definition: define(t, words.Portal), Fingerprint: "one"}, engine.Hooks{})
	if cache.hits != 1 {
		t.Errorf("one fingerprint found %d forms, want 1", cache.hits)
	}
	other := *d
	other.Group = "data.io"
	run(in, engine.Hooks{PreProcess: func(*xrd.Definition) (*xrd.Definition, error) { return &other, nil }})
	if cache.hits != 1 {
		t.Error("definition from a hook got the form of the original one")
	}
}

// BenchmarkForms is BenchmarkTransform with the form compiled, and with a
// cached form under a computed or a given fingerprint.
func BenchmarkForms(b *testing.B) {
	d := definition(b, sample.Definition(0))
	for name, bench := range map[string]struct {
		cache engine.FormCache
		in    engine.Input
	}{
		"compiled":    {nil, engine.Input{Definition: d}},
		"remembered":  {&shelf{}, engine.Input{Definition: d}},
		"fingerprint": {&shelf{}, engine.Input{Definition: d, Fingerprint: "one"}},
	} {
		b.Run(name, func(b *testing.B) {
			e := engine.New(engine.CLI, engine.Options{NoAPI: true, Forms: bench.cache}, engine.Hooks{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Transform(bench.in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFingerprint computes the fingerprint of a definition with 61 leaf
// fields.
func BenchmarkFingerprint(b *testing.B) {
	in := engine.Input{Definition: definition(b, sample.Definition(0))}
	b.ReportAllocs()
	for b.Loop() {
		engine.Fingerprint(in)
	}
}
