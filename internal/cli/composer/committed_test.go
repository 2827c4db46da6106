package composer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/provide"
)

// TestExportCommitted commits an export to a repository, and checks that every
// target of its Location exists in a checkout.
func TestExportCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	a := newStandIn(t, definition("apps.example.org"), definition("bees.example.org"))
	dir := t.TempDir()
	out, repo, checkout := filepath.Join(dir, "out"), filepath.Join(dir, "catalog.git"), filepath.Join(dir, "checkout")
	if _, notes, code := run(t, "export", "--config", configure(t, "", a), "--output", out); code != app.ExitOK {
		t.Fatalf("exit code %d\n%s", code, notes)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	git("init", "--quiet", "--bare", "--initial-branch=main", repo)
	env := &app.Env{Args: []string{"commit", out, "--repo", repo, "--branch", "main", "--path", "portal"}, Stdout: t.Output(), Stderr: t.Output(), Getenv: func(string) string { return "" }, Now: time.Now}
	if err := provide.Run(context.WithoutCancel(t.Context()), env); err != nil {
		t.Fatal(err)
	}
	git("clone", "--quiet", repo, checkout)
	at := filepath.Join(checkout, "portal", "Location")
	data, err := os.ReadFile(filepath.Join(at, "composer-ingestor.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	docs, bad := parser.DecodeBytes(data)
	if len(bad) > 0 {
		t.Fatal(bad[0])
	}
	targets := docs[0].Get("spec", "targets").Strings()
	if len(targets) != 6 {
		t.Errorf("targets of the Location are %q, want 6", targets)
	}
	for _, target := range targets {
		if _, err := os.Stat(filepath.Join(at, target)); err != nil {
			t.Errorf("target %s does not exist in the checkout: %v", target, err)
		}
	}
}
