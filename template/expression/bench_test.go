package expression

import (
	"fmt"
	"strings"
	"testing"

	"example.dev/ingestor/document/tree"
)

// manifest returns the manifest of a definition with 60 properties, and the
// values of a filled form.
func manifest() (*tree.Node, Scope) {
	spec, parameters := tree.Obj(), tree.Obj(tree.F("name", tree.Str("shop")), tree.F("namespace", tree.Str("live")), tree.F("composition", tree.Str("large")))
	for i := range 60 {
		name := fmt.Sprintf("field%02d", i)
		spec.Set(name, tree.Str("${{ parameters."+name+" }}"))
		// Every third field was left empty.
		if i%3 > 0 {
			parameters.Set(name, tree.Obj(tree.F("size", tree.Number(int64(i))), tree.F("zones", tree.Strs([]string{"a", "b"}))))
		}
	}
	spec.Set("crossplane", tree.Str(`${{ {"compositionRef": {"name": parameters.composition} if parameters.composition else undefined, "compositionUpdatePolicy": parameters.policy} if parameters.composition or parameters.policy else undefined }}`))
	return tree.Obj(
		tree.F("apiVersion", tree.Str("platform.example.org/v1")),
		tree.F("kind", tree.Str("Shop")),
		tree.F("metadata", tree.Obj(
			tree.F("name", tree.Str("${{ parameters.name }}")),
			tree.F("namespace", tree.Str("${{ parameters.namespace }}")),
			tree.F("annotations", tree.Obj(tree.F("portal.io/owner", tree.Str("${{ parameters.owner }}")))),
		)),
		tree.F("spec", spec),
	), Scope{"parameters": parameters}
}

// BenchmarkEvaluate evaluates the manifest of a form.
func BenchmarkEvaluate(b *testing.B) {
	n, scope := manifest()
	env := Default()
	got, err := Evaluate(n, scope, env)
	if err != nil || got.Get("spec").Len() != 41 || got.Get("spec", "crossplane", "compositionRef", "name").Str() != "large" {
		b.Fatalf("got %s, %v", written(got), err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Evaluate(n, scope, env); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkText renders a file of 200 lines with a loop.
func BenchmarkText(b *testing.B) {
	text := "name: ${{ values.name | upper }}\n{% for f in values.list %}\n- ${{ f }}\n{% endfor %}\n" + strings.Repeat("# Text that stands as it is.\n", 196)
	list := make([]string, 100)
	for i := range list {
		list[i] = fmt.Sprintf("item %d", i)
	}
	scope := Scope{"values": tree.Obj(tree.F("name", tree.Str("shop")), tree.F("list", tree.Strs(list)))}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Text(text, scope, nil); err != nil {
			b.Fatal(err)
		}
	}
}
