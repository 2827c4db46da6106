package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// relations returns the relations of an entity on one line.
func relations(e *entity.Entity) string {
	join := func(key string) string { return strings.Join(e.Spec.Get(key).Strings(), " ") }
	return e.Spec.Get("type").Str() + "; dependsOn " + join("dependsOn") + "; implementsApi " + join("implementsApi")
}

func TestRelations(t *testing.T) {
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		opts    engine.Options
		want    map[string]string
	}{
		"cli": {
			reason: "A Composition depends on the definition and its API, a composite on its Composition.", profile: engine.CLI,
			want: map[string]string{
				"databases-xrd":        "composer-xrd; dependsOn ; implementsApi api:default/databases-api",
				"postgres-composition": "composer-composition; dependsOn resource:default/databases-xrd; implementsApi api:default/databases-api",
				"orders":               "composer-xr; dependsOn resource:default/postgres-composition; implementsApi ",
			},
		},
		"namespace": {
			reason: "References have the namespace of the entities.", profile: engine.CLI, opts: engine.Options{Namespace: "data"},
			want: map[string]string{
				"databases-xrd":        "composer-xrd; dependsOn ; implementsApi api:data/databases-api",
				"postgres-composition": "composer-composition; dependsOn resource:data/databases-xrd; implementsApi api:data/databases-api",
				"orders":               "composer-xr; dependsOn resource:data/postgres-composition; implementsApi ",
			},
		},
		"no API": {
			reason: "There is no reference to an API that is not generated.", profile: engine.CLI, opts: engine.Options{NoAPI: true},
			want: map[string]string{
				"databases-xrd":        "composer-xrd; dependsOn ; implementsApi ",
				"postgres-composition": "composer-composition; dependsOn resource:default/databases-xrd; implementsApi ",
				"orders":               "composer-xr; dependsOn resource:default/postgres-composition; implementsApi ",
			},
		},
		"composerIngestor": {
			reason: "References follow the names of the profile.", profile: engine.ComposerIngestor,
			want: map[string]string{
				"databases.platform.io-xrd": "composer-xrd; dependsOn ; implementsApi api:default/databases.platform.io-api",
				"postgres-composition":      "composer-composition; dependsOn resource:default/databases.platform.io-xrd; implementsApi api:default/databases.platform.io-api",
				"orders":                    "composer-xr; dependsOn resource:default/postgres-composition; implementsApi ",
			},
		},
		"clusterIngestor": {
			reason: "References follow the names of the profile.", profile: engine.ClusterIngestor,
			want: map[string]string{
				"databases.platform.io-xrd": "composer-xrd; dependsOn ; implementsApi api:default/databases.platform.io-v1-api",
				"postgres-composition":      "composer-composition; dependsOn resource:default/databases.platform.io-xrd; implementsApi api:default/databases.platform.io-v1-api",
				"orders":                    "composer-xr; dependsOn resource:default/postgres-composition; implementsApi ",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := transform(t, tc.profile, tc.opts, surrounded(t, words.Portal))
			resolved(t, res.Entities)
			got := map[string]string{}
			for _, e := range res.Entities {
				if e.Kind == entity.KindResource {
					name, _, _ := strings.Cut(e.Metadata.Name, "orders-")
					if name == "" {
						name = "orders"
					}
					got[name] = relations(e)
				}
				if e.Kind == entity.KindAPI && tc.opts.NoAPI {
					t.Errorf("%s\nAPI was generated", tc.reason)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// resolved fails the test if an entity refers to one that was not made.
func resolved(t *testing.T, es []*entity.Entity) {
	t.Helper()
	there := map[string]bool{}
	for _, e := range es {
		there[e.Key()] = true
	}
	for _, e := range es {
		for _, ref := range slices.Concat(e.Spec.Get("dependsOn").Strings(), e.Spec.Get("implementsApi").Strings()) {
			if !there[strings.ToLower(ref)] {
				t.Errorf("%s refers to %s, which does not exist", e.Key(), ref)
			}
		}
	}
}

// TestUsedComposition checks on which Composition a composite depends.
func TestUsedComposition(t *testing.T) {
	uses := func(name string) edit { return set(object{"name": name}, "spec", "compositionRef") }
	usesModern := func(name string) edit { return set(object{"name": name}, "spec", "crossplane", "compositionRef") }
	enforced := set(object{"name": "mysql"}, "spec", "enforcedCompositionRef")
	byDefault := set(object{"name": "mysql"}, "spec", "defaultCompositionRef")
	const definition = "databases-xrd"
	cases := map[string]struct {
		reason       string
		definition   []edit
		composite    []edit
		compositions []string
		untracked    map[string]bool
		want         string
		annotation   string
	}{
		"named":           {"A named Composition is used.", nil, []edit{uses("postgres")}, []string{"mysql", "postgres"}, nil, "postgres-composition", "postgres"},
		"named, modern":   {"A Composition named in the field of v2 composites is used.", nil, []edit{usesModern("postgres")}, []string{"mysql", "postgres"}, nil, "postgres-composition", "postgres"},
		"named, default":  {"A named Composition overrides the default.", []edit{byDefault}, []edit{uses("postgres")}, []string{"mysql", "postgres"}, nil, "postgres-composition", "postgres"},
		"enforced":        {"An enforced Composition overrides a named one.", []edit{enforced}, []edit{uses("postgres")}, []string{"mysql", "postgres"}, nil, "mysql-composition", "mysql"},
		"default":         {"The default is used if no Composition is named.", []edit{byDefault}, nil, []string{"mysql", "postgres"}, nil, "mysql-composition", "mysql"},
		"only one":        {"The only Composition is used.", nil, nil, []string{"postgres"}, nil, "postgres-composition", "postgres"},
		"several":         {"With several compositions and no selection there is no relation to one of them.", nil, nil, []string{"mysql", "postgres"}, nil, definition, ""},
		"none":            {"Without Compositions the composite depends on the definition.", nil, nil, nil, nil, definition, ""},
		"not there":       {"A missing Composition gets no relation, only an annotation.", nil, []edit{uses("oracle")}, []string{"postgres"}, nil, definition, "oracle"},
		"untracked":       {"An untracked Composition gets no relation, only an annotation.", nil, []edit{uses("postgres")}, []string{"mysql", "postgres"}, map[string]bool{"postgres": true}, definition, "postgres"},
		"untracked other": {"An untracked Composition still counts as a choice.", nil, nil, []string{"mysql", "postgres"}, map[string]bool{"mysql": true}, definition, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := engine.Input{Definition: define(t, words.Portal, tc.definition...), Untracked: tc.untracked}
			for _, c := range tc.compositions {
				give(t, words.Portal, &input, xrd.Origin{File: "c.yaml"}, composition(c))
			}
			give(t, words.Portal, &input, xrd.Origin{File: "xr.yaml"}, composite("shop", "orders", tc.composite...))
			res := transform(t, engine.CLI, engine.Options{}, input)
			resolved(t, res.Entities)
			xr := res.Entities[len(res.Entities)-1]
			if diff := cmp.Diff([]string{"resource:default/" + tc.want}, xr.Spec.Get("dependsOn").Strings()); diff != "" {
				t.Errorf("%s\ndependsOn (-want +got):\n%s", tc.reason, diff)
			}
			if got := xr.Metadata.Annotations["composer.io/composition-ref"]; got != tc.annotation {
				t.Errorf("%s\ncomposition-ref is %q, want %q", tc.reason, got, tc.annotation)
			}
		})
	}
}

// TestUntracked checks that an untracked Composition is left out of the
// catalog, but not of the form.
func TestUntracked(t *testing.T) {
	input := engine.Input{Definition: define(t, words.Portal), Untracked: map[string]bool{"postgres": true}}
	give(t, words.Portal, &input, xrd.Origin{File: "c.yaml"}, composition("postgres"), composition("mysql"),
		composition("other", set("Queue", "spec", "compositeTypeRef", "kind")),
		composition("elsewhere", set("elsewhere.io/v1", "spec", "compositeTypeRef", "apiVersion")))
	res := transform(t, engine.CLI, engine.Options{}, input)
	if diff := cmp.Diff([]string{"Template databases", "API databases-api", "Resource databases-xrd", "Resource mysql-composition"}, list(res.Entities)); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	template := first(t, res.Entities, entity.KindTemplate)
	if diff := cmp.Diff([]string{"mysql", "postgres"}, page(template, 2, "properties", "composition", "enum").Strings()); diff != "" {
		t.Errorf("choice (-want +got):\n%s", diff)
	}
	res = transform(t, engine.CLI, engine.Options{NoCompositionDetails: true}, input)
	if template = first(t, res.Entities, entity.KindTemplate); page(template, 2) != nil {
		t.Errorf("form has a choice of Composition, want none: %v", page(template, 2).Any())
	}
}

// TestCompositeNames checks that two composites never share a name.
func TestCompositeNames(t *testing.T) {
	claimKind := set("DatabaseClaim", "kind")
	cases := map[string]struct {
		reason        string
		oneAt, twoAt  string
		one, two      object
		wantSameNames bool
	}{
		"clusters":   {"The same composite in two clusters has two names.", "east", "west", composite("shop", "orders"), composite("shop", "orders"), false},
		"namespaces": {"The same name in two namespaces gives two names.", "east", "east", composite("shop", "orders"), composite("web", "orders"), false},
		"kinds":      {"A claim and its composite have different names.", "east", "east", composite("shop", "orders"), composite("shop", "orders", claimKind), false},
		"names":      {"Two composites have different names.", "east", "east", composite("shop", "orders"), composite("shop", "carts"), false},
		"case":       {"Names that differ only in case must not collide, because a catalog ignores case.", "east", "east", composite("shop", "orders"), composite("shop", "Orders"), false},
		"seams":      {"The boundary between namespace and name matters.", "east", "east", composite("shop-a", "b"), composite("shop", "a-b"), false},
		"long":       {"Long names that differ only at the end stay different.", "east", "east", composite("shop", strings.Repeat("n", 252)+"a"), composite("shop", strings.Repeat("n", 252)+"b"), false},
		"versions":   {"The version a composite is read with is not part of its name.", "east", "east", composite("shop", "orders"), composite("shop", "orders", set("platform.io/v2", "apiVersion")), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, claimed("DatabaseClaim", "databaseclaims"))
			xr := func(cluster string, o object) string {
				input := engine.Input{Definition: d}
				give(t, words.Portal, &input, xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, Location: "url:https://x"}, o)
				res := transform(t, engine.CLI, engine.Options{}, input)
				return res.Entities[len(res.Entities)-1].Key()
			}
			one, two := xr(tc.oneAt, tc.one), xr(tc.twoAt, tc.two)
			if (one == two) != tc.wantSameNames {
				t.Errorf("%s\n%q and %q", tc.reason, one, two)
			}
			if again := xr(tc.oneAt, tc.one); again != one {
				t.Errorf("%s\nfirst %q, then %q", tc.reason, one, again)
			}
		})
	}
}

func TestOwnersOfOthers(t *testing.T) {
	cases := map[string]struct {
		reason string
		edits  []edit
		want   string
	}{
		"own":    {"The annotation of a composite overrides that of the definition.", []edit{annotated("portal.io/owner", "group:shop/carts")}, "group:shop/carts"},
		"none":   {"Without an annotation the owner is that of the definition.", nil, "data"},
		"broken": {"A value that is not a reference is ignored.", []edit{annotated("portal.io/owner", "the cart people")}, "data"},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				input := engine.Input{Definition: define(t, v, annotated("portal.io/owner", "data"))}
				give(t, v, &input, xrd.Origin{File: "x.yaml"}, composition("postgres", tc.edits...), composite("shop", "orders", tc.edits...))
				res := transform(t, engine.CLI, engine.Options{Owner: "unknown"}, input)
				for _, e := range res.Entities[2:] {
					want := tc.want
					if strings.HasSuffix(e.Metadata.Name, "-xrd") {
						want = "data"
					}
					if got := e.Spec.Get("owner").Str(); got != want {
						t.Errorf("%s\nowner of %s is %q, want %q", tc.reason, e.Metadata.Name, got, want)
					}
				}
			})
		}
	}
}

// TestOrder checks that the order of entities does not depend on the order of
// Compositions and composites.
func TestOrder(t *testing.T) {
	input := engine.Input{Definition: define(t, words.Portal)}
	for _, cluster := range []string{"west", "east"} {
		give(t, words.Portal, &input, xrd.Origin{Source: xrd.SourceCluster, Cluster: cluster, Location: "url:https://" + cluster},
			composition(cluster+"-b"), composition(cluster+"-a"), composite("b", "y"), composite("a", "z"), composite("b", "x"))
	}
	forward := transform(t, engine.CLI, engine.Options{}, input)
	slices.Reverse(input.Compositions)
	slices.Reverse(input.Composites)
	backward := transform(t, engine.CLI, engine.Options{}, input)
	if diff := cmp.Diff(list(forward.Entities), list(backward.Entities)); diff != "" {
		t.Errorf("entities in order and in reverse order (-forward +backward):\n%s", diff)
	}
	if len(forward.Entities) != 3+4+6 {
		t.Errorf("got %q", list(forward.Entities))
	}
}

func TestDescriptions(t *testing.T) {
	steps := func(names ...string) edit {
		var all []any
		for _, n := range names {
			all = append(all, object{"step": "x", "functionRef": object{"name": n}})
		}
		return set(all, "spec", "pipeline")
	}
	cases := map[string]struct {
		reason string
		edits  []edit
		want   string
	}{
		"empty":     {"The description of an empty Composition names its composite kind.", nil, "Composition for Database"},
		"pipeline":  {"The description lists the functions of a pipeline in order.", []edit{steps("render", "auto-ready")}, "Composition for Database (pipeline: render, auto-ready)"},
		"resources": {"The description lists the resources by name or kind.", []edit{set([]any{object{"name": "vm"}, object{"base": object{"kind": "Disk"}}}, "spec", "resources")}, "Composition for Database (resources: vm, Disk)"},
		"eight":     {"Up to eight steps are listed.", []edit{steps("1", "2", "3", "4", "5", "6", "7", "8")}, "Composition for Database (pipeline: 1, 2, 3, 4, 5, 6, 7, 8)"},
		"nine":      {"Further steps are abbreviated.", []edit{steps("1", "2", "3", "4", "5", "6", "7", "8", "9")}, "Composition for Database (pipeline: 1, 2, 3, 4, 5, 6, 7, 8, …)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			input := engine.Input{Definition: define(t, words.Portal, claimed("DatabaseClaim", "databaseclaims"))}
			give(t, words.Portal, &input, xrd.Origin{File: "x.yaml"}, composition("c", tc.edits...), composite("shop", "a"), composite("", "b"))
			var got []string
			for _, e := range transform(t, engine.CLI, engine.Options{}, input).Entities[2:] {
				got = append(got, e.Metadata.Title+": "+e.Metadata.Description)
			}
			want := []string{"databases.platform.io: Definition of Database, claimed as DatabaseClaim", "c: " + tc.want, "b: Database", "a: Database in namespace shop"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal, without("spec", "names"))})
	if got := res.Entities[0].Metadata.Description; got != "Definition of an unnamed kind" {
		t.Errorf("a definition without a kind is described as %q", got)
	}
}
