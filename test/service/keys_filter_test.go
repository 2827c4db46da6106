package service_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// edited returns a text with one part of it replaced.
func edited(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic("cannot edit: text does not contain " + from)
	}
	return strings.Replace(text, from, to, 1)
}

// pair has definitions that filters can tell apart, with a composite each.
var pair = map[string]string{
	"alphas.yaml": edited(definition("alphas", "one"), `labels: {`, `labels: {team: red, `),
	"betas.yaml":  edited(definition("betas", "one"), "  labels:", "  annotations: {tier: gold}\n  labels:"),
	// The third definition is in another group.
	"gammas.yaml": strings.ReplaceAll(definition("gammas", "one"), group, "other.example.org"),
}

// filterKeys has the keys that select definitions, and whose composites are
// read.
var filterKeys = map[string]keyed{
	"Labels": {
		reason: "Definitions are selected by their labels.",
		keys:   []string{"composerIngestor.xrdFilters.labelSelector"},
		files:  pair, composer: sections{"xrdFilters": sections{"labelSelector": "team=red"}},
		check: checkOnly("alphas"),
	},
	"Annotations": {
		reason: "Definitions are selected by their annotations.",
		keys:   []string{"composerIngestor.xrdFilters.annotationSelector"},
		files:  pair, composer: sections{"xrdFilters": sections{"annotationSelector": "tier=gold"}},
		check: checkOnly("betas"),
	},
	"Groups": {
		reason: "Definitions are selected by their group.",
		keys:   []string{"composerIngestor.xrdFilters.groups"},
		files:  pair, composer: sections{"xrdFilters": sections{"groups": []any{group}}},
		check: checkOnly("alphas", "betas"),
	},
	"Exclude": {
		reason: "Definitions are excluded by their names.",
		keys:   []string{"composerIngestor.xrdFilters.exclude"},
		files:  pair, composer: sections{"xrdFilters": sections{"exclude": []any{"betas." + group, "gammas.other.example.org"}}},
		check: checkOnly("alphas"),
	},
	"IngestAll": {
		reason: "Definitions without the label are ingested if the configuration allows it, and the other filters still apply.",
		keys:   []string{"composerIngestor.ingestAll"},
		files: map[string]string{
			"alphas.yaml": edited(definition("alphas", "one"), `openportal.dev/ingest: "true"`, "team: red"),
			"betas.yaml":  edited(definition("betas", "one"), `openportal.dev/ingest: "true"`, "team: red"),
		},
		composer: sections{"ingestAll": true, "xrdFilters": sections{"exclude": []any{"betas." + group}}},
		check:    checkOnly("alphas"),
	},
	"NoCompositions": {
		reason:   "Compositions are not ingested if they are disabled.",
		keys:     []string{"composerIngestor.compositions.enabled"},
		files:    map[string]string{"alphas.yaml": definition("alphas", "one"), "one.yaml": composition("alpha-one", "alphas")},
		composer: sections{"compositions": sections{"enabled": false}},
		check:    checkOnly("alphas"),
	},
	"NoComposites": {
		reason:   "Composites are not ingested if they are disabled.",
		keys:     []string{"composerIngestor.composites.enabled"},
		files:    map[string]string{"alphas.yaml": definition("alphas", "one"), "mine.yaml": composite("mine", "alphas")},
		composer: sections{"composites": sections{"enabled": false}},
		check:    checkOnly("alphas"),
	},
	"Namespaces": {
		reason: "Composites in files are selected by their namespace, like those of a cluster.",
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
				t.Errorf("composites are %v (error %v), want only mine", refs, err)
			}
		},
	},
}

// checkOnly returns a check that exactly these definitions are ingested, also after
// another scan.
func checkOnly(plurals ...string) func(*testing.T, *service, string) {
	return func(_ *testing.T, s *service, _ string) {
		s.waitForRefs("", entities(plurals...)...)
		s.scan("")
		s.waitForRefs("", entities(plurals...)...)
	}
}

func TestFilterKeys(t *testing.T) { keep(t, filterKeys) }

// gitops is a definition with annotations for change requests.
var gitops = edited(definition("alphas", "one"), "  labels:",
	"  annotations: {backstage.io/gitops-repo: \"https://git.example.org/team/deploy\", backstage.io/gitops-path: clusters/prod}\n  labels:")

// templateKeys has the keys that decide what is made of a definition.
var templateKeys = map[string]keyed{
	"Owner": {
		reason: "Entities have the configured owner and system unless the definition names others.",
		keys:   []string{"composerIngestor.defaultOwner", "composerIngestor.defaultSystem"},
		files:  alone, composer: sections{"defaultOwner": "team-red", "defaultSystem": "shop"},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			for _, ref := range entities("alphas") {
				var spec struct{ Owner, System string }
				if err := json.Unmarshal([]byte(s.spec(ref)), &spec); err != nil {
					t.Fatal(err)
				}
				// A Template has no system.
				if spec.Owner != "team-red" || spec.System != "shop" && ref != template("alphas") {
					t.Errorf("%s has owner %q and system %q, want team-red and shop", ref, spec.Owner, spec.System)
				}
			}
		},
	},
	"NoAPIs": {
		reason: "API entities are not made if they are disabled.",
		keys:   []string{"composerIngestor.templateGeneration.generateApiEntities"},
		files:  alone, composer: sections{"templateGeneration": sections{"generateApiEntities": false}},
		check: func(_ *testing.T, s *service, _ string) {
			s.waitForRefs("", template("alphas"), resource("alphas"))
		},
	},
	"NoCompositions": {
		reason: "The form has no choice of a Composition if the choice is disabled.",
		keys:   []string{"composerIngestor.templateGeneration.includeCompositionDetails"},
		files:  chosen, composer: sections{"templateGeneration": sections{"includeCompositionDetails": false}},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", append(entities("alphas"), "resource:default/first-composition", "resource:default/second-composition")...)
			if text := s.spec(template("alphas")); strings.Contains(text, "second") {
				t.Errorf("form has a choice of Compositions: %s", text)
			}
		},
	},
	"Compositions": {
		reason: "The form has a choice of Compositions by default.",
		keys:   []string{"composerIngestor.templateGeneration.includeCompositionDetails"},
		files:  chosen,
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", append(entities("alphas"), "resource:default/first-composition", "resource:default/second-composition")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, "second") {
				t.Errorf("form has no choice of Compositions: %s", text)
			}
		},
	},
	"GitOps": {
		reason: "Forms get a page for change requests, filled from the definition's annotations.",
		keys:   []string{"composerIngestor.templateGeneration.addGitOpsActions"},
		files:  map[string]string{"alphas.yaml": gitops}, composer: sections{"templateGeneration": sections{"addGitOpsActions": true}},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			text := s.spec(template("alphas"))
			for _, want := range []string{"Delivery", "git.example.org", "clusters/prod"} {
				if !strings.Contains(text, want) {
					t.Errorf("form does not contain %s: %s", want, text)
				}
			}
		},
	},
	"Backstage": {
		reason: "Templates have Backstage's own actions, those of the Git provider, and its picker for repositories.",
		keys:   []string{"composerIngestor.templateGeneration.delivery", "composerIngestor.templateGeneration.gitProvider"},
		files:  map[string]string{"alphas.yaml": gitops}, composer: sections{"templateGeneration": sections{"delivery": "backstage", "gitProvider": "gitlab"}},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			text := s.spec(template("alphas"))
			for _, want := range []string{"catalog:write", "publish:gitlab:merge-request", "RepoUrlPicker", "git.example.org?owner=", "clusters/prod"} {
				if !strings.Contains(text, want) {
					t.Errorf("Template does not contain %s: %s", want, text)
				}
			}
		},
	},
	"NoGitOps": {
		reason: "Forms have no page for change requests by default.",
		keys:   []string{"composerIngestor.templateGeneration.addGitOpsActions"},
		files:  map[string]string{"alphas.yaml": gitops},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			if text := s.spec(template("alphas")); strings.Contains(text, "Delivery") {
				t.Errorf("form has a page for change requests: %s", text)
			}
		},
	},
	"DayTwo": {
		reason: "Templates that update and delete existing resources are made.",
		keys:   []string{"composerIngestor.generateDayTwoTemplates"},
		files:  alone, composer: sections{"generateDayTwoTemplates": true},
		check: func(_ *testing.T, s *service, _ string) {
			s.waitForRefs("", append(entities("alphas"), template("alphas")+"-update", template("alphas")+"-delete")...)
		},
	},
	"Namespace": {
		reason: "Forms have the configured namespace as the default.",
		keys:   []string{"composerIngestor.templateGeneration.defaultNamespace"},
		files:  alone, composer: sections{"templateGeneration": sections{"defaultNamespace": "sandbox"}},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, `"default":"sandbox"`) {
				t.Errorf("form does not have the default namespace sandbox: %s", text)
			}
		},
	},
	"Words": {
		reason: "Entities use the configured vocabulary, whatever vocabulary the definition uses.",
		keys:   []string{"words"},
		files:  alone, root: sections{"words": "portal"},
		check: func(t *testing.T, s *service, _ string) {
			s.waitForRefs("", entities("alphas")...)
			if v := s.document(template("alphas"))["apiVersion"]; v != "scaffolder.portal.io/v1beta3" {
				t.Errorf("apiVersion of the Template is %v, want scaffolder.portal.io/v1beta3", v)
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
			s.waitForRefs("", entities("alphas")...)
			if text := s.spec(template("alphas")); !strings.Contains(text, "team-blue") {
				t.Errorf("owner is not team-blue: %s", text)
			}
		},
	},
}

// chosen has a definition with two Compositions to choose from.
var chosen = map[string]string{
	"alphas.yaml": definition("alphas", "one"),
	"first.yaml":  composition("first", "alphas"),
	"second.yaml": composition("second", "alphas"),
}

func TestTemplateKeys(t *testing.T) { keep(t, templateKeys) }
