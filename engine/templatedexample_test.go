package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing/fstest"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/template/builtin"
)

// One custom file overrides its built-in counterpart; all other files stay.
func ExampleTransform() {
	own := fstest.MapFS{"steps/default.eta": {Data: []byte(`- id: ticket
  name: <%= helpers.quote('Ask for ' + metadata.title) %>
  action: ticket:open
  input:
    queue: <%= helpers.quote(metadata.values.queue) %>
`)}}
	definition, _ := parser.DecodeBytes([]byte(`
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: databases.platform.io
  annotations:
    backstage.io/template: simple
spec:
  group: platform.io
  names: {kind: Database, plural: databases}
  versions:
  - name: v1
    served: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}}}}}}
`))
	res, err := engine.Transform(context.Background(), engine.Request{
		XRD:       definition[0],
		Templates: []fs.FS{builtin.Files(), own},
		Context:   map[string]string{"source": "file", "path": "database.yaml"},
		Values:    map[string]any{"queue": "platform"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range res.Entities {
		fmt.Println(e.APIVersion, e.Kind, e.Metadata.Name)
		fmt.Print(string(tree.AppendYAML(nil, e.Spec.Get("steps"))))
	}
	// Output:
	// scaffolder.backstage.io/v1beta3 Template databases-platform-io
	// - id: ticket
	//   name: Ask for Database
	//   action: ticket:open
	//   input:
	//     queue: platform
}
