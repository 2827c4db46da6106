package entity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

const templateInPortalWords = `apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata:
  name: composer
  title: composer portal.io/x
  description: see portal.io/owner
  labels: {example.dev/version: v1, portal.io/cluster-id: composer}
  annotations:
    scaffolder.portal.io/template-origin: composer-ingestor
    portal.io/managed-by-location: url:https://portal.io/x
    composer.io/xrd-name: a.composer.io
    mine.example.com/a: composer-ingestor
  tags: [composer, "source:composer-ingestor", composer-xrd, crossplane]
spec:
  type: composer-xrd
  owner: composer
  parameters: {properties: {portal.io/owner: {default: "cluster:apply", type: composer-xrd}}}
  steps:
    - action: cluster:apply
      name: cluster:apply
      input:
        action: cluster:apply
        manifest:
          apiVersion: portal.io/v1
          metadata:
            annotations: {portal.io/owner: portal.io/owner, backstage.io/owner: lost, a: b}
            labels: {vendor.portal.io/x: y}
            portal.io/other: z
          spec: {portal.io/owner: composer}
    - action: debug:log
      input: {manifest: "portal.io/owner: a"}
    - action: catalog:write
      input: {entity: {metadata: {annotations: {portal.io/owner: a}}}}
    - text
`

const templateInUpstreamWords = `apiVersion: scaffolder.backstage.io/v1beta3
kind: Template
metadata:
  name: composer
  title: composer portal.io/x
  description: see portal.io/owner
  labels: {openportal.dev/version: v1, backstage.io/kubernetes-id: composer}
  annotations:
    scaffolder.backstage.io/template-origin: crossplane-ingestor
    backstage.io/managed-by-location: url:https://portal.io/x
    crossplane.io/xrd-name: a.composer.io
    mine.example.com/a: composer-ingestor
  tags: [crossplane, "source:crossplane-ingestor", composer-xrd]
spec:
  type: crossplane-xrd
  owner: composer
  parameters: {properties: {portal.io/owner: {default: "cluster:apply", type: composer-xrd}}}
  steps:
    - action: kubernetes:apply
      name: cluster:apply
      input:
        action: cluster:apply
        manifest:
          apiVersion: portal.io/v1
          metadata:
            annotations: {backstage.io/owner: portal.io/owner, a: b}
            labels: {terasky.backstage.io/x: y}
            portal.io/other: z
          spec: {portal.io/owner: composer}
    - action: debug:log
      input: {manifest: "portal.io/owner: a"}
    - action: catalog:write
      input: {entity: {metadata: {annotations: {backstage.io/owner: a}}}}
    - text
`

func parsed(t *testing.T, text string) *Entity {
	t.Helper()
	e, err := Parse(spec(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSpeak(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		words  words.Vocabulary
		want   string
	}{
		"portal":   {"The contract's vocabulary needs no translation.", templateInPortalWords, words.Portal, templateInPortalWords},
		"upstream": {"Identifiers are translated; text and schemas are not.", templateInPortalWords, words.Upstream, templateInUpstreamWords},
		"again":    {"A translated Template is not changed again.", templateInUpstreamWords, words.Upstream, templateInUpstreamWords},
		"other kinds": {
			"Only Templates have steps.",
			"{apiVersion: portal.io/v1alpha1, kind: Resource, metadata: {name: a}, spec: {type: composer-xr, steps: [{action: 'cluster:apply'}]}}",
			words.Upstream,
			"{apiVersion: backstage.io/v1alpha1, kind: Resource, metadata: {name: a}, spec: {type: crossplane-xr, steps: [{action: 'cluster:apply'}]}}",
		},
		"odd shapes": {
			"A Template with fields of other types is not changed.",
			"{apiVersion: v1, kind: Template, metadata: {name: a}, spec: {type: [composer-xrd], steps: {action: 'cluster:apply'}}}",
			words.Upstream,
			"{apiVersion: v1, kind: Template, metadata: {name: a}, spec: {type: [composer-xrd], steps: {action: 'cluster:apply'}}}",
		},
		"odd manifests": {
			"A manifest with fields of other types is not changed.",
			"{kind: Template, spec: {steps: [{input: {manifest: {metadata: {labels: [portal.io/a]}}}}]}}",
			words.Upstream,
			"{kind: Template, spec: {steps: [{input: {manifest: {metadata: {labels: [portal.io/a]}}}}]}}",
		},
		"no spec": {"All fields are optional.", "{kind: Template}", words.Upstream, "{kind: Template}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, original := parsed(t, tc.in), parsed(t, tc.in)
			before := *got
			Speak(got, tc.words)
			if diff := cmp.Diff(parsed(t, tc.want), got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(original, &before); diff != "" {
				t.Errorf("%s\nshared parts were changed: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		words  words.Vocabulary
		want   string
	}{
		"Upstream": {"Identifiers are translated; text and schemas are not.", templateInPortalWords, words.Upstream, templateInUpstreamWords},
		"Again":    {"A translated Template is not changed again.", templateInUpstreamWords, words.Upstream, templateInUpstreamWords},
		"Own":      {"Nor is one that has the vocabulary.", "{apiVersion: portal.io/v1alpha1, metadata: {tags: [composer, a]}}", words.Portal, "{apiVersion: portal.io/v1alpha1, metadata: {tags: [composer, a]}}"},
		"Portal": {
			"It translates in the other direction too; the contract's spelling of a key wins.",
			"{apiVersion: scaffolder.backstage.io/v1beta3, kind: Template, metadata: {annotations: {backstage.io/owner: lost, portal.io/owner: kept, scaffolder.backstage.io/template-origin: crossplane-ingestor}, tags: [crossplane, composer]}, spec: {type: crossplane-xr, steps: [{action: 'kubernetes:apply'}]}}",
			words.Portal,
			"{apiVersion: scaffolder.portal.io/v1beta3, kind: Template, metadata: {annotations: {portal.io/owner: kept, scaffolder.portal.io/template-origin: composer-ingestor}, tags: [composer]}, spec: {type: composer-xr, steps: [{action: 'cluster:apply'}]}}",
		},
		"Foreign": {
			"Actions of Backstage that are only understood stay as they are: their inputs differ.",
			"{kind: Template, spec: {steps: [{action: 'publish:github:pull-request'}]}}", words.Portal,
			"{kind: Template, spec: {steps: [{action: 'publish:github:pull-request'}]}}",
		},
		"Mixed": {"Both vocabularies in one document become one.", "{apiVersion: backstage.io/v1alpha1, metadata: {labels: {example.dev/version: v1}}, spec: {type: composer-xrd}}", words.Upstream, "{apiVersion: backstage.io/v1alpha1, metadata: {labels: {openportal.dev/version: v1}}, spec: {type: crossplane-xrd}}"},
		"Odd":   {"Fields of other types are not changed.", "{apiVersion: 1, metadata: {labels: [a], annotations: x, tags: {composer: 1}}, spec: [type]}", words.Upstream, "{apiVersion: 1, metadata: {labels: [a], annotations: x, tags: {composer: 1}}, spec: [type]}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := spec(tc.in)
			if diff := cmp.Diff(spec(tc.want), Translate(in, tc.words)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(spec(tc.in), in); diff != "" {
				t.Errorf("%s\nshared parts were changed: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSpeakSharesWhatDoesNotChange(t *testing.T) {
	e := parsed(t, templateInPortalWords)
	old := e.Spec
	Speak(e, words.Upstream)
	for _, path := range [][]string{{"parameters"}, {"owner"}} {
		if e.Spec.Get(path...) != old.Get(path...) {
			t.Errorf("%v was copied needlessly", path)
		}
	}
	if e.Spec.Get("steps").Items[1] != old.Get("steps").Items[1] {
		t.Error("step without a word to translate was copied")
	}
	manifest := func(n *tree.Node) *tree.Node { return n.Get("steps").Items[0].Get("input", "manifest", "spec") }
	if manifest(e.Spec) != manifest(old) {
		t.Error("spec of the manifest was copied")
	}
	spoken := e.Spec
	Speak(e, words.Upstream)
	if e.Spec != spoken {
		t.Error("spec without a word to translate was copied")
	}
}
