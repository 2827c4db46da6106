package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// made holds the entities that a test looks at.
type made struct {
	template, api, resource *entity.Entity
	document                *tree.Node
}

func make3(t *testing.T, es []*entity.Entity) made {
	t.Helper()
	api := first(t, es, entity.KindAPI)
	return made{first(t, es, entity.KindTemplate), api, first(t, es, entity.KindResource), parsed(t, api.Spec.Get("definition").Str())}
}

func specs(key string) func(made) string {
	return func(m made) string {
		return m.template.Spec.Get(key).Str() + "|" + m.api.Spec.Get(key).Str() + "|" + m.resource.Spec.Get(key).Str()
	}
}

func title(m made) string {
	return m.template.Metadata.Title + "|" + m.api.Metadata.Title + "|" + m.document.Get("info", "title").Str()
}

func description(m made) string {
	return m.template.Metadata.Description + "|" + m.document.Get("info", "description").Str()
}

func tags(m made) string {
	return strings.Join(m.template.Metadata.Tags, ",") + "|" + strings.Join(m.api.Metadata.Tags, ",") + "|" + strings.Join(m.resource.Metadata.Tags, ",")
}

func apiKind(m made) string {
	a := m.api.Metadata.Annotations
	return a["portal.io/api-kind"] + a["backstage.io/api-kind"] + "|" + m.document.Get("info", "x-api-kind").Str() + "|" + m.api.Metadata.Description
}

func delivery(key string) func(made) string {
	return func(m made) string {
		for _, option := range page(m.template, 3, "dependencies", "delivery", "oneOf").List() {
			if p := option.Get("properties", key); p != nil {
				return p.Get("default").Str()
			}
		}
		return "no field"
	}
}

var annotationCases = map[string]struct {
	reason string
	edits  []edit
	opts   engine.Options
	look   func(made) string
	want   string
	// source is the source that won, as "field value from key".
	source string
}{
	"title": {
		reason: "The annotation sets the title.",
		edits:  []edit{annotated("portal.io/template-title", "Managed database")},
		look:   title, want: "Managed database|Managed database API|Managed database API", source: "title|Managed database|annotation|portal.io/template-title",
	},
	"title by default": {
		reason: "The default title is the kind.",
		look:   title, want: "Database|Database API|Database API", source: "title|Database|definition|spec.names.kind",
	},
	"title of a claim": {
		reason: "The title is the kind of the composite, though the form makes the claim.",
		edits:  []edit{set("XDatabase", "spec", "names", "kind"), claimed("Database", "databases")},
		look:   title, want: "XDatabase|XDatabase API|XDatabase API", source: "title|XDatabase|definition|spec.names.kind",
	},
	"title of a claim alone": {
		reason: "Without a composite kind the title is that of the claim.",
		edits:  []edit{without("spec", "names", "kind"), claimed("Database", "databases")},
		look:   title, want: "Database|Database API|Database API", source: "title|Database|definition|spec.names.kind",
	},
	"description": {
		reason: "The description of the template overrides the plain one.",
		edits:  []edit{annotated("portal.io/template-description", "For you."), annotated("portal.io/description", "For me.")},
		look:   description, want: "For you.|For you.", source: "description|For you.|annotation|portal.io/template-description",
	},
	"plain description": {
		reason: "The plain description is used if there is no other.",
		edits:  []edit{annotated("portal.io/description", "For me."), versions(version("v1", schemaOf("From the schema.", "description")))},
		look:   description, want: "For me.|For me.", source: "description|For me.|annotation|portal.io/description",
	},
	"description of the schema": {
		reason: "The description of the schema overrides the default.",
		edits:  []edit{versions(version("v1", schemaOf(" From the schema.\n", "description")))},
		look:   description, want: "From the schema.|From the schema.", source: "description|From the schema.|definition|schema.openAPIV3Schema.description",
	},
	"description by default": {
		reason: "The default description says what is created.",
		look:   description, want: "Create Database resources (platform.io/v1)|Create Database resources (platform.io/v1)",
		source: "description|Create Database resources (platform.io/v1)|default|",
	},
	"owner": {
		reason: "The annotation overrides the option.",
		edits:  []edit{annotated("portal.io/owner", "user:default/ada")}, opts: engine.Options{Owner: "team-b"},
		look: specs("owner"), want: "user:default/ada|user:default/ada|user:default/ada", source: "owner|user:default/ada|annotation|portal.io/owner",
	},
	"owner by option": {
		reason: "The option overrides the default.", opts: engine.Options{Owner: "team-b"},
		look: specs("owner"), want: "team-b|team-b|team-b", source: "owner|team-b|option|owner",
	},
	"owner by default": {
		reason: "There is always an owner.",
		look:   specs("owner"), want: "platform-team|platform-team|platform-team", source: "owner|platform-team|default|",
	},
	"owner that is empty": {
		reason: "An empty annotation is ignored.",
		edits:  []edit{annotated("portal.io/owner", "")}, opts: engine.Options{Owner: "team-b"},
		look: specs("owner"), want: "team-b|team-b|team-b", source: "owner|team-b|option|owner",
	},
	"system": {
		reason: "The annotation overrides the option; a Template has no system.",
		edits:  []edit{annotated("portal.io/system", "data")}, opts: engine.Options{System: "other"},
		look: specs("system"), want: "|data|data", source: "system|data|annotation|portal.io/system",
	},
	"system by option": {
		reason: "The option overrides the default.", opts: engine.Options{System: "other"},
		look: specs("system"), want: "|other|other", source: "system|other|option|system",
	},
	"system by default": {
		reason: "There is always a system.",
		look:   specs("system"), want: "|platform|platform", source: "system|platform|default|",
	},
	"tags": {
		reason: "Tags of the annotation and the option are repaired, sorted, and added after ours without duplicates.",
		edits:  []edit{annotated("portal.io/template-tags", " SQL, zoo,my_tag,, C++ ,composer")}, opts: engine.Options{Tags: []string{"alpha", " sql "}},
		look: tags,
		want: "composer,source:composer-ingestor,alpha,c++,my-tag,sql,zoo|composer,source:composer-ingestor,alpha,c++,my-tag,sql,zoo|composer,source:composer-ingestor,alpha,c++,my-tag,sql,zoo",
	},
	"default namespace": {
		reason: "The annotation overrides the option.",
		edits:  []edit{annotated("portal.io/default-namespace", "data")}, opts: engine.Options{ResourceNamespace: "other"},
		look: proposed, want: "data", source: "default-namespace|data|annotation|portal.io/default-namespace",
	},
	"default namespace by option": {
		reason: "The option overrides the default.", opts: engine.Options{ResourceNamespace: "other"},
		look: proposed, want: "other", source: "default-namespace|other|option|default-namespace",
	},
	"default namespace by default": {
		reason: "The default is that of the contract.",
		look:   proposed, want: "default", source: "default-namespace|default|default|",
	},
	"longest default namespace": {
		reason: "A namespace of the maximum length is accepted.",
		edits:  []edit{annotated("portal.io/default-namespace", strings.Repeat("n", 63))},
		look:   proposed, want: strings.Repeat("n", 63), source: "default-namespace|" + strings.Repeat("n", 63) + "|annotation|portal.io/default-namespace",
	},
	"namespace": {
		reason: "The namespace of the entities is an option.", opts: engine.Options{Namespace: "data"},
		look: func(m made) string { return m.template.Metadata.Namespace }, want: "data", source: "namespace|data|option|namespace",
	},
	"namespace by default": {
		reason: "The default is that of the contract.",
		look:   func(m made) string { return m.template.Metadata.Namespace }, want: "default", source: "namespace|default|default|",
	},
	"API version": {
		reason: "The annotation sets the version of the document.",
		edits:  []edit{annotated("portal.io/api-version", "2.1.0")},
		look:   func(m made) string { return m.document.Get("info", "version").Str() }, want: "2.1.0", source: "api-version|2.1.0|annotation|portal.io/api-version",
	},
	"API version by default": {
		reason: "The default version of the document is that of the definition.",
		look:   func(m made) string { return m.document.Get("info", "version").Str() }, want: "v1", source: "api-version|v1|default|",
	},
	"API kind": {
		reason: "The kind of API is in an annotation and in the description.",
		edits:  []edit{annotated("portal.io/api-kind", "REST")},
		look:   apiKind, want: "REST|REST|REST API to create Database resources (platform.io/v1)", source: "api-kind|REST|annotation|portal.io/api-kind",
	},
	"API kind by default": {
		reason: "Without the annotation the API has no kind.",
		look:   apiKind, want: "||API to create Database resources (platform.io/v1)",
	},
	"repository": {
		reason: "The repository of the annotation is preset in the form.",
		edits:  []edit{annotated("portal.io/gitops-repo", "https://git.example.org/platform/live")}, opts: engine.Options{GitOps: true},
		look: func(m made) string { return delivery("gitHost")(m) + "|" + delivery("gitRepository")(m) },
		want: "git.example.org|platform/live", source: "gitops-repo|https://git.example.org/platform/live|annotation|portal.io/gitops-repo",
	},
	"repository with a password": {
		reason: "A password in a URL is removed.",
		edits:  []edit{annotated("portal.io/gitops-repo", "https://me:hunter2@git.example.org/platform/live")}, opts: engine.Options{GitOps: true},
		look: func(m made) string { return delivery("gitHost")(m) + "|" + delivery("gitRepository")(m) },
		want: "git.example.org|platform/live", source: "gitops-repo|https://git.example.org/platform/live|annotation|portal.io/gitops-repo",
	},
	"path": {
		reason: "The path of the annotation is preset in the form.",
		edits:  []edit{annotated("portal.io/gitops-path", "clusters/prod/")}, opts: engine.Options{GitOps: true},
		look: delivery("gitPath"), want: "clusters/prod", source: "gitops-path|clusters/prod/|annotation|portal.io/gitops-path",
	},
	"repository without GitOps": {
		reason: "A form without change requests does not ask for a repository.",
		edits:  []edit{annotated("portal.io/gitops-repo", "https://git.example.org/platform/live")},
		look:   func(m made) string { return delivery("gitRepository")(m) }, want: "no field",
	},
}

func proposed(m made) string {
	return page(m.template, 0, "properties", "namespace", "default").Str()
}

func TestAnnotationsHonoured(t *testing.T) {
	for name, tc := range annotationCases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, engine.CLI, tc.opts, engine.Input{Definition: define(t, v, tc.edits...)})
				want := tc.want
				if strings.HasPrefix(want, "composer,") {
					want = in(v, want)
				}
				if got := tc.look(make3(t, res.Entities)); got != want {
					t.Errorf("%s\ngot %q, want %q", tc.reason, got, want)
				}
				if tc.source == "" {
					return
				}
				field, _, _ := strings.Cut(tc.source, "|")
				var got []string
				for _, s := range res.Sources {
					if s.Field == field {
						got = append(got, strings.Join([]string{s.Field, s.Value, s.From, s.Key}, "|"))
					}
				}
				wantSource := tc.source
				if i := strings.LastIndex(wantSource, "|"); strings.Contains(wantSource, "|annotation|") {
					wantSource = wantSource[:i] + in(v, wantSource[i:])
				}
				if diff := cmp.Diff([]string{wantSource}, got); diff != "" {
					t.Errorf("%s\nsource that won (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestPassedOver checks values that would make an entity which the catalog or
// the cluster refuses: the next source is used, and a finding reports it.
func TestPassedOver(t *testing.T) {
	const write = " (write it as name, namespace/name or kind:namespace/name)"
	const use = " (use lower-case letters, digits and dashes)"
	cases := map[string]struct {
		reason   string
		edits    []edit
		opts     engine.Options
		look     func(made) string
		want     string
		findings []string
	}{
		"owner": {
			"An annotation that is not a reference is ignored.", []edit{annotated("portal.io/owner", "The A Team")}, engine.Options{Owner: "b"}, specs("owner"), "b|b|b",
			[]string{`ENG003 owner "The A Team" is not an entity reference and is ignored` + write},
		},
		"owner option": {
			"An option that is not a reference is ignored.", nil, engine.Options{Owner: "a b"}, specs("owner"), "platform-team|platform-team|platform-team",
			[]string{`ENG003 owner "a b", set as an option, is not an entity reference and is ignored` + write},
		},
		"both owners": {
			"If both are ignored the default applies.", []edit{annotated("portal.io/owner", "a:b:c")}, engine.Options{Owner: "/"}, specs("owner"), "platform-team|platform-team|platform-team",
			[]string{`ENG003 owner "a:b:c" is not an entity reference and is ignored` + write, `ENG003 owner "/", set as an option, is not an entity reference and is ignored` + write},
		},
		"system": {
			"A system must be a reference too.", []edit{annotated("portal.io/system", "x y")}, engine.Options{}, specs("system"), "|platform|platform",
			[]string{`ENG003 system "x y" is not an entity reference and is ignored` + write},
		},
		"default namespace": {
			"A default namespace that the form would refuse is ignored.", []edit{annotated("portal.io/default-namespace", "Team_A")}, engine.Options{ResourceNamespace: "b"}, proposed, "b",
			[]string{`ENG008 default namespace "Team_A" is not a valid namespace name and is ignored` + use},
		},
		"long namespace": {
			"A default namespace that is too long is ignored.", []edit{annotated("portal.io/default-namespace", strings.Repeat("n", 64))}, engine.Options{}, proposed, "default",
			[]string{`ENG008 default namespace "` + strings.Repeat("n", 64) + `" is not a valid namespace name and is ignored` + use},
		},
		"namespace and dash": {
			"A default namespace that ends in a dash is ignored.", []edit{annotated("portal.io/default-namespace", "team-")}, engine.Options{}, proposed, "default",
			[]string{`ENG008 default namespace "team-" is not a valid namespace name and is ignored` + use},
		},
		"namespace": {
			"The namespace of the entities is repaired.", nil, engine.Options{Namespace: "Team A"}, func(m made) string { return m.template.Metadata.Namespace }, "team-a-35a62206",
			[]string{`ENG006 namespace "Team A" is not valid in the catalog and becomes "team-a-35a62206" ()`},
		},
		"tags": {
			"A tag is repaired, or dropped if nothing is left of it.", []edit{annotated("portal.io/template-tags", "Ok,???")}, engine.Options{}, func(m made) string { return strings.Join(m.template.Metadata.Tags[2:], ",") }, "ok",
			[]string{`ENG002 tag "Ok" becomes "ok" ()`, `ENG002 tag "???" has no allowed characters and is dropped` + use},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, tc.edits...)
			res := transform(t, engine.CLI, tc.opts, engine.Input{Definition: d})
			if got := tc.look(make3(t, res.Entities)); got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
			var got []string
			for _, f := range res.Findings {
				got = append(got, f.Rule+" "+f.Message+" ("+f.Hint+")")
				if len(tc.edits) > 0 && f.Object != "databases.platform.io" {
					t.Errorf("%s\nobject of the finding is %q", tc.reason, f.Object)
				}
				if len(tc.edits) > 0 && !strings.Contains(f.Message, "option") && f.Where() == "sample.yaml" {
					t.Errorf("%s\nfinding has no line: %+v", tc.reason, f)
				}
			}
			if diff := cmp.Diff(tc.findings, got); diff != "" {
				t.Errorf("%s\nfindings (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
