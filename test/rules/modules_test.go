package rules

import (
	"os"
	"os/exec"
	"path/filepath"
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

// TestCrossplane checks that tests use one version of Crossplane: that of the core that
// runs, of the kinds of other API servers, and of the code that checks XRDs.
func TestCrossplane(t *testing.T) {
	found := map[string][]string{}
	for _, name := range []string{"test/crossplane/core/go.mod", "test/devcluster/manifest/crossplane.go", "test/verdict/go.mod"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		versions := regexp.MustCompile(`github\.com/crossplane/crossplane(?:-runtime|/apis)?/v2[ @](v[\w.+-]+)`).FindAllSubmatch(text, -1)
		if len(versions) == 0 {
			t.Errorf("%s names no version of Crossplane", name)
		}
		for _, v := range versions {
			found[string(v[1])] = append(found[string(v[1])], name)
		}
	}
	if len(found) != 1 {
		t.Errorf("several versions of Crossplane are used: %v", found)
	}
}
