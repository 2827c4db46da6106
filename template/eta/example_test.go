package eta_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"example.dev/ingestor/template/eta"
)

func Example() {
	files := fstest.MapFS{
		"portal.eta": {Data: []byte("title: <%= metadata.title %>\nsteps:\n<%= include('./step', { action: 'fetch' }) %>\n")},
		"step.eta":   {Data: []byte("  - action: <%= action %> # <%= metadata.title %>\n")},
	}
	set := eta.New(files, eta.Limits{})
	out, err := set.Render(context.Background(), "portal", eta.Data{"metadata": map[string]any{"title": "Databases"}})
	fmt.Print(out, err)
	// Output:
	// title: Databases
	// steps:
	//   - action: fetch # Databases
	// <nil>
}
