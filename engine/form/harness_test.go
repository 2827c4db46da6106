package form

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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

// text returns a node as YAML.
func text(n *tree.Node) string { return string(tree.AppendYAML(nil, n)) }

// dedent removes the indentation of the first line from every line of a text,
// so that tables can indent their YAML like the code around it. A leading line
// break is removed, and the last line ends with one.
func dedent(s string) string {
	s = strings.TrimRight(strings.TrimLeft(s, "\n"), "\t\n ")
	if s == "" {
		return ""
	}
	indent := s[:len(s)-len(strings.TrimLeft(s, "\t"))]
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(strings.TrimPrefix(line, indent))
		b.WriteByte('\n')
	}
	return b.String()
}

// The types of definitions, without versions.
const (
	modern         = `{apiVersion: apiextensions.crossplane.io/v2, spec: {names: {kind: Widget, plural: widgets}}}`
	modernCluster  = `{apiVersion: apiextensions.crossplane.io/v2, spec: {scope: Cluster, names: {kind: Widget, plural: widgets}}}`
	modernLegacy   = `{apiVersion: apiextensions.crossplane.io/v2, spec: {scope: LegacyCluster, names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets}}}`
	legacy         = `{apiVersion: apiextensions.crossplane.io/v1, spec: {names: {kind: XWidget, plural: xwidgets}}}`
	legacyClaim    = `{apiVersion: apiextensions.crossplane.io/v1, spec: {names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets}}}`
	legacyDefaults = `{apiVersion: apiextensions.crossplane.io/v1, spec: {names: {kind: XWidget, plural: xwidgets}, claimNames: {kind: Widget, plural: widgets},
		defaultCompositionRef: {name: small}, defaultCompositionUpdatePolicy: Manual, defaultCompositeDeletePolicy: Foreground}}`
)

// define returns a definition of one version with the given schema, or none if
// it is nil. It is written and parsed, like every real definition.
func define(t testing.TB, kind string, schema *tree.Node) (*xrd.Definition, *xrd.Version) {
	t.Helper()
	n := yaml(t, strings.ReplaceAll(kind, "\t", " ")).Clone()
	n.Set("kind", tree.Str(xrd.KindDefinition))
	version := tree.Obj(tree.F("name", tree.Str("v1")), tree.F("served", tree.Boolean(true)), tree.F("referenceable", tree.Boolean(true)))
	if schema != nil {
		version.Set("schema", tree.Obj(tree.F("openAPIV3Schema", schema)))
	}
	n.Get("spec").Set("group", tree.Str("example.org"))
	n.Get("spec").Set("versions", tree.Arr(version))
	d := xrd.NewDefinition(yaml(t, text(n)), xrd.Origin{File: "xrd.yaml"})
	return d, d.Preferred()
}

// object returns the schema of an object with the given spec.
func object(spec *tree.Node) *tree.Node {
	return tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("properties", tree.Obj(tree.F("spec", spec))),
	)
}

// compileSpec compiles the form for a spec, and checks the invariants of every
// form.
func compileSpec(t testing.TB, kind, spec string, opts Options) *checked {
	t.Helper()
	d, v := define(t, kind, object(yaml(t, dedent(spec))))
	return check(t, Compile(d, v, opts))
}

// checked is a form whose pages were compiled as JSON Schemas.
type checked struct {
	*Form
	schemas []*jsonschema.Schema
}

// check compiles every page of a form as the JSON Schema it must be.
func check(t testing.TB, f *Form) *checked {
	t.Helper()
	out, err := compilePages(f)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(f.Pages))
	}
	return out
}

func compilePages(f *Form) (*checked, error) {
	out := &checked{Form: f}
	for i, page := range f.Pages.Items {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft7)
		url := "page" + strconv.Itoa(i) + ".json"
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, page, "")))
		if err != nil {
			return nil, fmt.Errorf("page %d is not JSON: %w", i, err)
		}
		if err := c.AddResource(url, doc); err != nil {
			return nil, fmt.Errorf("page %d is not a schema: %w", i, err)
		}
		s, err := c.Compile(url)
		if err != nil {
			return nil, fmt.Errorf("page %d is not a schema: %w", i, err)
		}
		out.schemas = append(out.schemas, s)
	}
	return out, nil
}

// validate checks form values against every page, as a portal does on submit.
func (f *checked) validate(values *tree.Node) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, values, "")))
	if err != nil {
		return fmt.Errorf("values are not JSON: %w", err)
	}
	for i, s := range f.schemas {
		if err := s.Validate(doc); err != nil {
			return fmt.Errorf("page %d refuses the values: %w", i, err)
		}
	}
	return nil
}

// withMetadata adds the values of the first page, which every form requires.
func withMetadata(values *tree.Node) *tree.Node {
	out := tree.Obj()
	if values != nil {
		out = values.Clone()
	}
	for _, own := range []string{paramName, paramNamespace} {
		if !out.Has(own) {
			out.Set(own, tree.Str("demo"))
		}
	}
	return out
}

// corpus returns the folder of real definitions, or skips the test.
func corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("INGESTOR_CORPUS")
	if dir == "" {
		t.Skip("set INGESTOR_CORPUS to a folder of real definitions")
	}
	return dir
}

// readSet reads all objects of the files that match a pattern below dir.
func readSet(t testing.TB, dir, pattern string) *xrd.Set {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	set := &xrd.Set{}
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
	return set
}
