package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd/diff"
)

// TestDocs compares the handbook with Rules: every rule is in both, with the same text.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| DIF") {
			got = append(got, line)
		}
	}
	for _, r := range diff.Rules {
		want = append(want, "| "+strings.Join([]string{r.ID, r.Severity.String(), r.Title, r.Why}, " | ")+" |")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("docs/rules.md differs from Rules; -Rules +docs:\n%s", d)
	}
}
