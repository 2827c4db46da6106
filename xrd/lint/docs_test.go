package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd/lint"
)

// TestDocs compares the handbook with Rules: every rule is in both, with the
// same text. The rules about documents belong to other packages.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{"XRD001", "XRD002", "XRD003", "XRD004", "XRD005", "XRD006"}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 4 || !strings.HasPrefix(cells[0], "XRD") {
			continue
		}
		if i := slices.Index(elsewhere, cells[0]); i >= 0 {
			elsewhere = slices.Delete(elsewhere, i, i+1)
			continue
		}
		got = append(got, strings.Join(cells, " | "))
	}
	for _, r := range lint.Rules {
		want = append(want, strings.Join([]string{r.ID, r.Severity.String(), r.Title, r.Why}, " | "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/rules.md differs from Rules; -Rules +docs:\n%s", diff)
	}
	if len(elsewhere) > 0 {
		t.Errorf("docs/rules.md does not have %v", elsewhere)
	}
}
