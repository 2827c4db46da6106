package engine_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// object is a document before it is written.
type object = map[string]any

// edit changes a document before it is read.
type edit func(object)

// database returns a definition in the portal vocabulary, after some edits.
func database(edits ...edit) object {
	o := object{
		"apiVersion": "apiextensions.composer.io/v2",
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": "databases.platform.io"},
		"spec": object{
			"group":    "platform.io",
			"names":    object{"kind": "Database", "plural": "databases"},
			"versions": []any{version("v1")},
		},
	}
	for _, e := range edits {
		e(o)
	}
	return o
}

// version returns a served version with a schema of one field.
func version(name string, edits ...edit) object {
	v := object{"name": name, "served": true}
	set("object", "schema", "openAPIV3Schema", "type")(v)
	set("object", "schema", "openAPIV3Schema", "properties", "spec", "type")(v)
	set(object{"size": object{"type": "string"}}, "schema", "openAPIV3Schema", "properties", "spec", "properties")(v)
	for _, e := range edits {
		e(v)
	}
	return v
}

// set sets a value at a path and creates missing maps.
func set(value any, path ...string) edit {
	return func(o object) {
		for _, key := range path[:len(path)-1] {
			next, ok := o[key].(object)
			if !ok {
				next = object{}
				o[key] = next
			}
			o = next
		}
		o[path[len(path)-1]] = value
	}
}

// without removes the value at a path.
func without(path ...string) edit {
	return func(o object) {
		for _, key := range path[:len(path)-1] {
			o, _ = o[key].(object)
		}
		delete(o, path[len(path)-1])
	}
}

func named(name string) edit           { return set(name, "metadata", "name") }
func annotated(key, value string) edit { return set(value, "metadata", "annotations", key) }
func labelled(key, value string) edit  { return set(value, "metadata", "labels", key) }
func versions(all ...any) edit         { return set(all, "spec", "versions") }
func claimed(kind, plural string) edit { return both(legacy, claim(kind, plural)) }
func claim(kind, plural string) edit {
	return set(object{"kind": kind, "plural": plural}, "spec", "claimNames")
}
func legacy(o object) { o["apiVersion"] = "apiextensions.composer.io/v1" }
func schemaOf(value any, path ...string) edit {
	return set(value, append([]string{"schema", "openAPIV3Schema"}, path...)...)
}

// both combines several edits.
func both(edits ...edit) edit {
	return func(o object) {
		for _, e := range edits {
			e(o)
		}
	}
}

// upstream repeats the vocabulary table, so that a mistake in package words is
// found.
var upstream = strings.NewReplacer(
	"apiextensions.composer.io", "apiextensions.crossplane.io",
	"portal.io/cluster-id", "backstage.io/kubernetes-id",
	"portal.io/cluster-namespace", "backstage.io/kubernetes-namespace",
	"scaffolder.portal.io/", "scaffolder.backstage.io/",
	"vendor.portal.io/", "terasky.backstage.io/",
	"composer.vendor.io/", "crossplane.terasky.io/",
	"portal.io/", "backstage.io/",
	"source:composer-ingestor", "source:crossplane-ingestor",
	"composer", "crossplane",
	"example.dev/", "openportal.dev/",
	"cluster:apply", "kubernetes:apply",
)

// in returns an identifier of the contract in a vocabulary.
func in(v words.Vocabulary, s string) string {
	if v == words.Portal {
		return s
	}
	return upstream.Replace(s)
}

// keysIn returns the keys of annotations or labels in a vocabulary.
func keysIn(v words.Vocabulary, m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, value := range m {
		out[in(v, k)] = value
	}
	return out
}

// vocabularies are both of them.
var vocabularies = []words.Vocabulary{words.Portal, words.Upstream}

// text returns a document as YAML, with identifiers in a vocabulary.
func text(tb testing.TB, v words.Vocabulary, o object) []byte {
	tb.Helper()
	n, err := tree.From(translated(v, o))
	if err != nil {
		tb.Fatal(err)
	}
	return tree.AppendYAML(nil, n)
}

// translated returns a document with its apiVersion and the keys of its labels
// and annotations in a vocabulary.
func translated(v words.Vocabulary, o object) object {
	out := maps.Clone(o)
	out["apiVersion"] = in(v, o["apiVersion"].(string))
	meta, ok := o["metadata"].(object)
	if !ok {
		return out
	}
	meta = maps.Clone(meta)
	out["metadata"] = meta
	for _, key := range []string{"labels", "annotations"} {
		old, ok := meta[key].(object)
		if !ok {
			continue
		}
		spelled := object{}
		for k, value := range old {
			spelled[in(v, k)] = value
		}
		meta[key] = spelled
	}
	return out
}

// define reads a definition in a vocabulary.
func define(tb testing.TB, v words.Vocabulary, edits ...edit) *xrd.Definition {
	tb.Helper()
	return definition(tb, text(tb, v, database(edits...)))
}

// composition returns a Composition for Database.
func composition(name string, edits ...edit) object {
	o := object{
		"apiVersion": "apiextensions.composer.io/v1",
		"kind":       "Composition",
		"metadata":   object{"name": name},
		"spec":       object{"compositeTypeRef": object{"apiVersion": "platform.io/v1", "kind": "Database"}},
	}
	for _, e := range edits {
		e(o)
	}
	return o
}

// composite returns a Database in a namespace.
func composite(namespace, name string, edits ...edit) object {
	o := object{"apiVersion": "platform.io/v1", "kind": "Database", "metadata": object{"name": name}, "spec": object{}}
	if namespace != "" {
		set(namespace, "metadata", "namespace")(o)
	}
	for _, e := range edits {
		e(o)
	}
	return o
}

// give adds Compositions and composites with an origin to an input.
func give(tb testing.TB, v words.Vocabulary, input *engine.Input, origin xrd.Origin, docs ...object) {
	tb.Helper()
	var set xrd.Set
	for _, o := range docs {
		if err := set.Read(bytes.NewReader(text(tb, v, o)), origin); err != nil {
			tb.Fatal(err)
		}
	}
	input.Compositions = append(input.Compositions, set.Compositions...)
	for _, o := range set.Others {
		c := xrd.NewComposite(o, input.Definition)
		if c == nil {
			tb.Fatalf("%s %q is not a composite of %q", o.Kind, o.Name, input.Definition.Name)
		}
		input.Composites = append(input.Composites, c)
	}
}

// transform runs the engine and checks the entities with the rules of the
// catalog.
func transform(tb testing.TB, p engine.Profile, opts engine.Options, input engine.Input) engine.Result {
	tb.Helper()
	res, err := engine.New(p, opts, engine.Hooks{}).Transform(input)
	if err != nil {
		tb.Fatal(err)
	}
	valid(tb, res.Entities)
	return res
}

// fatal is the common interface of tests and property tests.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// valid fails the test if a catalog would refuse one of the entities.
func valid(f fatal, es []*entity.Entity) {
	f.Helper()
	for _, x := range entity.CheckAll(es) {
		if x.Severity == finding.Error {
			f.Fatalf("catalog would refuse %s: %s: %s", x.Object, x.Path, x.Message)
		}
	}
}

// pick returns the only entity of a kind and name.
func pick(tb testing.TB, es []*entity.Entity, kind, name string) *entity.Entity {
	tb.Helper()
	var found []*entity.Entity
	for _, e := range es {
		if e.Kind == kind && e.Metadata.Name == name {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		tb.Fatalf("%d entities are %s %q, want 1; entities are %q", len(found), kind, name, list(es))
	}
	return found[0]
}

// first returns the first entity of a kind.
func first(tb testing.TB, es []*entity.Entity, kind string) *entity.Entity {
	tb.Helper()
	i := slices.IndexFunc(es, func(e *entity.Entity) bool { return e.Kind == kind })
	if i < 0 {
		tb.Fatalf("no entity of kind %s; entities are %q", kind, list(es))
	}
	return es[i]
}

// list returns the names of entities in order.
func list(es []*entity.Entity) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = e.Kind + " " + e.Metadata.Name
	}
	return out
}

// rules returns the ids of findings of the engine in order.
func rules(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		if strings.HasPrefix(f.Rule, "ENG") {
			out = append(out, f.Rule)
		}
	}
	return out
}

// parsed returns the only document of a text.
func parsed(tb testing.TB, data string) *tree.Node {
	tb.Helper()
	docs, errs := parser.DecodeBytes([]byte(data))
	if len(docs) != 1 || len(errs) > 0 {
		tb.Fatalf("%d documents, errors %v in\n%s", len(docs), errs, data)
	}
	return docs[0]
}

// page returns a property of a page in the form of a Template.
func page(e *entity.Entity, i int, path ...string) *tree.Node {
	pages := e.Spec.Get("parameters").List()
	if i >= len(pages) {
		return nil
	}
	return pages[i].Get(path...)
}
