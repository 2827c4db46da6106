package engine_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// TestTemplateVersion checks what the version mark of a form depends on: the
// spec of the Template, which is the form, its steps, its type and its owner.
func TestTemplateVersion(t *testing.T) {
	field := func(key string, value any) edit {
		return versions(version("v1", schemaOf(value, "properties", "spec", "properties", "size", key)))
	}
	cases := map[string]struct {
		reason string
		edits  []edit
		opts   engine.Options
		input  engine.Input
		same   bool
	}{
		"nothing":             {reason: "The same form has the same mark.", same: true},
		"title":               {reason: "The title is not part of the spec.", edits: []edit{annotated("portal.io/template-title", "x")}, same: true},
		"description":         {reason: "The description is not part of the spec.", edits: []edit{annotated("portal.io/template-description", "x")}, same: true},
		"tags":                {reason: "Tags are not part of the spec.", edits: []edit{annotated("portal.io/template-tags", "x")}, opts: engine.Options{Tags: []string{"y"}}, same: true},
		"labels":              {reason: "Labels are not part of the spec.", edits: []edit{labelled("example.dev/version", "x")}, same: true},
		"system":              {reason: "A Template has no system.", edits: []edit{annotated("portal.io/system", "x")}, same: true},
		"API":                 {reason: "The API is a separate entity.", edits: []edit{annotated("portal.io/api-kind", "x")}, opts: engine.Options{Lifecycle: "x"}, same: true},
		"when and where":      {reason: "The time and the place where a definition was found do not change the form.", opts: engine.Options{Now: found}, input: engine.Input{Clusters: []string{"a"}}, same: true},
		"name":                {reason: "Names are not part of the spec.", edits: []edit{named("x.y")}, opts: engine.Options{Namespace: "x"}, input: engine.Input{Base: "z"}, same: true},
		"status":              {reason: "The status schema does not change the form.", edits: []edit{versions(version("v1", schemaOf(object{"type": "object"}, "properties", "status")))}, same: true},
		"another version":     {reason: "An older version does not change the form.", edits: []edit{versions(version("v1"), version("v1beta1"))}, same: true},
		"one Composition":     {reason: "The name of the only Composition is in the form.", input: engine.Input{Compositions: compositions(t, "a")}},
		"owner":               {reason: "The owner is a part of the spec.", edits: []edit{annotated("portal.io/owner", "x")}},
		"owner by option":     {reason: "The owner from an option is a part of the spec.", opts: engine.Options{Owner: "x"}},
		"field":               {reason: "A new field changes the form.", edits: []edit{versions(version("v1", schemaOf(object{"type": "string"}, "properties", "spec", "properties", "new")))}},
		"type of a field":     {reason: "A new type changes the form.", edits: []edit{field("type", "integer")}},
		"help":                {reason: "A new description changes the form.", edits: []edit{field("description", "x")}},
		"default":             {reason: "A new default changes the form.", edits: []edit{field("default", "x")}},
		"required":            {reason: "A required field changes the form.", edits: []edit{versions(version("v1", schemaOf([]any{"size"}, "properties", "spec", "required")))}},
		"version":             {reason: "A new apiVersion changes the manifest.", edits: []edit{versions(version("v2"))}},
		"kind":                {reason: "A new kind changes the manifest.", edits: []edit{set("Queue", "spec", "names", "kind")}},
		"namespace":           {reason: "A new default namespace changes the form.", edits: []edit{annotated("portal.io/default-namespace", "x")}},
		"two Compositions":    {reason: "A choice of Compositions changes the form.", input: engine.Input{Compositions: compositions(t, "a", "b")}},
		"enforced":            {reason: "An enforced Composition changes the form.", edits: []edit{set("a", "spec", "enforcedCompositionRef", "name")}},
		"delivery":            {reason: "A delivery page changes the form.", opts: engine.Options{GitOps: true}},
		"cluster-scoped form": {reason: "A cluster-scoped form has no namespace.", edits: []edit{set("Cluster", "spec", "scope")}},
	}
	mark := func(opts engine.Options, input engine.Input, edits ...edit) string {
		input.Definition = define(t, words.Portal, edits...)
		e := first(t, transform(t, engine.CLI, opts, input).Entities, entity.KindTemplate)
		return e.Metadata.Annotations[templateVersion]
	}
	reference := mark(engine.Options{}, engine.Input{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mark(tc.opts, tc.input, tc.edits...); (got == reference) != tc.same {
				t.Errorf("%s\nmark is %s, was %s", tc.reason, got, reference)
			}
		})
	}
}

// compositions returns Compositions for Database.
func compositions(t *testing.T, names ...string) []*xrd.Composition {
	t.Helper()
	input := engine.Input{Definition: define(t, words.Portal)}
	for _, n := range names {
		give(t, words.Portal, &input, xrd.Origin{File: "c.yaml"}, composition(n))
	}
	return input.Compositions
}

// rich is a definition that uses everything the engine reads.
func rich(t testing.TB) []byte {
	field := func(kind string, more object) object {
		f := object{"type": kind, "description": "It is a " + kind + ". Really."}
		maps.Copy(f, more)
		return f
	}
	props := object{
		"size":  field("string", object{"enum": []any{"small", "large"}, "default": "small"}),
		"count": field("integer", object{"minimum": 0, "maximum": 9}), "ratio": field("number", object{"default": 0.5, "multipleOf": 0.25}),
		"on": field("boolean", object{"default": false}), "list": field("array", object{"items": field("object", object{"properties": object{"b": field("string", nil), "a": field("string", nil)}})}),
		"map": field("object", object{"additionalProperties": field("string", object{"pattern": "^[a-z]+$"})}), "free": field("object", object{"x-kubernetes-preserve-unknown-fields": true}),
		"either": object{"x-kubernetes-int-or-string": true}, "name": field("string", nil), "no": field("string", object{"format": "date-time", "x-ui-advanced": true}),
		"rules": field("object", object{"properties": object{"x": field("string", nil), "y": field("string", nil)}, "oneOf": []any{object{"required": []any{"x"}}, object{"required": []any{"y"}}}}),
	}
	rich := version("v1", schemaOf(props, "properties", "spec", "properties"), schemaOf([]any{"size", "count"}, "properties", "spec", "required"),
		schemaOf([]any{"on", "count"}, "properties", "spec", "x-ui-order"), schemaOf(object{"ready": field("boolean", nil)}, "properties", "status", "properties"))
	return text(t, words.Upstream, database(append(plain(), versions(rich, version("v2alpha1", set(true, "deprecated"))),
		labelled("vendor.portal.io/generate-form", "true"), set([]any{"b", "a"}, "spec", "connectionSecretKeys"))...))
}

// documents are definitions to be written in other formats.
func documents(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"rich": rich(t), "large": sample.Definition(0), "claim": text(t, words.Portal, database(claimed("Claim", "claims"))),
		"unnamed": text(t, words.Portal, database(without("metadata"), without("spec", "names", "plural"))), "tricky": text(t, words.Portal, database(tricky()...)),
	}
}

// bytesOf returns the entities of a definition in every profile.
func bytesOf(f fatal, data []byte) string {
	f.Helper()
	var set xrd.Set
	if err := set.Read(bytes.NewReader(data), xrd.Origin{File: "sample.yaml"}); err != nil || len(set.Definitions) != 1 || len(set.Findings) > 0 {
		f.Fatalf("cannot read: %v, %v\n%s", err, set.Findings, data)
	}
	var out []byte
	for i, p := range engine.Profiles {
		res, err := engine.New(p, engine.Options{GitOps: i%2 == 0}, engine.Hooks{}).Transform(engine.Input{Definition: set.Definitions[0]})
		if err != nil {
			f.Fatalf("%v", err)
		}
		valid(f, res.Entities)
		out = append(out, entity.YAMLDocuments(res.Entities)...)
	}
	return string(out)
}

// shuffled returns n with the keys of every map in a random order.
func shuffled(r *rapid.T, n *tree.Node) *tree.Node {
	c := *n
	if len(n.Fields) > 0 {
		c.Fields = rapid.Permutation(n.Fields).Draw(r, "order")
		for i := range c.Fields {
			c.Fields[i].Value = shuffled(r, c.Fields[i].Value)
		}
	}
	c.Items = nil
	for _, it := range n.Items {
		c.Items = append(c.Items, shuffled(r, it))
	}
	return &c
}

// TestKeyOrder checks that the order of keys in a document, which a cluster
// does not keep, does not change the entities.
func TestKeyOrder(t *testing.T) {
	for name, data := range documents(t) {
		t.Run(name, func(t *testing.T) {
			n := parsed(t, string(data))
			want := bytesOf(t, data)
			rapid.Check(t, func(r *rapid.T) {
				other := tree.AppendYAML(nil, shuffled(r, n))
				if diff := cmp.Diff(want, bytesOf(r, other)); diff != "" {
					r.Fatalf("entities depend on the order of keys (-before +after):\n%s\nof\n%s", diff, other)
				}
			})
		})
	}
}

// TestJSON checks that the format of a definition does not matter: YAML or
// JSON, on one line or on many.
func TestJSON(t *testing.T) {
	for name, data := range documents(t) {
		n := parsed(t, string(data))
		want := bytesOf(t, data)
		for way, written := range map[string][]byte{
			"JSON": tree.AppendJSON(nil, n, ""), "indented JSON": tree.AppendJSON(nil, n, "\t"), "canonical JSON": tree.AppendCanonical(nil, n),
			"YAML with a marker": append([]byte("---\n# A comment.\n"), data...),
			"a list":             tree.AppendYAML(nil, tree.Obj(tree.F("apiVersion", tree.Str("v1")), tree.F("kind", tree.Str("List")), tree.F("items", tree.Arr(n)))),
			"an array":           tree.AppendJSON(nil, tree.Arr(n), " "),
			"a record":           tree.AppendJSON(nil, xrd.Record{Source: xrd.SourceFile, Timestamp: "2026-01-01T00:00:00Z", XRD: n, Metadata: map[string]string{"path": "sample.yaml"}}.Node(), ""),
		} {
			if diff := cmp.Diff(want, bytesOf(t, written)); diff != "" {
				t.Errorf("%s as %s (-YAML +other):\n%s", name, way, diff)
			}
		}
	}
}
