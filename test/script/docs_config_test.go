package script

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

// TestConfigurations runs portal-backend config check on the configurations that the tasks of
// the handbook show. A block that begins with the name of another file is not one of them.
func TestConfigurations(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	other := regexp.MustCompile(`^\s*# (\S+\.ya?ml)\n`)
	for _, page := range []string{"five-minutes", "ingest", "migration", "production", "sign-in", "sign-in-providers", "several-teams", "troubleshoot"} {
		for i, m := range block.FindAllStringSubmatch(read(t, filepath.Join(top, "docs", page+".md")), -1) {
			if name := other.FindStringSubmatch(m[1]); name != nil && name[1] != "app-config.yaml" {
				continue
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "app-config.yaml")
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			// Files that a page names exist where the portal runs.
			for _, name := range regexp.MustCompile(`File: ([\w./-]+)`).FindAllStringSubmatch(m[1], -1) {
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(name[1])), []byte("content"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			code := app.Run(t.Context(), portal.Name, &app.Env{
				Args: []string{"config", "check", "--config", file}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
				Getenv: variables(m[1]), Now: time.Now,
			}, portal.Run)
			if code != 0 {
				t.Errorf("docs/%s.md, yaml block %d: config check exits with %d:\n%s\n%s", page, i+1, code, out.String(), m[1])
			}
		}
	}
}

// variables is an environment that has the variables of a text, with strong values.
func variables(text string) func(string) string {
	return func(name string) string {
		switch {
		case !strings.Contains(text, "${"+name):
			return ""
		case strings.HasSuffix(name, "_URL"):
			return "rediss://cache.example.org:6379/0"
		}
		return "kV3vYw0pQ8sT2nZ6xC9bL4mR7dF1hJ5g"
	}
}
