package openapi

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// yaml reads one YAML document; nil for an empty text.
func yaml(t testing.TB, text string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 {
		t.Fatalf("cannot read YAML: %v\n%s", errs[0], text)
	}
	if len(docs) == 0 {
		return nil
	}
	return docs[0]
}

// written returns a node as YAML.
func written(n *tree.Node) string { return string(tree.AppendYAML(nil, n)) }

// The types of definitions, without versions.
const (
	modern        = `{apiVersion: apiextensions.crossplane.io/v2, spec: {group: example.org, names: {kind: Widget, plural: widgets}}}`
	modernCluster = `{apiVersion: apiextensions.crossplane.io/v2, spec: {group: example.org, scope: Cluster, names: {kind: Widget, plural: widgets}}}`
	legacy        = `{apiVersion: apiextensions.crossplane.io/v1, spec: {group: example.org, names: {kind: XWidget, plural: xwidgets}}}`
	legacyClaim   = `{apiVersion: apiextensions.crossplane.io/v1, spec: {group: example.org, names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets}}}`
)

// define returns a definition with one version and a schema.
func define(t testing.TB, kind, version string) (*xrd.Definition, *xrd.Version) {
	t.Helper()
	n := yaml(t, kind).Clone()
	n.Get("spec").Set("versions", tree.Arr(yaml(t, version)))
	d := xrd.NewDefinition(n, xrd.Origin{})
	return d, d.Versions[0]
}

// load reads and validates a document with an OpenAPI library.
func load(doc *tree.Node, opts ...openapi3.ValidationOption) (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	api, err := loader.LoadFromData(tree.AppendYAML(nil, doc))
	if err != nil {
		return nil, err
	}
	return api, api.Validate(loader.Context, opts...)
}

// corpus reads the definitions of the corpus, or skips the test.
func corpus(t testing.TB) []*xrd.Definition {
	t.Helper()
	dir := os.Getenv("INGESTOR_CORPUS")
	if dir == "" {
		t.Skip("set INGESTOR_CORPUS to a folder of real definitions")
	}
	set := &xrd.Set{}
	for _, pattern := range []string{"xrds/*/*", "weird/*/*/*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := set.Read(bytes.NewReader(data), xrd.Origin{File: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return set.Definitions
}
