package expression

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	document "example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// decoded reads JSON or YAML.
func decoded(t testing.TB, s string) *tree.Node {
	t.Helper()
	docs, errs := document.DecodeBytes([]byte(s))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", s, len(docs), errs)
	}
	return docs[0]
}

// scoped returns a scope for an object.
func scoped(t testing.TB, s string) Scope {
	t.Helper()
	scope := Scope{}
	for _, f := range decoded(t, s).Fields {
		scope[f.Key] = f.Value
	}
	return scope
}

// written formats a value for messages.
func written(n *tree.Node) string {
	if n == nil {
		return "undefined"
	}
	return string(tree.AppendJSON(nil, n, ""))
}

// facts returns the lines of testdata/facts.txt, without the scope.
func facts(t testing.TB) (scope Scope, lines []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/facts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case scope == nil:
			scope = scoped(t, line)
		default:
			lines = append(lines, line)
		}
	}
	return scope, lines
}

// TestFacts compares our results with those of the real language, alone and
// within a text.
func TestFacts(t *testing.T) {
	scope, lines := facts(t)
	for _, line := range lines {
		expression, want, ok := strings.Cut(line, "  =>  ")
		if !ok {
			t.Fatalf("%q has no result", line)
		}
		got, err := Evaluate(tree.Str("${{ "+expression+" }}"), scope, nil)
		if want == "error" {
			if err == nil {
				t.Errorf("%s: got %s, want an error", expression, written(got))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if want == "undefined" {
			if got != nil {
				t.Errorf("%s: got %s, want nothing", expression, written(got))
			}
			continue
		}
		if diff := cmp.Diff(decoded(t, "["+want+"]"), tree.Arr(got)); diff != "" {
			t.Errorf("%s: got %s, want %s", expression, written(got), want)
		}
	}
}
