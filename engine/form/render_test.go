package form

import (
	"fmt"
	"testing"

	"example.dev/ingestor/document/tree"
	expr "example.dev/ingestor/template/expression"
)

// render evaluates the input of a step as the scaffolder does.
func render(n, params *tree.Node) (*tree.Node, error) {
	out, err := expr.Evaluate(n, expr.Scope{"parameters": params}, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot evaluate: %w", err)
	}
	return out, nil
}

// rendered renders the manifest of a form.
func rendered(t testing.TB, f *Form, values *tree.Node) *tree.Node {
	t.Helper()
	out, err := render(f.Manifest, values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
