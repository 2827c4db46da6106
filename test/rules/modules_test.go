package rules

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestLibc checks that the version of modernc.org/libc is the one that
// modernc.org/sqlite requires: any other version, even a newer one, may corrupt
// databases.
func TestLibc(t *testing.T) {
	list := func(format, module string) string {
		cmd := exec.Command("go", "list", "-m", "-f", format, module)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("cannot query %s: %v", module, err)
		}
		return strings.TrimSpace(string(out))
	}
	asks, err := os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)modernc\.org/libc (\S+)`).FindSubmatch(asks)
	if want == nil {
		t.Fatalf("modernc.org/sqlite requires no C library:\n%s", asks)
	}
	if got := list("{{.Version}}", "modernc.org/libc"); got != string(want[1]) {
		t.Errorf("go.mod has modernc.org/libc %s, and modernc.org/sqlite asks for %s: go get modernc.org/libc@%[2]s", got, want[1])
	}
}
