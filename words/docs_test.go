package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"example.dev/ingestor/words"
)

// TestDocs checks that every label and annotation is in the handbook, in one of
// its spellings.
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
		upstream := words.Upstream.Out(words.Key, key)
		if !strings.Contains(string(page), "`"+key) && !strings.Contains(string(page), "`"+upstream) {
			t.Errorf("docs/annotations.md describes neither %s nor %s", key, upstream)
		}
		return true
	})
	if seen < 30 {
		t.Errorf("only %d labels and annotations were checked", seen)
	}
}
