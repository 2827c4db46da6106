package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestDocs wants every label and annotation in the handbook.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/annotations.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Label") && !strings.HasPrefix(spec.Names[0].Name, "Annotation") {
			return true
		}
		seen++
		key, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "`"+key) {
			t.Errorf("docs/annotations.md does not speak of %s", key)
		}
		return true
	})
	if seen < 30 {
		t.Errorf("only %d labels and annotations were looked for", seen)
	}
}
