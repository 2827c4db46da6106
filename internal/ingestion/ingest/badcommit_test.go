package ingest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/git"
	"example.dev/ingestor/xrd"
)

// TestOneBadFileOfRepository checks that a broken file committed to a repository
// affects no other file, as in a folder.
func TestOneBadFileOfRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	at := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", at, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+at)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	run("init", "--quiet", "--initial-branch=main")
	b := newHarness(t, nil, func(o *Options) {
		o.Variants[0].Folders = []variant.Folder{{Name: "files", Source: git.New(at, git.Options{})}}
	})
	steps := []struct {
		reason       string
		files        map[string]string
		state        string
		there, stale []string
		problems     []string
	}{
		{"All files can be read.", map[string]string{"a.yaml": definition("a", "one"), "b.yaml": definition("b", "one"), "c.yaml": definition("c", "one")},
			health.Connected, []string{"a", "b", "c"}, nil, nil},
		{"One file breaks, a broken ConfigMap is added, and another file changes.", map[string]string{
			"a.yaml": definition("a", "two"), "c.yaml": "a: [1\n", "map.yaml": "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: {a\n",
		}, health.Partial, []string{"a", "b", "c"}, []string{"c"}, []string{"c.yaml", "map.yaml"}},
		{"The broken files are fixed.", map[string]string{"c.yaml": definition("c", "two"), "map.yaml": "apiVersion: v1\nkind: ConfigMap\n"},
			health.Connected, []string{"a", "b", "c"}, nil, nil},
	}
	for _, step := range steps {
		for name, text := range step.files {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run("add", "--all")
		run("commit", "--quiet", "--message", "change")
		if _, err := b.read(t, "files"); (err != nil) != (step.problems != nil) {
			t.Fatalf("%s: scan returned the error %v", step.reason, err)
		}
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := h.Sources[0]
		var told []string
		for _, p := range s.Problems {
			told = append(told, filepath.Base(p.File))
			if !strings.Contains(s.LastError, filepath.Base(p.File)) {
				t.Errorf("%s\nerror does not name %s: %s", step.reason, p.File, s.LastError)
			}
		}
		if diff := cmp.Diff(step.problems, told); diff != "" || s.State != step.state {
			t.Errorf("%s\nstate is %s, problems differ: %s", step.reason, s.State, diff)
		}
		found, err := b.Findings(t.Context(), inspect.FindingsQuery{Rule: xrd.RuleSyntax, Limit: 10})
		if err != nil || found.TotalItems != len(step.problems) {
			t.Errorf("%s\nfindings are %+v (%v)", step.reason, found, err)
		}
		if diff := cmp.Diff(staleByName(step.there, step.stale), b.marked()); diff != "" {
			t.Errorf("%s\ndefinitions or their stale marks differ: %s", step.reason, diff)
		}
	}
}
