package transform

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

//go:embed samples/*.yaml
var sampleFiles embed.FS

// sample is a record for testing templates.
type sample struct {
	name  string
	found xrd.Found
}

// samples returns the built-in records. They contain everything that templates may
// use, including a cluster and the target of change requests.
func samples() []sample {
	var all []sample
	names, _ := fs.Glob(sampleFiles, "samples/*.yaml")
	for _, name := range names {
		text, _ := sampleFiles.ReadFile(name)
		all = append(all, read(strings.TrimSuffix(path.Base(name), ".yaml"), text))
	}
	return append(all, read("many", tree.AppendYAML(nil, manyFields())))
}

func read(name string, text []byte) sample {
	s := sample{name: name}
	_ = xrd.Each(bytes.NewReader(text), xrd.Origin{Source: xrd.SourceFile, File: "sample " + name}, func(f xrd.Found) bool {
		s.found = f
		return false
	})
	return s
}

// manyFields returns a record of a definition with very many fields.
func manyFields() *tree.Node {
	fields := tree.Obj()
	for i := range 100 {
		inner := tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", tree.Obj(
			tree.F("enabled", tree.Obj(tree.F("type", tree.Str("boolean")))),
			tree.F("count", tree.Obj(tree.F("type", tree.Str("integer")))),
		)))
		if i%10 > 0 {
			inner = tree.Obj(tree.F("type", tree.Str("string")), tree.F("description", tree.Str(fmt.Sprintf("Field %d.", i))))
		}
		fields.Set(fmt.Sprintf("field%02d", i), inner)
	}
	record, _ := fs.ReadFile(sampleFiles, "samples/noschema.yaml")
	docs, _ := parser.DecodeBytes(record)
	n := docs[0]
	n.Get("xrd", "metadata").Set("name", tree.Str("fields.many.example.org"))
	spec := n.Get("xrd", "spec")
	spec.Set("group", tree.Str("many.example.org"))
	spec.Set("names", tree.Obj(tree.F("kind", tree.Str("Field")), tree.F("plural", tree.Str("fields"))))
	spec.Get("versions").Items[0].Set("schema", tree.Obj(tree.F("openAPIV3Schema", tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("properties", tree.Obj(tree.F("spec", tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", fields))))),
	))))
	return n
}
