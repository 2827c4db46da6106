package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/source"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

type object = map[string]any

// hostile has strings with a special meaning: in a path, a terminal, a
// template, YAML, JavaScript or a database.
var hostile = []string{
	"", " ", ".", "..", "../../x", "/etc/passwd", "a/b", "a:b", "a b", "-", "--", "_", "A", "Ä", "数据库", "\x00", "\x1b[31m", "\u202e", "a\nb", "a\r\nb",
	"${{ secrets.x }}", "${{ parameters.name }}", "{{ x }}", "<% x %>", "<script>", "\"", "'", "\\", "`", "#", "---", "...", "&a", "*a", "!!str", "|", ">", "%", "@",
	"null", "true", "no", "on", "1", "1.0", "0x1", "1e3", ".inf", "2026-01-02", "=", "<<", "~", "CON", "con.example.org",
	"__proto__", "constructor", "toString", "name", "namespace", "owner", "spec", "spec_name", "composition", "type", "properties", "default", "title", "description", "items", "required", "ui:field", "x-kubernetes-foo", "crossplane",
	strings.Repeat("n", 300), strings.Repeat("ab-", 50),
}

func text(t *rapid.T, label string) string {
	if rapid.IntRange(0, 3).Draw(t, label+"?") == 0 {
		return rapid.StringN(0, 40, 200).Draw(t, label)
	}
	return rapid.SampledFrom(hostile).Draw(t, label)
}

// word returns an ordinary word most of the time.
func word(t *rapid.T, label string, sane ...string) string {
	if rapid.IntRange(0, 5).Draw(t, label+"?") == 0 {
		return text(t, label)
	}
	return rapid.SampledFrom(sane).Draw(t, label)
}

// odds returns true once in n times.
func odds(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(1, n).Draw(t, label) == n
}

// value returns any JSON value.
func value(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 7).Draw(t, "value"); {
	case n == 0:
		return nil
	case n == 1:
		return rapid.Bool().Draw(t, "bool")
	case n == 2:
		return rapid.Int64().Draw(t, "int")
	case n == 3:
		return rapid.Float64Range(-1e6, 1e6).Draw(t, "float")
	case n == 4 && depth > 0:
		return []any{value(t, depth-1), value(t, depth-1)}
	case n == 5 && depth > 0:
		return object{text(t, "key"): value(t, depth-1)}
	}
	return text(t, "string")
}

// keywords are keywords of a schema besides its type, valid or not.
var keywords = []struct {
	name string
	make func(t *rapid.T) any
}{
	{"default", func(t *rapid.T) any { return value(t, 2) }},
	{"enum", func(t *rapid.T) any { return []any{value(t, 0), value(t, 0), text(t, "enum")} }},
	{"pattern", func(t *rapid.T) any {
		return word(t, "pattern", `^[a-z]+$`, `(?i)^x$`, `(`, `(?<=a)b`, `\p{L}+`, `^\d{3}$`)
	}},
	{"format", func(t *rapid.T) any { return word(t, "format", "uri", "duration", "email", "int32") }},
	{"minimum", func(t *rapid.T) any { return value(t, 0) }},
	{"maxLength", func(t *rapid.T) any { return value(t, 0) }},
	{"nullable", func(t *rapid.T) any { return value(t, 0) }},
	{"title", func(t *rapid.T) any { return value(t, 1) }},
	{"x-kubernetes-preserve-unknown-fields", func(t *rapid.T) any { return value(t, 0) }},
	{"x-kubernetes-int-or-string", func(*rapid.T) any { return true }},
	{"x-kubernetes-validations", func(t *rapid.T) any {
		return []any{object{"rule": text(t, "rule"), "message": text(t, "message")}}
	}},
	{"x-ui-order", func(t *rapid.T) any { return value(t, 0) }},
	{"x-ui-hidden", func(t *rapid.T) any { return value(t, 0) }},
	{"x-ui-field", func(t *rapid.T) any { return value(t, 1) }},
	{"x-ui-options", func(t *rapid.T) any { return value(t, 2) }},
}

// schema returns a schema of a few levels, with errors.
func schema(t *rapid.T, depth int) any {
	if odds(t, "not a schema", 30) {
		return value(t, 1)
	}
	s := object{"type": word(t, "type", "string", "integer", "number", "boolean", "object", "array")}
	if odds(t, "no type", 10) {
		delete(s, "type")
	}
	if odds(t, "description", 2) {
		s["description"] = text(t, "text")
	}
	for _, k := range keywords {
		if odds(t, k.name, 12) {
			s[k.name] = k.make(t)
		}
	}
	if odds(t, "keyword?", 12) {
		s[text(t, "keyword")] = value(t, 1)
	}
	if depth == 0 {
		return s
	}
	props := object{}
	var required []any
	for range rapid.IntRange(0, 4).Draw(t, "properties") {
		name := word(t, "property", "size", "region", "engine", "tags", "enabled")
		props[name] = schema(t, depth-1)
		if odds(t, "required", 3) {
			required = append(required, name)
		}
	}
	if len(props) > 0 {
		s["type"], s["properties"] = "object", props
	}
	if len(required) > 0 {
		s["required"] = required
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if odds(t, key, 6) {
			s[key] = schema(t, depth-1)
		}
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if odds(t, key, 15) {
			s[key] = []any{object{"required": []any{"size"}}, schema(t, 0)}
		}
	}
	return s
}

// pairs returns labels or annotations: some of ours, some unusual.
func pairs(t *rapid.T, label string, ours ...string) object {
	m := object{}
	for range rapid.IntRange(0, 4).Draw(t, label) {
		m[word(t, label, ours...)] = word(t, "value", "true", "team-a", "a,b", "group:default/x", "infrastructure")
	}
	return m
}

// definition returns a definition with few possible names, so that names
// collide. It has at least one name, as definitions without any are only told
// apart by their content.
func definition(t *rapid.T) (d object, group, kind string) {
	group = word(t, "group", "example.org", "example.com", "composer.io", "crossplane.io")
	plural := word(t, "plural", "as", "bs", "As", "databases")
	kind = word(t, "kind", "A", "B", "XDatabase")
	name := plural + "." + group
	if odds(t, "other name", 5) {
		name = text(t, "name")
	}
	var versions []any
	for range rapid.IntRange(0, 3).Draw(t, "versions") {
		versions = append(versions, object{
			"name": word(t, "version", "v1", "v1beta1", "v2alpha1"), "served": !odds(t, "unserved", 5), "referenceable": rapid.Bool().Draw(t, "referenceable"),
			"deprecated": odds(t, "deprecated", 5), "deprecationWarning": text(t, "warning"),
			"schema": object{"openAPIV3Schema": object{
				"type": "object", "description": text(t, "description"),
				"properties": object{"spec": schema(t, rapid.IntRange(0, 3).Draw(t, "depth"))},
			}},
		})
	}
	spec := object{"group": group, "names": object{"kind": kind, "plural": plural}, "versions": versions}
	if odds(t, "claim", 2) {
		spec["claimNames"] = object{"kind": word(t, "claim", "Database", "C"), "plural": word(t, "claims", "cs", "claims")}
	}
	if odds(t, "scope", 2) {
		spec["scope"] = word(t, "scope", "Namespaced", "Cluster", "LegacyCluster")
	}
	for _, key := range []string{"defaultCompositionRef", "enforcedCompositionRef"} {
		if odds(t, key, 6) {
			spec[key] = object{"name": word(t, key, "one", "two")}
		}
	}
	if odds(t, "mistake", 8) {
		spec[text(t, "field")] = value(t, 2)
	}
	return object{
		"apiVersion": rapid.SampledFrom([]string{"apiextensions.crossplane.io/v1", "apiextensions.crossplane.io/v2", "apiextensions.composer.io/v1", "apiextensions.composer.io/v2", "apiextensions.crossplane.io/v1beta1", "apiextensions.composer.io/v9"}).Draw(t, "apiVersion"),
		"kind":       "CompositeResourceDefinition",
		"metadata": object{
			"name":        name,
			"labels":      pairs(t, "labels", "example.dev/version", "openportal.dev/version", "portal.io/template-type", "backstage.io/template-type"),
			"annotations": pairs(t, "annotations", "portal.io/owner", "backstage.io/owner", "portal.io/system", "backstage.io/system", "portal.io/template-tags", "portal.io/template-title", "portal.io/default-namespace", "backstage.io/api-version", "portal.io/api-kind"),
		},
		"spec": spec,
	}, group, kind
}

// world returns a few definitions with Compositions and composites, one per
// document.
func world(t *rapid.T) [][]byte {
	var docs [][]byte
	add := func(o object) {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("cannot encode %v: %v", o, err)
		}
		docs = append(docs, data)
		if odds(t, "twice", 10) {
			docs = append(docs, data)
		}
	}
	for range rapid.IntRange(1, 4).Draw(t, "definitions") {
		d, group, kind := definition(t)
		add(d)
		if odds(t, "composition", 2) {
			add(object{
				"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition",
				"metadata": object{"name": word(t, "composition", "one", "two"), "annotations": pairs(t, "annotations", "backstage.io/owner")},
				"spec": object{
					"compositeTypeRef": object{"apiVersion": group + "/v1", "kind": kind}, "mode": word(t, "mode", "Pipeline", "Resources"),
					"pipeline": []any{object{"step": text(t, "step"), "functionRef": object{"name": text(t, "function")}}},
				},
			})
		}
		if odds(t, "composite", 2) {
			add(object{
				"apiVersion": group + "/v1", "kind": kind,
				"metadata": object{"name": word(t, "composite", "mine", "yours"), "namespace": word(t, "namespace", "shop", ""), "labels": pairs(t, "labels", "backstage.io/kubernetes-id", "portal.io/cluster-id")},
				"spec":     object{"compositionRef": object{"name": word(t, "uses", "one", "two")}},
			})
		}
	}
	return docs
}

// read returns a source with one file per document.
func read(docs [][]byte, names []string) source.Source {
	return source.Func(func(context.Context) (*xrd.Set, error) {
		var set xrd.Set
		for i, doc := range docs {
			if err := set.Read(bytes.NewReader(doc), xrd.Origin{File: names[i]}); err != nil {
				return &set, err
			}
		}
		return &set, nil
	})
}

// TestRandom transforms random definitions, and checks that the output is
// valid, complete and deterministic.
func TestRandom(t *testing.T) {
	t.Parallel()
	upstream := words.Upstream
	rapid.Check(t, func(t *rapid.T) {
		docs := world(t)
		names := make([]string, len(docs))
		for i := range names {
			names[i] = string(rune('a'+i)) + ".json"
		}
		choice := words.Choice{}
		if rapid.Bool().Draw(t, "upstream") {
			choice.Fixed = &upstream
		}
		profile := unlabelled(rapid.SampledFrom(engine.Profiles).Draw(t, "profile"))
		e := engine.New(profile, engine.Options{
			Words: choice, GitOps: rapid.Bool().Draw(t, "gitops"), Owner: text(t, "owner"), System: text(t, "system"), Namespace: text(t, "namespace"),
			Tags: []string{text(t, "tag"), text(t, "tag")}, ResourceNamespace: text(t, "resource namespace"),
		}, engine.Hooks{})
		transform := func(docs [][]byte, names []string, parallelism int) (*pipeline.Report, string) {
			r, err := pipeline.Run(context.Background(), pipeline.Options{
				Source: read(docs, names), Engine: e, Words: choice, Surroundings: true, Parallelism: parallelism,
			})
			if err != nil || r.ReadErr != nil {
				t.Fatalf("transform returned errors %v, %v", err, r.ReadErr)
			}
			return r, string(entity.YAMLDocuments(r.Entities)) + spell(r.Findings)
		}
		r, once := transform(docs, names, 1)
		valid(t, r)
		if _, again := transform(docs, names, 4); once != again {
			t.Fatalf("two runs differ:\n%s\n%s", once, again)
		}
		slices.Reverse(docs)
		slices.Reverse(names)
		if _, turned := transform(docs, names, 2); once != turned {
			t.Fatalf("output depends on the order of files:\n%s\n%s", once, turned)
		}
	})
}

// valid checks that entities are valid for the catalog, and that each
// definition has a Resource.
func valid(t *rapid.T, r *pipeline.Report) {
	for _, f := range r.Findings {
		if f.Rule == pipeline.RuleInternal {
			t.Fatalf("%s: %s", f.Object, f.Message)
		}
	}
	for _, f := range entity.CheckAll(r.Entities) {
		if f.Severity == finding.Error {
			t.Fatalf("%s: %s [%s]", f.Object, f.Message, f.Rule)
		}
	}
	resources := 0
	for _, e := range r.Entities {
		if typ := e.Spec.Get("type").Str(); e.Kind == entity.KindResource && (typ == "crossplane-xrd" || typ == "composer-xrd") {
			resources++
		}
	}
	if resources != len(r.Definitions) {
		t.Fatalf("%d definitions have %d Resources:\n%s", len(r.Definitions), resources, spell(r.Findings))
	}
}
