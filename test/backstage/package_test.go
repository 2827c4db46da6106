package backstage_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the API reports")

// TestPackages checks the packages as they are published: their tests, their style, their
// public APIs, and their contents.
func TestPackages(t *testing.T) {
	t.Parallel()
	node, dir := built(t)
	run := func(t *testing.T, at string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Dir = filepath.Join(dir, at)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("node %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	t.Run("Units", func(t *testing.T) {
		t.Log(run(t, ".", "--expose-gc", "--test", "test/feed.test.mjs", "test/frontend.test.mjs"))
	})
	t.Run("Lint", func(t *testing.T) {
		run(t, ".", "node_modules/eslint/bin/eslint.js", "--max-warnings", "0", "packages", "test")
	})
	for _, name := range packages {
		t.Run(name, func(t *testing.T) { published(t, dir, name, run) })
	}
}

// own are the packages that a package may depend on besides those of Backstage, which depend on them too.
var own = map[string][]string{"frontend": {"@material-ui/core", "yaml"}}

// published checks the public API of a package, and its contents.
func published(t *testing.T, dir, name string, run func(t *testing.T, at string, args ...string) string) {
	t.Helper()
	t.Run("API", func(t *testing.T) {
		report := "packages/" + name + "/report.api.md"
		run(t, ".", "node_modules/@microsoft/api-extractor/bin/api-extractor", "run", "--local", "-c", "packages/"+name+"/api-extractor.json")
		got, err := os.ReadFile(filepath.Join(dir, report))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(workspace, report), got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join(workspace, report))
		if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
			t.Errorf("the public API has changed (%v); -update rewrites the report:\n%s", err, diff)
		}
	})
	t.Run("Contents", func(t *testing.T) {
		npm, err := exec.LookPath("npm")
		if err != nil {
			t.Skip(err)
		}
		cmd := exec.CommandContext(t.Context(), npm, "pack", "--dry-run", "--json", "--ignore-scripts")
		cmd.Dir = filepath.Join(dir, "packages", name)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var packed []struct {
			Files []struct{ Path string }
		}
		if err := json.Unmarshal(out, &packed); err != nil || len(packed) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, f := range packed[0].Files {
			if ok := f.Path == "package.json" || f.Path == "README.md" || f.Path == "LICENSE" || strings.HasPrefix(f.Path, "dist/") && !strings.Contains(f.Path, "/api/"); !ok {
				t.Errorf("the package contains %s", f.Path)
			}
		}
		var manifest struct{ Dependencies map[string]string }
		data, err := os.ReadFile(filepath.Join(dir, "packages", name, "package.json"))
		if err == nil {
			err = json.Unmarshal(data, &manifest)
		}
		if err != nil {
			t.Fatal(err)
		}
		for on := range manifest.Dependencies {
			if !strings.HasPrefix(on, "@backstage/") && !slices.Contains(own[name], on) {
				t.Errorf("the package depends on %s, which is not part of Backstage", on)
			}
		}
	})
}
