package eta

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"example.dev/ingestor/document/tree"
)

// benchData returns the data of a template for a definition with 61 properties.
func benchData() Data {
	props := tree.Arr()
	for i := range 61 {
		props.Items = append(props.Items, tree.Obj(
			tree.F("name", tree.Str(fmt.Sprintf("field%02d", i))),
			tree.F("type", tree.Str("string")),
			tree.F("title", tree.Str(fmt.Sprintf("Field %d", i))),
			tree.F("description", tree.Str("What this field is for, in one sentence.")),
		))
	}
	return Data{
		"xrd": tree.Obj(
			tree.F("metadata", tree.Obj(tree.F("name", tree.Str("xdatabases.platform.example.org")))),
			tree.F("spec", tree.Obj(tree.F("group", tree.Str("platform.example.org")), tree.F("properties", props))),
		),
		"metadata": map[string]any{"owner": "platform-team", "tags": []string{"database", "platform"}},
		"helpers": map[string]Func{
			"slugify": func(args []any) (any, error) { return strings.ReplaceAll(args[0].(string), ".", "-"), nil },
			"quote":   func(args []any) (any, error) { return fmt.Sprintf("%q", args[0]), nil },
			"toYaml":  func([]any) (any, error) { return "", nil },
			"toJson":  func([]any) (any, error) { return "", nil },
		},
	}
}

// benchTemplate has 60 lines and a loop over all properties.
var benchTemplate = `apiVersion: scaffolder.portal.io/v1beta3
kind: Template
metadata:
  name: <%= helpers.slugify(xrd.metadata.name) %>
  title: <%= xrd.metadata.name %>
  tags:
<% for (const tag of metadata.tags) { %>
    - <%= tag %>
<% } %>
spec:
  owner: <%= metadata.owner %>
  type: infrastructure
  parameters:
    - title: Properties
      properties:
<% for (const p of xrd.spec.properties) { %>
        <%= p.name %>:
          type: <%= p.type %>
          title: <%= p.title %>
<% if (p.description) { %>
          description: <%= p.description %>
<% } %>
<% } %>
` + strings.Repeat("    # The rest of the template is text that stands as it is.\n", 37)

// BenchmarkRender checks the target of 3,000 renders per second on one core.
func BenchmarkRender(b *testing.B) {
	set := New(fstest.MapFS{"t.eta": {Data: []byte(benchTemplate)}}, Limits{})
	data := benchData()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Render(b.Context(), "t", data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "renders/s")
}

// BenchmarkEmpty measures the overhead of a render.
func BenchmarkEmpty(b *testing.B) {
	set := New(fstest.MapFS{"t.eta": {}}, Limits{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Render(b.Context(), "t", nil); err != nil {
			b.Fatal(err)
		}
	}
}
