package tree_test

import (
	"bytes"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// document returns a definition of about size bytes with a realistic structure.
func document(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`apiVersion: apiextensions.composer.io/v1
kind: CompositeResourceDefinition
metadata:
  name: databases.platform.io
  labels:
    example.dev/ingest: "true"
spec:
  group: platform.io
  names:
    kind: Database
    plural: databases
  versions:
    - name: v1alpha1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `                field%d:
                  type: integer
                  description: How many of the things numbered %d there should be.
                  default: %d
                  minimum: 1
                  maximum: 0.5
                  enum: [small, medium, large]
`, i, i, i)
	}
	return b.Bytes()
}

func BenchmarkDecodeYAML(b *testing.B) {
	doc := document(7 << 10)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if docs, errs := parser.DecodeBytes(doc); len(docs) != 1 || len(errs) != 0 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkParseOnly runs the parser alone, as a baseline for DecodeYAML.
func BenchmarkParseOnly(b *testing.B) {
	doc := document(7 << 10)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		var n yaml.Node
		if err := yaml.Unmarshal(doc, &n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeJSON(b *testing.B) {
	docs, _ := parser.DecodeBytes(document(7 << 10))
	doc := tree.AppendJSON(nil, docs[0], "  ")
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if docs, errs := parser.DecodeBytes(doc); len(docs) != 1 || len(errs) != 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkAppendYAML(b *testing.B) {
	docs, _ := parser.DecodeBytes(document(7 << 10))
	buf := tree.AppendYAML(nil, docs[0])
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = tree.AppendYAML(buf[:0], docs[0])
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	docs, _ := parser.DecodeBytes(document(7 << 10))
	buf := tree.AppendJSON(nil, docs[0], "")
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = tree.AppendJSON(buf[:0], docs[0], "")
	}
}
