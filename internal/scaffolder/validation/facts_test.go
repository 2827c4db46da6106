package validation_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
)

// decoded reads JSON.
func decoded(t testing.TB, s string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(s))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%s has %d documents, %v", s, len(docs), errs)
	}
	return docs[0]
}

// checked returns the problems of a check that must end.
func checked(t testing.TB, schema, value *tree.Node) []validation.Problem {
	t.Helper()
	problems, err := validation.Check(schema, value, nil)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

// answer returns the response to a client.
func answer(t testing.TB, problems []validation.Problem) string {
	t.Helper()
	if problems == nil {
		problems = []validation.Problem{}
	}
	out, err := json.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// fact is a line of testdata/facts.txt.
type fact struct{ about, schema, value, problems string }

func facts(t testing.TB, path string) (all []fact) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var about, schema string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			about = comment
			continue
		}
		if s, ok := strings.CutPrefix(line, "schema "); ok {
			schema = s
			continue
		}
		if value, problems, ok := strings.Cut(line, "  =>  "); ok {
			all = append(all, fact{about, schema, value, problems})
		}
	}
	return all
}

// TestFacts compares our results with those of Backstage's scaffolder.
func TestFacts(t *testing.T) {
	all := facts(t, "testdata/facts.txt")
	if len(all) < 600 {
		t.Fatalf("only %d facts were found", len(all))
	}
	for _, f := range all {
		problems := checked(t, decoded(t, f.schema), decoded(t, f.value))
		if f.problems == `"error"` {
			if len(problems) == 0 || !strings.HasPrefix(problems[len(problems)-1].Message, "cannot be checked: ") {
				t.Errorf("%s: %s against %s: got %s, want that the schema is invalid", f.about, f.value, f.schema, answer(t, problems))
			}
			continue
		}
		got := decoded(t, answer(t, problems))
		if diff := cmp.Diff(decoded(t, f.problems).Any(), got.Any()); diff != "" {
			t.Errorf("%s: %s against %s: problems differ (-Backstage +ours):\n%s", f.about, f.value, f.schema, diff)
		}
	}
}
