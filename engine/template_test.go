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

// TestSteps checks the steps and the output of a form.
func TestSteps(t *testing.T) {
	const apply = `steps:
  - id: apply
    name: Apply Database
    action: cluster:apply
    input:
      manifest:
        apiVersion: platform.io/v1
        kind: Database
        metadata:
          name: ${{ parameters.name }}
          namespace: ${{ parameters.namespace }}
          annotations:
            portal.io/owner: ${{ parameters.owner }}
        spec:
          size: ${{ parameters.size }}
`
	const said = `output:
  text:
    - title: Database
      content: Database ${{ parameters.name }} in namespace ${{ parameters.namespace }}
`
	cases := map[string]struct {
		reason string
		edits  []edit
		opts   engine.Options
		want   string
	}{
		"apply": {reason: "The manifest is applied.", want: apply + said},
		"cluster": {
			reason: "A cluster-scoped resource has no namespace.", edits: []edit{set("Cluster", "spec", "scope")},
			want: strings.NewReplacer("          namespace: ${{ parameters.namespace }}\n", "", " in namespace ${{ parameters.namespace }}", "").Replace(apply + said),
		},
		"claim": {
			reason: "The claim is created, not the composite.", edits: []edit{set("XDatabase", "spec", "names", "kind"), claimed("Database", "databases")},
			want: apply + said,
		},
		"delivery": {
			reason: "The developer chooses between applying and a change request.", opts: engine.Options{GitOps: true},
			want: apply + `    if: ${{ parameters.delivery == "apply" }}
  - id: propose
    name: Propose Database
    action: publish:change-request
    input:
      host: ${{ parameters.gitHost }}
      repository: ${{ parameters.gitRepository }}
      path: ${{ parameters.gitPath }}
      branch: ${{ parameters.gitBranch }}
      title: Add Database ${{ parameters.name }}
` + apply[strings.Index(apply, "      manifest:"):] + `    if: ${{ parameters.delivery == "change-request" }}
` + said + `  links:
    - if: ${{ parameters.delivery == "change-request" }}
      title: Change request
      url: ${{ steps.propose.output.remoteUrl }}
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.NoCompositionDetails = true
			res := transform(t, engine.CLI, tc.opts, engine.Input{Definition: define(t, words.Portal, tc.edits...)})
			spec := first(t, res.Entities, entity.KindTemplate).Spec
			got := tree.Obj(tree.F("steps", spec.Get("steps")), tree.F("output", spec.Get("output")))
			if diff := cmp.Diff(tree.AppendYAML(nil, parsed(t, tc.want)), tree.AppendYAML(nil, got)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTitleVersion checks that a title has the version if there are several
// Templates.
func TestTitleVersion(t *testing.T) {
	two := versions(version("v1"), version("v2", set(true, "referenceable")))
	cases := map[string]struct {
		reason  string
		profile engine.Profile
		edits   []edit
		want    string
	}{
		"one for the definition":    {"There is one Template.", engine.CLI, []edit{two}, "Database"},
		"one for each, of two":      {"There are two Templates.", engine.ClusterIngestor, []edit{two}, "Database v2"},
		"one for each, of one":      {"There is one Template.", engine.ClusterIngestor, nil, "Database"},
		"one for each, annotated":   {"The title of the annotation would be the same for both.", engine.ClusterIngestor, []edit{two, annotated("portal.io/template-title", "DB")}, "DB v2"},
		"one for each, one is gone": {"An unserved version has no Template.", engine.ClusterIngestor, []edit{versions(version("v1"), version("v2", set(false, "served")))}, "Database"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := transform(t, tc.profile, engine.Options{}, engine.Input{Definition: define(t, words.Portal, tc.edits...)})
			if got := res.Entities[0].Metadata.Title; got != tc.want {
				t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestTagsEverywhere checks that all entities of a definition have its tags.
func TestTagsEverywhere(t *testing.T) {
	res := transform(t, engine.CLI, engine.Options{Tags: []string{"b"}}, surrounded(t, words.Portal, annotated("portal.io/template-tags", "a")))
	for _, e := range res.Entities {
		if diff := cmp.Diff([]string{"composer", "source:composer-ingestor", "a", "b"}, e.Metadata.Tags); diff != "" {
			t.Errorf("tags of %s %s (-want +got):\n%s", e.Kind, e.Metadata.Name, diff)
		}
	}
}

// TestUsable checks names at the limits of what a cluster accepts: each gets a
// form.
func TestUsable(t *testing.T) {
	cases := map[string][]edit{
		"letters":      {set("AZaz09", "spec", "names", "kind"), set("az09-az", "spec", "names", "plural"), set("az-09.az09", "spec", "group")},
		"one letter":   {set("K", "spec", "names", "kind"), set("k", "spec", "names", "plural"), set("g", "spec", "group"), versions(version("a"))},
		"long":         {set(strings.Repeat("g", 253), "spec", "group")},
		"dashes":       {versions(version("v1-rc-9"))},
		"no plural":    {without("spec", "names", "plural")},
		"no schema":    {versions(object{"name": "v1"})},
		"no composite": {without("spec", "names", "kind"), claimed("Claim", "claims")},
	}
	for name, edits := range cases {
		res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal, edits...)})
		if len(res.Entities) != 3 || len(rules(res.Findings)) > 0 {
			t.Errorf("%s: got %q, findings %v", name, list(res.Entities), res.Findings)
		}
	}
	res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: define(t, words.Portal, set(strings.Repeat("g", 254), "spec", "group"))})
	if len(res.Entities) != 1 {
		t.Errorf("entities for a group longer than any host name: %q", list(res.Entities))
	}
}

// TestFindings checks messages and positions of findings.
func TestFindings(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"not served": {
			reason: "The position is that of the versions.",
			text:   "spec:\n  group: a.io\n  names: {kind: A, plural: as}\n  versions:\n  - {name: v1, served: false}\n",
			want:   []string{"sample.yaml:9:3: as.a.io: definition has no served version, so it gets no Template and no API (serve at least one version)"},
		},
		"no versions": {
			reason: "Without versions the position is that of the spec.",
			text:   "spec:\n  group: a.io\n  names: {kind: A, plural: as}\n",
			want:   []string{"sample.yaml:6:3: as.a.io: definition has no served version, so it gets no Template and no API (serve at least one version)"},
		},
		"no spec": {
			reason: "Without a spec the position is that of the document.",
			want:   []string{"sample.yaml:1:1: as.a.io: definition has no served version, so it gets no Template and no API (serve at least one version)"},
		},
		"no group": {
			reason: "The position is that of the spec.",
			text:   "spec:\n  names: {kind: A, plural: as}\n  versions:\n  - {name: v1}\n",
			want:   []string{"sample.yaml:6:3: as.a.io: definition has no usable group and kind, so it gets no Template and no API (set spec.group and spec.names to values that Kubernetes accepts)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := definition(t, []byte("apiVersion: apiextensions.composer.io/v2\nkind: CompositeResourceDefinition\nmetadata:\n  name: as.a.io\n"+tc.text))
			var got []string
			for _, f := range transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d}).Findings {
				got = append(got, f.Where()+": "+f.Object+": "+f.Message+" ("+f.Hint+")")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFindingsOfForms checks that findings of the form compiler are passed on.
func TestFindingsOfForms(t *testing.T) {
	d := define(t, words.Portal, versions(object{"name": "v1"}, object{"name": "v2"}))
	for _, p := range engine.Profiles {
		res := transform(t, p, engine.Options{}, engine.Input{Definition: d})
		want := 1
		if p.EveryVersion {
			want = 2
		}
		if len(res.Findings) != want || res.Findings[0].Rule != "FORM002" {
			t.Errorf("%s: findings are %v, want %d about spec declares no fields", p.Name, res.Findings, want)
		}
	}
}

// TestFindingOfName checks the finding about a repaired name.
func TestFindingOfName(t *testing.T) {
	res := transform(t, engine.ComposerIngestor, engine.Options{NoAPI: true}, engine.Input{Definition: define(t, words.Portal, named("a b"))})
	var got []string
	for _, f := range res.Findings {
		got = append(got, f.Where()+": "+f.Message)
	}
	want := []string{
		`sample.yaml:4:9: Template name "a b" is not valid in the catalog and becomes "a-b-c8687a08"`,
		`sample.yaml:4:9: Resource name "a b-xrd" is not valid in the catalog and becomes "a-b-c8687a08-xrd"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDelivery checks the form and the steps of variant A with change requests.
func TestDelivery(t *testing.T) {
	repo, path := annotated("portal.io/gitops-repo", "https://git.example.org/platform/live.git"), annotated("portal.io/gitops-path", "/clusters/prod/")
	cases := map[string]struct {
		reason string
		edits  []edit
		want   string
	}{
		"neither": {"Without a repository the default is to apply.", nil, "apply: gitHost= gitRepository= gitPath= gitBranch=main"},
		"both":    {"With a repository the default is a change request.", []edit{repo, path}, "change-request: gitHost=git.example.org gitRepository=platform/live gitPath=clusters/prod gitBranch=main"},
		"path":    {"With only a path the default is to apply.", []edit{path}, "apply: gitHost= gitRepository= gitPath=clusters/prod gitBranch=main"},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				res := transform(t, engine.ComposerIngestor, engine.Options{GitOps: true}, engine.Input{Definition: define(t, v, tc.edits...)})
				e := first(t, res.Entities, entity.KindTemplate)
				pages := e.Spec.Get("parameters").List()
				delivery := pages[len(pages)-1]
				got := delivery.Get("properties", "delivery", "default").Str() + ":"
				asked := delivery.Get("dependencies", "delivery", "oneOf").List()[1]
				used := e.Spec.Get("steps").List()[1].Get("input")
				for _, field := range [][2]string{{"gitHost", "host"}, {"gitRepository", "repository"}, {"gitPath", "path"}, {"gitBranch", "branch"}} {
					got += " " + field[0] + "=" + asked.Get("properties", field[0], "default").Str()
					if want := "${{ parameters." + field[0] + " }}"; used.Get(field[1]).Str() != want {
						t.Errorf("%s\ninput %s of the step is %q, want %q", tc.reason, field[1], used.Get(field[1]).Str(), want)
					}
				}
				if got != tc.want {
					t.Errorf("%s\ngot %q, want %q", tc.reason, got, tc.want)
				}
				if diff := cmp.Diff([]string{"gitHost", "gitRepository", "gitPath", "gitBranch"}, asked.Get("required").Strings()); diff != "" {
					t.Errorf("%s\nrequired (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}
