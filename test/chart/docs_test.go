package chart

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/strvals"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

// TestPages renders the chart with the values that the handbook shows, in blocks that begin
// with "# values.yaml" and in the --set options of helm, and checks the configuration that
// results.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n\\s*# values.yaml\n(.*?)```")
	helm := regexp.MustCompile(`(?m)^ *helm (?:install|upgrade) (?:.*\\\n)*.*$`)
	set := regexp.MustCompile(`--set ([^\s\\]+)`)
	found := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
		for _, command := range helm.FindAllString(string(text), -1) {
			values := map[string]any{}
			for _, m := range set.FindAllStringSubmatch(command, -1) {
				if err := strvals.ParseInto(m[1], values); err != nil {
					t.Errorf("%s: %s: %v", page, m[1], err)
				}
			}
			out, err := yaml.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(out))
		}
		for _, values := range all {
			found++
			file := filepath.Join(t.TempDir(), "app-config.yaml")
			config := appConfig(t, manifests(t, values))
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			env := &app.Env{
				Args: []string{"config", "check", "--config", file}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: time.Now,
				Getenv: func(name string) string {
					if strings.Contains(config, "${"+name+"}") {
						return "kV3vYw0pQ8sT2nZ6xC9bL4mR7dF1hJ5g"
					}
					return ""
				},
			}
			if code := app.Run(context.Background(), portal.Name, env, portal.Run); code != 0 {
				t.Errorf("%s: config check exits with %d:\n%s\n%s", page, code, out.String(), values)
			}
		}
	}
	if found < 4 {
		t.Errorf("%d values found in the handbook, want more", found)
	}
}
