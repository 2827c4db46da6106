package engine_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// belonging returns a Resource of a system.
func belonging(namespace, system string) *entity.Entity {
	e := &entity.Entity{Kind: entity.KindResource, Metadata: entity.Metadata{Name: "x", Namespace: namespace}, Spec: tree.Obj(tree.F("type", tree.Str("x")))}
	if system != "" {
		e.Spec.Set("system", tree.Str(system))
	}
	return e
}

func TestSurroundings(t *testing.T) {
	cases := map[string]struct {
		reason   string
		opts     engine.Options
		entities []*entity.Entity
		want     []string
	}{
		"none":           {"Without entities there is no System.", engine.Options{}, nil, nil},
		"no system":      {"A Template has no system.", engine.Options{}, []*entity.Entity{belonging("default", "")}, nil},
		"one each":       {"Each system is made once, in order of use.", engine.Options{}, []*entity.Entity{belonging("default", "b"), belonging("default", "a"), belonging("default", "b")}, []string{"system:default/b owner platform-team domain ", "system:default/a owner platform-team domain "}},
		"spellings":      {"Different spellings of a reference are one system.", engine.Options{}, []*entity.Entity{belonging("default", "a"), belonging("default", "default/a"), belonging("default", "system:default/A")}, []string{"system:default/a owner platform-team domain "}},
		"namespaces":     {"The namespace of a system is that of its reference, or that of the entity.", engine.Options{}, []*entity.Entity{belonging("one", "a"), belonging("two", "a"), belonging("one", "three/a")}, []string{"system:one/a owner group:default/platform-team domain ", "system:two/a owner group:default/platform-team domain ", "system:three/a owner group:default/platform-team domain "}},
		"invalid system": {"An invalid system is left out, and does not affect the others.", engine.Options{}, []*entity.Entity{belonging("default", "a b"), belonging("default", "a")}, []string{"system:default/a owner platform-team domain "}},
		"owner":          {"The owner is set by an option.", engine.Options{Owner: "group:default/team"}, []*entity.Entity{belonging("default", "a")}, []string{"system:default/a owner group:default/team domain "}},
		"invalid owner":  {"An owner that is not a reference is ignored.", engine.Options{Owner: "the team"}, []*entity.Entity{belonging("default", "a")}, []string{"system:default/a owner platform-team domain "}},
		"domain":         {"The Domain is last, and the Systems are in it.", engine.Options{Domain: "d", Owner: "o"}, []*entity.Entity{belonging("default", "a"), belonging("default", "b")}, []string{"system:default/a owner o domain d", "system:default/b owner o domain d", "domain:default/d owner o domain "}},
		"domain alone":   {"The Domain is made without a System too.", engine.Options{Domain: "d"}, nil, []string{"domain:default/d owner platform-team domain "}},
		"invalid domain": {"An invalid Domain is left out of the Systems too.", engine.Options{Domain: "the domain"}, []*entity.Entity{belonging("default", "a")}, []string{"system:default/a owner platform-team domain "}},
		"namespace":      {"The Domain is in the namespace of the entities.", engine.Options{Domain: "d", Namespace: "data"}, []*entity.Entity{belonging("data", "a")}, []string{"system:data/a owner platform-team domain d", "domain:data/d owner platform-team domain "}},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				around := engine.New(engine.CLI, tc.opts, engine.Hooks{}).Surroundings(tc.entities, "file:here", v)
				valid(t, around)
				var got []string
				for _, e := range around {
					got = append(got, e.Key()+" owner "+e.Spec.Get("owner").Str()+" domain "+e.Spec.Get("domain").Str())
					want := keysIn(v, map[string]string{"portal.io/source-location": "file:here", "portal.io/managed-by-location": "file:here", "portal.io/managed-by-origin-location": "file:here"})
					if diff := cmp.Diff(want, e.Metadata.Annotations); diff != "" {
						t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
					}
					if diff := cmp.Diff([]string{in(v, "composer"), in(v, "source:composer-ingestor")}, e.Metadata.Tags); diff != "" {
						t.Errorf("%s\ntags (-want +got):\n%s", tc.reason, diff)
					}
					if e.APIVersion != in(v, "portal.io/")+"v1alpha1" {
						t.Errorf("%s\napiVersion of %s is %q", tc.reason, e.Key(), e.APIVersion)
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestSurroundingsOfResult makes the Systems of entities that the engine made.
func TestSurroundingsOfResult(t *testing.T) {
	opts := engine.Options{Domain: "infra", Namespace: "Data Team", System: "stores"}
	e := engine.New(engine.CLI, opts, engine.Hooks{})
	var all []*entity.Entity
	for _, edits := range [][]edit{
		{named("a.io")}, {named("b.io"), annotated("portal.io/system", "queues")}, {named("c.io"), annotated("portal.io/system", "not a system")},
	} {
		res, err := e.Transform(engine.Input{Definition: define(t, words.Portal, edits...)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, res.Entities...)
	}
	around := e.Surroundings(all, "file:sample.yaml", words.Portal)
	if diff := cmp.Diff([]string{"System stores", "System queues", "Domain infra"}, list(around)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all = append(all, around...)
	valid(t, all)
	there := map[string]bool{}
	for _, x := range all {
		there[x.Key()] = true
	}
	for _, x := range all {
		for kind, field := range map[string]string{entity.KindSystem: "system", entity.KindDomain: "domain"} {
			name := x.Spec.Get(field).Str()
			if name == "" {
				continue
			}
			r, err := entity.ParseRef(name, kind, x.Metadata.Namespace)
			if err != nil || !there[r.String()] {
				t.Errorf("%s refers to %s %q, which does not exist: %q", x.Key(), field, name, slices.Sorted(maps.Keys(there)))
			}
		}
	}
}
