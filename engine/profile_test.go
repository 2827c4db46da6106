package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

func TestProfileNames(t *testing.T) {
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		edits   []edit
		want    []string
	}{
		"cli":              {"The cli profile uses short names.", engine.CLI, nil, []string{"Template databases", "API databases-api", "Resource databases-xrd"}},
		"composerIngestor": {"The composerIngestor profile uses full names.", engine.ComposerIngestor, nil, []string{"Template databases.platform.io", "API databases.platform.io-api", "Resource databases.platform.io-xrd"}},
		"clusterIngestor":  {"The clusterIngestor profile uses full names with the version.", engine.ClusterIngestor, nil, []string{"Template databases.platform.io-v1", "API databases.platform.io-v1-api", "Resource databases.platform.io-xrd"}},
		"concept":          {"The concept profile uses slugs.", engine.Concept, nil, []string{"Template databases-platform-io", "API databases-platform-io-api", "Resource databases-platform-io-xrd"}},
		"slug":             {"A slug is in lower case, with a dash for each invalid character.", engine.Concept, []edit{named("Data_Bases.x")}, []string{"Template data-bases-x", "API data-bases-x-api", "Resource data-bases-x-xrd"}},
		"slug's ends":      {"A slug has no dash at either end, and keeps every letter and digit.", engine.Concept, []edit{named("_az09.AZ.")}, []string{"Template az09-az", "API az09-az-api", "Resource az09-az-xrd"}},
		"short of no dot":  {"A name without a dot is already short.", engine.CLI, []edit{named("plain")}, []string{"Template plain", "API plain-api", "Resource plain-xrd"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := transform(t, tc.profile, engine.Options{}, engine.Input{Definition: define(t, words.Portal, tc.edits...)})
			if diff := cmp.Diff(tc.want, list(res.Entities)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBase(t *testing.T) {
	for _, p := range engine.Profiles {
		res := transform(t, p, engine.Options{}, engine.Input{Definition: define(t, words.Portal), Base: "given"})
		for _, e := range res.Entities {
			if !strings.HasPrefix(e.Metadata.Name, "given") {
				t.Errorf("%s: %s is called %q, want the given base name", p.Name, e.Kind, e.Metadata.Name)
			}
		}
		if got := engine.New(p, engine.Options{}, engine.Hooks{}).Profile(); got != p {
			t.Errorf("engine of profile %q returns profile %q", p.Name, got.Name)
		}
	}
}

func TestTemplateType(t *testing.T) {
	label := labelled("portal.io/template-type", "storage")
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		edits   []edit
		want    map[words.Vocabulary]string
		source  engine.Source
	}{
		"cli":              {"The type of the cli profile is in the vocabulary, so it is translated.", engine.CLI, nil, map[words.Vocabulary]string{words.Portal: "composer-xrd", words.Upstream: "crossplane-xrd"}, engine.Source{Field: "type", Value: "composer-xrd", From: "default"}},
		"concept":          {"The type of the cli profile is in the vocabulary, so it is translated.", engine.Concept, nil, map[words.Vocabulary]string{words.Portal: "composer-resource", words.Upstream: "crossplane-resource"}, engine.Source{Field: "type", Value: "composer-resource", From: "default"}},
		"composerIngestor": {"The default type of variant A is infrastructure.", engine.ComposerIngestor, nil, map[words.Vocabulary]string{words.Portal: "infrastructure", words.Upstream: "infrastructure"}, engine.Source{Field: "type", Value: "infrastructure", From: "default"}},
		"clusterIngestor":  {"The default type of variant B is infrastructure.", engine.ClusterIngestor, nil, map[words.Vocabulary]string{words.Portal: "infrastructure", words.Upstream: "infrastructure"}, engine.Source{Field: "type", Value: "infrastructure", From: "default"}},
		"label":            {"The label overrides the default in variant A.", engine.ComposerIngestor, []edit{label}, map[words.Vocabulary]string{words.Portal: "storage", words.Upstream: "storage"}, engine.Source{Field: "type", Value: "storage", From: "label", Key: "portal.io/template-type"}},
		"empty label":      {"An empty label is ignored.", engine.ComposerIngestor, []edit{labelled("portal.io/template-type", "")}, map[words.Vocabulary]string{words.Portal: "infrastructure", words.Upstream: "infrastructure"}, engine.Source{Field: "type", Value: "infrastructure", From: "default"}},
		"label, cli":       {"The label has no effect in other profiles.", engine.CLI, []edit{label}, map[words.Vocabulary]string{words.Portal: "composer-xrd", words.Upstream: "crossplane-xrd"}, engine.Source{Field: "type", Value: "composer-xrd", From: "default"}},
		"label, concept":   {"The label has no effect in other profiles.", engine.Concept, []edit{label}, map[words.Vocabulary]string{words.Portal: "composer-resource", words.Upstream: "crossplane-resource"}, engine.Source{Field: "type", Value: "composer-resource", From: "default"}},
		"label, B":         {"The label has no effect in other profiles.", engine.ClusterIngestor, []edit{label}, map[words.Vocabulary]string{words.Portal: "infrastructure", words.Upstream: "infrastructure"}, engine.Source{Field: "type", Value: "infrastructure", From: "default"}},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, tc.profile, engine.Options{}, engine.Input{Definition: define(t, v, tc.edits...)})
				if got := first(t, res.Entities, entity.KindTemplate).Spec.Get("type").Str(); got != tc.want[v] {
					t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want[v])
				}
				want := tc.source
				want.Key = in(v, want.Key)
				var got engine.Source
				for _, s := range res.Sources {
					if s.Field == "type" {
						got = s
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s\nsource (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestVersions checks which versions get a Template: the preferred one, and in
// variant B each served one.
func TestVersions(t *testing.T) {
	unserved, referenceable := set(false, "served"), set(true, "referenceable")
	cases := map[string]struct {
		reason   string
		versions []any
		one      string
		every    []string
	}{
		"referenceable":          {"The referenceable version is preferred to a higher one.", []any{version("v2"), version("v1", referenceable)}, "v1", []string{"v2", "v1"}},
		"referenceable unserved": {"A referenceable version that is not served is not preferred.", []any{version("v3", referenceable, unserved), version("v1"), version("v2")}, "v2", []string{"v2", "v1"}},
		"stages":                 {"GA is higher than beta, and beta than alpha.", []any{version("v9alpha9"), version("v1"), version("v8beta8")}, "v1", []string{"v1", "v8beta8", "v9alpha9"}},
		"numbers":                {"Numbers are compared as numbers.", []any{version("v9"), version("v10"), version("v2")}, "v10", []string{"v10", "v9", "v2"}},
		"minor numbers":          {"Within a stage the major version is compared before the minor.", []any{version("v1beta10"), version("v2beta1"), version("v1beta9")}, "v2beta1", []string{"v2beta1", "v1beta10", "v1beta9"}},
		"no versions":            {"Names that are not versions come last, in alphabetical order.", []any{version("foo10"), version("bar"), version("v1alpha1")}, "v1alpha1", []string{"v1alpha1", "bar", "foo10"}},
		"silent":                 {"A version without served counts as served.", []any{version("v1"), version("v2", without("served"))}, "v2", []string{"v2", "v1"}},
		"highest unserved":       {"A version that is not served is never chosen.", []any{version("v1"), version("v2", unserved)}, "v1", []string{"v1"}},
		"none":                   {"Without a served version there is no form.", []any{version("v1", unserved, referenceable)}, "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := define(t, words.Portal, versions(tc.versions...))
			for _, p := range engine.Profiles {
				want := tc.every
				if !p.EveryVersion {
					want = nil
					if tc.one != "" {
						want = []string{tc.one}
					}
				}
				res := transform(t, p, engine.Options{}, engine.Input{Definition: d})
				var templates, apis []string
				for _, e := range res.Entities {
					v := e.Metadata.Annotations["composer.io/xrd-version"]
					switch e.Kind {
					case entity.KindTemplate:
						templates = append(templates, v)
						if got := e.Spec.Get("steps").List()[0].Get("input", "manifest", "apiVersion").Str(); got != "platform.io/"+v {
							t.Errorf("%s\n%s: form for %s creates apiVersion %q", tc.reason, p.Name, v, got)
						}
					case entity.KindAPI:
						apis = append(apis, v)
					case entity.KindResource:
						if v != tc.one {
							t.Errorf("%s\n%s: version of the definition's Resource is %q, want %q", tc.reason, p.Name, v, tc.one)
						}
					}
				}
				if diff := cmp.Diff(want, templates); diff != "" {
					t.Errorf("%s\n%s: Templates (-want +got):\n%s", tc.reason, p.Name, diff)
				}
				if diff := cmp.Diff(want, apis); diff != "" {
					t.Errorf("%s\n%s: APIs (-want +got):\n%s", tc.reason, p.Name, diff)
				}
			}
		})
	}
}

// TestEveryVersion checks what distinguishes the Templates of variant B.
func TestEveryVersion(t *testing.T) {
	d := define(t, words.Portal, versions(version("v1"), version("v2alpha1"), version("v3", set(false, "served"))))
	res := transform(t, engine.ClusterIngestor, engine.Options{}, engine.Input{Definition: d})
	got := map[string]string{}
	for _, e := range res.Entities {
		got[e.Kind+" "+e.Metadata.Name] = e.Metadata.Title
	}
	want := map[string]string{
		"Template databases.platform.io-v1":       "Database v1",
		"API databases.platform.io-v1-api":        "Database v1 API",
		"Template databases.platform.io-v2alpha1": "Database v2alpha1",
		"API databases.platform.io-v2alpha1-api":  "Database v2alpha1 API",
		"Resource databases.platform.io-xrd":      "databases.platform.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	apis := first(t, res.Entities, entity.KindResource).Spec.Get("implementsApi").Strings()
	if diff := cmp.Diff([]string{"api:default/databases.platform.io-v1-api", "api:default/databases.platform.io-v2alpha1-api"}, apis); diff != "" {
		t.Errorf("APIs of the definition (-want +got):\n%s", diff)
	}
}

func TestAdmit(t *testing.T) {
	ingest, form := labelled("example.dev/ingest", "true"), labelled("vendor.portal.io/generate-form", "true")
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		edits   []edit
		ok      bool
		why     map[words.Vocabulary]string
	}{
		"cli":              {"the command takes what it is given", engine.CLI, []edit{legacy}, true, nil},
		"concept":          {"so do the small tools", engine.Concept, []edit{legacy}, true, nil},
		"A":                {"variant A takes what is labelled", engine.ComposerIngestor, []edit{ingest}, true, nil},
		"A, v1":            {"in either version", engine.ComposerIngestor, []edit{legacy, ingest}, true, nil},
		"A, no label":      {"and nothing else", engine.ComposerIngestor, nil, false, map[words.Vocabulary]string{words.Portal: `label example.dev/ingest: "true" is missing`, words.Upstream: `label openportal.dev/ingest: "true" is missing`}},
		"A, another value": {"the value must be true", engine.ComposerIngestor, []edit{labelled("example.dev/ingest", "yes")}, false, map[words.Vocabulary]string{words.Portal: `label example.dev/ingest: "true" is missing`, words.Upstream: `label openportal.dev/ingest: "true" is missing`}},
		"A, B's label":     {"the other variant's label does not count", engine.ComposerIngestor, []edit{form}, false, map[words.Vocabulary]string{words.Portal: `label example.dev/ingest: "true" is missing`, words.Upstream: `label openportal.dev/ingest: "true" is missing`}},
		"A, annotation":    {"an annotation is no label", engine.ComposerIngestor, []edit{annotated("example.dev/ingest", "true")}, false, map[words.Vocabulary]string{words.Portal: `label example.dev/ingest: "true" is missing`, words.Upstream: `label openportal.dev/ingest: "true" is missing`}},
		"B":                {"variant B takes what is labelled and of the second version", engine.ClusterIngestor, []edit{form}, true, nil},
		"B, exactly":       {"the value must be exactly true", engine.ClusterIngestor, []edit{labelled("vendor.portal.io/generate-form", "True")}, false, map[words.Vocabulary]string{words.Portal: `label vendor.portal.io/generate-form: "true" is missing`, words.Upstream: `label terasky.backstage.io/generate-form: "true" is missing`}},
		"B, v1":            {"a definition of the first version is refused", engine.ClusterIngestor, []edit{legacy, form}, false, map[words.Vocabulary]string{words.Portal: "apiVersion is not apiextensions.composer.io/v2", words.Upstream: "apiVersion is not apiextensions.crossplane.io/v2"}},
		"B, v1, scoped":    {"a scope of the second version is the second version, whichever a server hands out", engine.ClusterIngestor, []edit{legacy, form, set("Cluster", "spec", "scope")}, true, nil},
		"B, v2, legacy":    {"and a scope of the first is the first", engine.ClusterIngestor, []edit{form, set("LegacyCluster", "spec", "scope")}, false, map[words.Vocabulary]string{words.Portal: "scope LegacyCluster is not a scope of apiextensions.composer.io/v2", words.Upstream: "scope LegacyCluster is not a scope of apiextensions.crossplane.io/v2"}},
		"B, v1, no label":  {"the version is told first", engine.ClusterIngestor, []edit{legacy}, false, map[words.Vocabulary]string{words.Portal: "apiVersion is not apiextensions.composer.io/v2", words.Upstream: "apiVersion is not apiextensions.crossplane.io/v2"}},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				ok, why := tc.profile.Admit(define(t, v, tc.edits...))
				if ok != tc.ok || why != tc.why[v] {
					t.Errorf("%s\ngot %v %q, want %v %q", tc.reason, ok, why, tc.ok, tc.why[v])
				}
			})
		}
	}
}

func TestProfileNamed(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   string
	}{
		"cli":                {"The cli profile has one name.", "cli"},
		"concept":            {"The cli profile has one name.", "concept"},
		"composerIngestor":   {"The contract's name of the profile is accepted.", "composerIngestor"},
		"crossplaneIngestor": {"The upstream name of the profile is accepted.", "composerIngestor"},
		"clusterIngestor":    {"The contract's name of the profile is accepted.", "clusterIngestor"},
		"kubernetesIngestor": {"The upstream name of the profile is accepted.", "clusterIngestor"},
		"":                   {"An empty name is not a profile.", ""},
		"CLI":                {"Names are case-sensitive.", ""},
		"kubernetes":         {"A configuration section that is not an ingestor is not a profile.", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := engine.ProfileNamed(name)
			if p.Name != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s\ngot %q, %v, want %q", tc.reason, p.Name, err, tc.want)
			}
			if err == nil {
				return
			}
			for _, part := range []string{"cannot use profile \"" + name + "\"", "cli", "composerIngestor", "clusterIngestor", "concept"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s\nerror is %q, want %q in it", tc.reason, err, part)
				}
			}
		})
	}
	for _, p := range engine.Profiles {
		if got, err := engine.ProfileNamed(p.Name); err != nil || got != p {
			t.Errorf("profile %q was found as %+v, %v", p.Name, got, err)
		}
	}
	if ok, _ := engine.CLI.Admit(&xrd.Definition{}); !ok {
		t.Error("CLI profile refuses an empty definition")
	}
}
