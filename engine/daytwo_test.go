package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/form"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// steps returns the steps of a Template, without manifests that have a spec.
func steps(e *entity.Entity) string {
	all := e.Spec.Get("steps").Clone()
	for _, s := range all.List() {
		if s.Get("input", "manifest").Has("spec") {
			s.Get("input").Set("manifest", tree.Str("MANIFEST"))
		}
	}
	return string(tree.AppendYAML(nil, all))
}

// TestDayTwo checks the Templates for existing resources, in both vocabularies.
func TestDayTwo(t *testing.T) {
	opts := engine.Options{DayTwo: true, Tags: []string{"zoo"}}
	for _, v := range vocabularies {
		t.Run(v.String(), func(t *testing.T) {
			res := transform(t, engine.CLI, opts, engine.Input{Definition: define(t, v, claimed("Database", "databases"), annotated("portal.io/system", "shop"))})
			for _, tc := range []struct{ name, title, description, tag, steps string }{
				{"databases", "Database", "", "", `
- id: apply
  name: Apply Database
  action: cluster:apply
  input:
    manifest: MANIFEST
`},
				{"databases-update", "Update Database", "Update existing Database resources (platform.io/v1)", "update", `
- id: apply
  name: Update Database
  action: cluster:apply
  input:
    manifest: MANIFEST
    update: true
    observed: ${{ parameters.observed }}
`},
				{"databases-delete", "Delete Database", "Delete Database resources and the objects they compose (platform.io/v1)", "delete", `
- id: delete
  name: Delete Database
  action: cluster:delete
  input:
    apiVersion: platform.io/v1
    kind: Database
    name: ${{ parameters.name }}
    namespace: ${{ parameters.namespace }}
    propagation: ${{ parameters.propagation }}
    wait: true
`},
			} {
				e := pick(t, res.Entities, "Template", tc.name)
				purpose, tags := "create", []string{in(v, "composer"), in(v, "source:composer-ingestor"), "zoo"}
				if tc.tag != "" {
					purpose, tags = tc.tag, slices.Insert(tags, 2, tc.tag)
				}
				if e.Metadata.Title != tc.title || tc.description != "" && e.Metadata.Description != tc.description {
					t.Errorf("%s has title %q, description %q", tc.name, e.Metadata.Title, e.Metadata.Description)
				}
				if diff := cmp.Diff(tags, e.Metadata.Tags); diff != "" {
					t.Errorf("tags of %s (-want +got):\n%s", tc.name, diff)
				}
				if got := e.Metadata.Annotations[in(v, "portal.io/template-purpose")]; got != purpose {
					t.Errorf("purpose of %s is %q, want %q", tc.name, got, purpose)
				}
				if got := e.Metadata.Annotations[in(v, "composer.io/xrd-name")]; got != "databases.platform.io" {
					t.Errorf("definition of %s is %q", tc.name, got)
				}
				if got := e.Spec.Get("owner").Str() + " " + e.Spec.Get("type").Str(); got != "platform-team "+in(v, "composer-xrd") {
					t.Errorf("%s has owner and type %q", tc.name, got)
				}
				want := strings.TrimPrefix(tc.steps, "\n")
				if v == words.Upstream {
					want = strings.ReplaceAll(want, "cluster:", "kubernetes:")
				}
				if diff := cmp.Diff(want, steps(e)); diff != "" {
					t.Errorf("steps of %s (-want +got):\n%s", tc.name, diff)
				}
			}
			if !slices.Contains(res.Sources, engine.Source{Field: "day-two", Value: "true", From: engine.FromOption, Key: "day-two"}) {
				t.Error("explain does not have the source of the Templates")
			}
		})
	}
}

// TestDayTwoDelivery checks that updates and deletions are delivered like the
// resource.
func TestDayTwoDelivery(t *testing.T) {
	input := engine.Input{Definition: define(t, words.Portal)}
	res := transform(t, engine.CLI, engine.Options{DayTwo: true, GitOps: true, Clusters: []string{"a", "b"}}, input)
	const git = `
    host: ${{ parameters.gitHost }}
    repository: ${{ parameters.gitRepository }}
    path: ${{ parameters.gitPath }}
    branch: ${{ parameters.gitBranch }}
`
	cases := map[string]struct{ reason, name, want string }{
		"Update": {"An update is applied or proposed.", "databases-update", `
- id: apply
  name: Update Database
  action: cluster:apply
  input:
    manifest: MANIFEST
    cluster: ${{ parameters.deliveryCluster }}
    update: true
    observed: ${{ parameters.observed }}
  if: ${{ parameters.delivery == "apply" }}
- id: propose
  name: Propose the update of Database
  action: publish:change-request
  input:` + git + `
    title: Update Database ${{ parameters.name }}
    manifest: MANIFEST
    cluster: ${{ parameters.deliveryCluster }}
    merge: ${{ not parameters.observed }}
  if: ${{ parameters.delivery == "change-request" }}
`},
		"Delete": {"A deletion is applied or proposed.", "databases-delete", `
- id: delete
  name: Delete Database
  action: cluster:delete
  input:
    apiVersion: platform.io/v1
    kind: Database
    name: ${{ parameters.name }}
    namespace: ${{ parameters.namespace }}
    cluster: ${{ parameters.deliveryCluster }}
    propagation: ${{ parameters.propagation }}
    wait: true
  if: ${{ parameters.delivery == "apply" }}
- id: propose
  name: Propose to remove Database
  action: publish:change-request
  input:` + git + `
    title: Remove Database ${{ parameters.name }}
    manifest:
      apiVersion: platform.io/v1
      kind: Database
      metadata:
        name: ${{ parameters.name }}
        namespace: ${{ parameters.namespace }}
    remove: true
  if: ${{ parameters.delivery == "change-request" }}
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := pick(t, res.Entities, "Template", tc.name)
			if diff := cmp.Diff(strings.ReplaceAll(tc.want, "\n\n", "\n")[1:], steps(e)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if !slices.Contains(page(e, 0, "required").Strings(), form.ParamCluster) {
				t.Errorf("%s\nform does not ask for the cluster", tc.reason)
			}
		})
	}
	live := parsed(t, `{metadata: {name: one, namespace: shop, generation: 4}, spec: {size: big}}`)
	values := form.Fill(pick(t, res.Entities, "Template", "databases-update").Spec, live)
	if want := parsed(t, `{name: one, namespace: shop, size: big, observed: "`+xrd.Observed(live)+`"}`); !want.Equal(values) {
		t.Errorf("form is filled with %v", values.Any())
	}
}

// TestDayTwoOff checks that the option changes nothing else.
func TestDayTwoOff(t *testing.T) {
	late := version("v2", set(true, "deprecated"))
	for _, p := range engine.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			p.RequiredLabel, p.Modern = "", false
			input := engine.Input{Definition: define(t, words.Upstream, versions(version("v1"), late))}
			off := transform(t, p, engine.Options{}, input).Entities
			var rest []*entity.Entity
			for _, e := range transform(t, p, engine.Options{DayTwo: true}, input).Entities {
				const key = "backstage.io/template-purpose"
				purpose := e.Metadata.Annotations[key]
				if purpose == "update" || purpose == "delete" {
					if p.EveryVersion && !strings.HasPrefix(e.Metadata.Title, strings.ToUpper(purpose[:1])+purpose[1:]+" Database v") {
						t.Errorf("title %q does not have the version", e.Metadata.Title)
					}
					continue
				}
				delete(e.Metadata.Annotations, key)
				rest = append(rest, e)
			}
			if diff := cmp.Diff(string(entity.YAMLDocuments(off)), string(entity.YAMLDocuments(rest))); diff != "" {
				t.Errorf("without the new Templates (-off +on):\n%s", diff)
			}
		})
	}
}

// TestDayTwoNames checks that names which are too long are repaired and
// reported.
func TestDayTwoNames(t *testing.T) {
	long := strings.Repeat("a", 60) + ".platform.io"
	res := transform(t, engine.CLI, engine.Options{DayTwo: true}, engine.Input{Definition: define(t, words.Portal, named(long))})
	seen := 0
	for _, e := range res.Entities {
		if e.Kind == entity.KindTemplate && (strings.HasSuffix(e.Metadata.Name, "-update") || strings.HasSuffix(e.Metadata.Name, "-delete")) {
			seen++
		}
	}
	said := 0
	for _, f := range res.Findings {
		if f.Rule == engine.RuleName && (strings.Contains(f.Message, `-update" is not valid`) || strings.Contains(f.Message, `-delete" is not valid`)) {
			said++
		}
	}
	if seen != 2 || said != 2 {
		t.Errorf("%d Templates, %d findings, want 2 and 2: %q", seen, said, list(res.Entities))
	}
}

// TestDayTwoTemplates checks delivery with the files of a folder.
func TestDayTwoTemplates(t *testing.T) {
	repo, path := annotated(words.AnnotationGitOpsRepo, "https://git.example.com/acme/live.git"), annotated(words.AnnotationGitOpsPath, "clusters/live")
	values := map[string]any{"clusters": []any{"a", "b"}}
	cases := map[string]struct {
		reason        string
		wizard, steps string
		over          []string
		// want are the actions of the Templates.
		want   []string
		update string
	}{
		"Default": {"The default is that of the engine.", "", "", nil, []string{"cluster:apply", "cluster:apply", "cluster:delete"}, ""},
		"Cluster": {"The wizard asks for the cluster.", "multi-cluster", "", nil, []string{"cluster:apply", "cluster:apply", "cluster:delete"}, "cluster: ${{ parameters.deliveryCluster }}"},
		"Wizard": {"The developer chooses the delivery.", "gitops", "", nil, []string{
			"cluster:apply publish:change-request", "cluster:apply publish:change-request", "cluster:delete publish:change-request",
		}, "host: ${{ parameters.gitHost }}"},
		"Pull": {"With pull requests nothing is applied.", "", "pull-request", nil, []string{"publish:change-request", "publish:change-request", "publish:change-request"}, "host: git.example.com"},
		"Own": {"A Template of the folder overrides the built-in one.", "", "", []string{"portal/default.eta", `
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: {name: x}
spec: {type: t, owner: o, parameters: [], steps: <%= helpers.toJson(helpers.steps('apply')) %>}
---
apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata: {name: x-update}
spec: {type: t, owner: o, parameters: [], steps: [{id: a, action: debug:log}]}
`}, []string{"cluster:apply", "debug:log", "cluster:delete"}, ""},
		"Other": {"Without a delivery step there is no update.", "", "", []string{"steps/default.eta", "- {id: a, action: debug:log}\n"}, []string{"debug:log"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tr := engine.New(engine.Concept, engine.Options{DayTwo: true}, engine.Hooks{}).Templated(open(t, files(tc.over...)), engine.TemplateOptions{Values: values})
			d := define(t, words.Portal, repo, path, annotated(words.AnnotationWizard, tc.wizard), annotated(words.AnnotationSteps, tc.steps))
			res, err := tr.Transform(engine.Input{Definition: d})
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			valid(t, res.Entities)
			var got []string
			for _, e := range res.Entities {
				if e.Kind != entity.KindTemplate {
					continue
				}
				var actions []string
				for _, s := range e.Spec.Get("steps").List() {
					actions = append(actions, s.Get("action").Str())
				}
				got = append(got, strings.Join(actions, " "))
				if strings.HasSuffix(e.Metadata.Name, "-update") && !strings.Contains(steps(e), tc.update) {
					t.Errorf("%s\nno %q in\n%s", tc.reason, tc.update, steps(e))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s\n%q", tc.reason, diff, list(res.Entities))
			}
		})
	}
}

// TestClusters checks that the form asks for the cluster if there are several.
func TestClusters(t *testing.T) {
	for n, asked := range map[int]bool{0: false, 1: false, 2: true, 3: true} {
		names := []string{"a", "b", "c"}[:n]
		e := pick(t, transform(t, engine.CLI, engine.Options{Clusters: names}, engine.Input{Definition: define(t, words.Portal)}).Entities, "Template", "databases")
		ask := page(e, 0, "properties", form.ParamCluster)
		step := e.Spec.Get("steps").Items[0].Get("input", "cluster").Str()
		if !asked {
			if ask != nil || step != "" {
				t.Errorf("form with %d clusters asks for one: %v, %q", n, ask.Any(), step)
			}
			continue
		}
		if diff := cmp.Diff(names, ask.Get("enum").Strings()); diff != "" || step != "${{ parameters.deliveryCluster }}" || !slices.Contains(page(e, 0, "required").Strings(), form.ParamCluster) {
			t.Errorf("%d clusters: %s%q", n, diff, step)
		}
	}
	// A wizard that already asks for the cluster does not ask twice.
	tr := engine.New(engine.Concept, engine.Options{Clusters: []string{"a", "b"}}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{})
	res, err := tr.Transform(engine.Input{Definition: define(t, words.Portal, annotated(words.AnnotationWizard, "multi-cluster"))})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(fmt.Sprint(res.Entities[0].Spec.Get("parameters").Any()), form.ParamCluster+":"); got != 1 || len(res.Findings) > 0 {
		t.Errorf("cluster is asked for %d times; findings %v", got, res.Findings)
	}
}
