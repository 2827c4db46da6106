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

// choice parses a value of --words.
func choice(t *testing.T, s string) words.Choice {
	t.Helper()
	c, err := words.ParseChoice(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is a definition in which every word of the vocabulary is an identifier,
// so that translating all of the output equals translating the identifiers.
func plain() []edit {
	return []edit{
		labelled("example.dev/ingest", "true"), labelled("example.dev/version", "1.0"), labelled("portal.io/template-type", "storage"),
		annotated("portal.io/template-title", "A database"), annotated("portal.io/owner", "data"), annotated("portal.io/template-tags", "sql"),
		annotated("portal.io/api-kind", "REST"),
	}
}

func TestWords(t *testing.T) {
	cases := map[string]struct {
		reason  string
		choice  string
		written words.Vocabulary
		want    words.Vocabulary
	}{
		"auto, ours":         {"The default is the vocabulary of the definition.", "auto", words.Portal, words.Portal},
		"auto, upstream":     {"The default is the vocabulary of the definition.", "auto", words.Upstream, words.Upstream},
		"portal, ours":       {"A choice equal to the definition is kept.", "portal", words.Portal, words.Portal},
		"portal, upstream":   {"A choice overrides the definition.", "portal", words.Upstream, words.Portal},
		"upstream, ours":     {"A choice overrides the definition.", "upstream", words.Portal, words.Upstream},
		"upstream, upstream": {"A choice equal to the definition is kept.", "upstream", words.Upstream, words.Upstream},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, p := range engine.Profiles {
				opts := engine.Options{Now: found, GitOps: true}
				reference := transform(t, p, opts, surrounded(t, words.Portal, plain()...))
				opts.Words = choice(t, tc.choice)
				res := transform(t, p, opts, surrounded(t, tc.written, plain()...))
				if diff := cmp.Diff(spelled(t, tc.want, reference.Entities), spelled(t, words.Portal, res.Entities)); diff != "" {
					t.Errorf("%s\n%s (-want +got):\n%s", tc.reason, p.Name, diff)
				}
			}
		})
	}
}

// spelled returns entities with everything translated, and the keys of every
// map sorted, because translation can change their order.
func spelled(t *testing.T, v words.Vocabulary, es []*entity.Entity) string {
	t.Helper()
	var out []byte
	for _, e := range es {
		e.Metadata.Annotations = withoutVersion(e.Metadata.Annotations)
		out = tree.AppendYAML(out, parsed(t, in(v, string(entity.AppendYAML(nil, e)))).Sorted())
	}
	return string(out)
}

// withoutVersion removes the version mark of a form from annotations, which is
// checked elsewhere.
func withoutVersion(m map[string]string) map[string]string {
	delete(m, "scaffolder.portal.io/template-version")
	delete(m, "scaffolder.backstage.io/template-version")
	return m
}

// tricky is a definition whose texts look like words of the vocabularies.
func tricky() []edit {
	const talk = "Set portal.io/owner or backstage.io/owner; composer, crossplane and cluster:apply are words."
	text := object{"type": "string", "description": talk, "title": "portal.io/title", "default": "composer-xrd"}
	text["enum"] = []any{"composer-xrd", "crossplane-xrd", "source:composer-ingestor", "kubernetes:apply", "portal.io/v1alpha1"}
	props := object{
		"backstage.io/x": text, "portal.io/x": text, "composer": text, "composer.io/y": text, "crossplane.io/y": text,
		"type": text, "action": text, "annotations": object{"type": "object", "properties": object{"portal.io/owner": text, "backstage.io/owner": text}},
	}
	return []edit{
		named("composers.portal.io"), set("portal.io", "spec", "group"),
		annotated("portal.io/template-title", "composer"), annotated("portal.io/template-description", talk),
		annotated("portal.io/owner", "group:composer/composer"), annotated("portal.io/system", "composer"), annotated("portal.io/api-version", "composer"),
		labelled("example.dev/version", "portal.io"),
		versions(version("v1", schemaOf(props, "properties", "spec", "properties"), schemaOf(talk, "description"))),
	}
}

// TestWordsInText checks that only identifiers are translated.
func TestWordsInText(t *testing.T) {
	for _, written := range vocabularies {
		for _, p := range engine.Profiles {
			var told [2][]*entity.Entity
			for i, c := range []string{"portal", "upstream"} {
				input := engine.Input{Definition: define(t, written, tricky()...)}
				told[i] = transform(t, p, engine.Options{Words: choice(t, c), GitOps: true}, input).Entities
			}
			for i, e := range told[0] {
				other := told[1][i]
				if diff := cmp.Diff(texts(e), texts(other)); diff != "" {
					t.Errorf("%s, written in %s: %s in both vocabularies (-portal +upstream):\n%s", p.Name, written, e.Kind, diff)
				}
				if e.APIVersion == other.APIVersion {
					t.Errorf("%s, written in %s: %s is of %s in both vocabularies", p.Name, written, e.Kind, e.APIVersion)
				}
			}
			properties := page(first(t, told[1], entity.KindTemplate), 1, "properties")
			for _, key := range []string{"backstage.io/x", "portal.io/x", "composer.io/y", "crossplane.io/y"} {
				if diff := cmp.Diff([]string{"composer-xrd", "crossplane-xrd", "source:composer-ingestor", "kubernetes:apply", "portal.io/v1alpha1"}, properties.Get(key, "enum").Strings()); diff != "" {
					t.Errorf("%s, written in %s: choices of %s (-want +got):\n%s", p.Name, written, key, diff)
				}
			}
			if got := first(t, told[1], entity.KindTemplate).Spec.Get("steps").List()[0].Get("input", "manifest", "apiVersion").Str(); got != "portal.io/v1" {
				t.Errorf("%s, written in %s: form creates kind %q, want that of the definition", p.Name, written, got)
			}
		}
	}
}

// texts lists the parts of an entity that are free text or are not written by
// the engine.
func texts(e *entity.Entity) map[string]string {
	m := map[string]string{
		"name": e.Metadata.Name, "title": e.Metadata.Title, "description": e.Metadata.Description,
		"owner": e.Spec.Get("owner").Str(), "system": e.Spec.Get("system").Str(), "definition": e.Spec.Get("definition").Str(),
		"parameters": string(tree.AppendYAML(nil, e.Spec.Get("parameters"))), "output": string(tree.AppendYAML(nil, e.Spec.Get("output"))),
		"dependsOn": strings.Join(e.Spec.Get("dependsOn").Strings(), " "),
	}
	for _, a := range []string{"portal.io/", "backstage.io/"} {
		if v, ok := e.Metadata.Annotations[a+"source-location"]; ok {
			m["location"] = v
		}
	}
	for _, v := range e.Metadata.Labels {
		m["label"] += v
	}
	for _, step := range e.Spec.Get("steps").List() {
		manifest := step.Get("input", "manifest")
		for _, key := range []string{"apiVersion", "kind", "spec"} {
			m["manifest"] += string(tree.AppendYAML(nil, manifest.Get(key)))
		}
		m["names of steps"] += step.Get("name").Str() + step.Get("input", "title").Str()
	}
	return m
}

// TestWordsMixed checks that annotations are read in either vocabulary,
// regardless of that of the definition.
func TestWordsMixed(t *testing.T) {
	cases := map[string]struct {
		reason      string
		annotations map[string]string
		want        string
	}{
		"ours":     {"The word of the contract is read.", map[string]string{"portal.io/owner": "a"}, "a"},
		"upstream": {"The upstream word is read.", map[string]string{"backstage.io/owner": "b"}, "b"},
		"both":     {"Of both the word of the contract wins.", map[string]string{"portal.io/owner": "a", "backstage.io/owner": "b"}, "a"},
	}
	for name, tc := range cases {
		for _, v := range vocabularies {
			o := translated(v, database())
			for key, value := range tc.annotations {
				annotated(key, value)(o)
			}
			n, err := tree.From(o)
			if err != nil {
				t.Fatal(err)
			}
			d := definition(t, tree.AppendYAML(nil, n))
			res := transform(t, engine.CLI, engine.Options{}, engine.Input{Definition: d})
			if got := first(t, res.Entities, entity.KindTemplate).Spec.Get("owner").Str(); got != tc.want {
				t.Errorf("%s, %s: %s: got %q, want %q", name, v, tc.reason, got, tc.want)
			}
		}
	}
}
