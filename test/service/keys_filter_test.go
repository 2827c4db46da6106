package service_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// edited is a text with one piece of it replaced.
func edited(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic("cannot edit: there is no " + from)
	}
	return strings.Replace(text, from, to, 1)
}

// pair is two definitions that differ as filters can see, with a composite
// each.
var pair = map[string]string{
	"alphas.yaml": edited(definition("alphas", "one"), `labels: {`, `labels: {team: red, `),
	"betas.yaml":  edited(definition("betas", "one"), "  labels:", "  annotations: {tier: gold}\n  labels:"),
	// Another group for the third.
	"gammas.yaml": strings.ReplaceAll(definition("gammas", "one"), group, "other.example.org"),
}

// filterKeys choose definitions, and whose composites are read.
var filterKeys = map[string]keyed{
	"Labels": {
		reason: "Definitions are chosen by their labels.",
		keys:   []string{"composerIngestor.xrdFilters.labelSelector"},
		files:  pair, composer: sections{"xrdFilters": sections{"labelSelector": "team=red"}},
		check: only("alphas"),
	},
	"Annotations": {
		reason: "Definitions are chosen by their annotations.",
		keys:   []string{"composerIngestor.xrdFilters.annotationSelector"},
		files:  pair, composer: sections{"xrdFilters": sections{"annotationSelector": "tier=gold"}},
		check: only("betas"),
	},
	"Groups": {
		reason: "Definitions are chosen by their group.",
		keys:   []string{"composerIngestor.xrdFilters.groups"},
		files:  pair, composer: sections{"xrdFilters": sections{"groups": []any{group}}},
		check: only("alphas", "betas"),
	},
	"Exclude": {
		reason: "Definitions are left out by their names.",
		keys:   []string{"composerIngestor.xrdFilters.exclude"},
		files:  pair, composer: sections{"xrdFilters": sections{"exclude": []any{"betas." + group, "gammas.other.example.org"}}},
		check: only("alphas"),
	},
	"IngestAll": {
		reason: "Without the label definitions are taken if that is wanted, and the other filters hold.",
		keys:   []string{"composerIngestor.ingestAll"},
		files: map[string]string{
			"alphas.yaml": edited(definition("alphas", "one"), `openportal.dev/ingest: "true"`, "team: red"),
			"betas.yaml":  edited(definition("betas", "one"), `openportal.dev/ingest: "true"`, "team: red"),
		},
		composer: sections{"ingestAll": true, "xrdFilters": sections{"exclude": []any{"betas." + group}}},
		check:    only("alphas"),
	},
	"NoCompositions": {
		reason:   "Compositions are left out if that is wanted.",
		keys:     []string{"composerIngestor.compositions.enabled"},
		files:    map[string]string{"alphas.yaml": definition("alphas", "one"), "one.yaml": composition("alpha-one", "alphas")},
		composer: sections{"compositions": sections{"enabled": false}},
		check:    only("alphas"),
	},
	"NoComposites": {
		reason:   "Composites are left out if that is wanted.",
		keys:     []string{"composerIngestor.composites.enabled"},
		files:    map[string]string{"alphas.yaml": definition("alphas", "one"), "mine.yaml": composite("mine", "alphas")},
		composer: sections{"composites": sections{"enabled": false}},
		check:    only("alphas"),
	},
	"Namespaces": {
		reason: "Composites of files are chosen by their namespace as those of a cluster are.",
		keys:   []string{"composerIngestor.xrdFilters.namespaces"},
		files: map[string]string{
			"alphas.yaml": definition("alphas", "one"),
			"mine.yaml":   edited(composite("mine", "alphas"), "namespace: default", "namespace: red"),
			"yours.yaml":  edited(composite("yours", "alphas"), "namespace: default", "namespace: blue"),
		},
		composer: sections{"xrdFilters": sections{"namespaces": []any{"red"}}},
		check: func(t *testing.T, s *service, _ string) {
			s.scan("")
			refs, err := s.refs("kind=resource,spec.type=crossplane-xr")
			if err != nil || len(refs) != 1 || !strings.Contains(refs[0], "mine") {
				t.Errorf("the composites are %v, %v", refs, err)
			}
		},
	},
}

// only checks that just these definitions are taken, after another scan too.
func only(plurals ...string) func(*testing.T, *service, string) {
	return func(_ *testing.T, s *service, _ string) {
		s.wants("", entities(plurals...)...)
		s.scan("")
		s.wants("", entities(plurals...)...)
	}
}

func TestFilterKeys(t *testing.T) { keep(t, filterKeys) }

// gitops is a definition with settings for change requests.
var gitops = edited(definition("alphas", "one"), "  labels:",
	"  annotations: {backstage.io/gitops-repo: \"https://git.example.org/team/deploy\", backstage.io/gitops-path: clusters/prod}\n  labels:")

// templateKeys say what is made of a definition.
var templateKeys = map[string]keyed{
	"Owner": {
		reason: "Entities belong to whom the configuration says, if the definition does not.",
		keys:   []string{"composerIngestor.defaultOwner", "composerIngestor.defaultSystem"},
		files:  alone, composer: sections{"defaultOwner": "team-red", "defaultSystem": "shop"},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			for _, ref := range entities("alphas") {
				var spec struct{ Owner, System string }
				if err := json.Unmarshal([]byte(s.spec(ref)), &spec); err != nil {
					t.Fatal(err)
				}
				// A Template belongs to no system.
				if spec.Owner != "team-red" || spec.System != "shop" && ref != template("alphas") {
					t.Errorf("%s is of %q in %q", ref, spec.Owner, spec.System)
				}
			}
		},
	},
	"NoAPIs": {
		reason: "API entities are left out if that is wanted.",
		keys:   []string{"composerIngestor.templateGeneration.generateApiEntities"},
		files:  alone, composer: sections{"templateGeneration": sections{"generateApiEntities": false}},
		check: func(_ *testing.T, s *service, _ string) {
			s.wants("", template("alphas"), resource("alphas"))
		},
	},
	"NoCompositions": {
		reason: "The choice of a Composition is left out if that is wanted.",
		keys:   []string{"composerIngestor.templateGeneration.includeCompositionDetails"},
		files:  chosen, composer: sections{"templateGeneration": sections{"includeCompositionDetails": false}},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", append(entities("alphas"), "resource:default/first-composition", "resource:default/second-composition")...)
			if text := s.spec(template("alphas")); strings.Contains(text, "second") {
				t.Errorf("the form has the choice: %s", text)
			}
		},
	},
	"Compositions": {
		reason: "Without a word about it the choice is there.",
		keys:   []string{"composerIngestor.templateGeneration.includeCompositionDetails"},
		files:  chosen,
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", append(entities("alphas"), "resource:default/first-composition", "resource:default/second-composition")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, "second") {
				t.Errorf("the form lacks the choice: %s", text)
			}
		},
	},
	"GitOps": {
		reason: "Forms get a page for change requests, with what the definition's annotations say.",
		keys:   []string{"composerIngestor.templateGeneration.addGitOpsActions"},
		files:  map[string]string{"alphas.yaml": gitops}, composer: sections{"templateGeneration": sections{"addGitOpsActions": true}},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			text := s.spec(template("alphas"))
			for _, want := range []string{"Delivery", "git.example.org", "clusters/prod"} {
				if !strings.Contains(text, want) {
					t.Errorf("the form has no %s: %s", want, text)
				}
			}
		},
	},
	"NoGitOps": {
		reason: "Without a word about it there is no such page.",
		keys:   []string{"composerIngestor.templateGeneration.addGitOpsActions"},
		files:  map[string]string{"alphas.yaml": gitops},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			if text := s.spec(template("alphas")); strings.Contains(text, "Delivery") {
				t.Errorf("the form has the page: %s", text)
			}
		},
	},
	"DayTwo": {
		reason: "There are forms for resources that are there.",
		keys:   []string{"composerIngestor.generateDayTwoTemplates"},
		files:  alone, composer: sections{"generateDayTwoTemplates": true},
		check: func(_ *testing.T, s *service, _ string) {
			s.wants("", append(entities("alphas"), template("alphas")+"-update", template("alphas")+"-delete")...)
		},
	},
	"Namespace": {
		reason: "Forms propose the namespace of the configuration.",
		keys:   []string{"composerIngestor.templateGeneration.defaultNamespace"},
		files:  alone, composer: sections{"templateGeneration": sections{"defaultNamespace": "sandbox"}},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, `"default":"sandbox"`) {
				t.Errorf("the form does not propose it: %s", text)
			}
		},
	},
	"Words": {
		reason: "Entities are written in the words of the configuration, whatever the definition's.",
		keys:   []string{"words"},
		files:  alone, root: sections{"words": "portal"},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			if v := s.document(template("alphas"))["apiVersion"]; v != "scaffolder.portal.io/v1beta3" {
				t.Errorf("the Template is of %v", v)
			}
		},
	},
	"OtherName": {
		reason: "The section has a name in each vocabulary.",
		keys:   []string{"crossplaneIngestor"},
		files:  alone,
		with: func(_ *testing.T, dir string) (sections, sections) {
			return nil, sections{"composerIngestor": nil, "crossplaneIngestor": sections{
				"sources": []any{sections{"name": "files", "type": "file", "path": dir}}, "defaultOwner": "team-blue",
			}}
		},
		check: func(t *testing.T, s *service, _ string) {
			s.wants("", entities("alphas")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, "team-blue") {
				t.Errorf("its owner is another: %s", text)
			}
		},
	},
}

// chosen is a definition with two Compositions to choose from.
var chosen = map[string]string{
	"alphas.yaml": definition("alphas", "one"),
	"first.yaml":  composition("first", "alphas"),
	"second.yaml": composition("second", "alphas"),
}

func TestTemplateKeys(t *testing.T) { keep(t, templateKeys) }
