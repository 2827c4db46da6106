package config

import (
	"fmt"
	"io/fs"
	"testing"

	"example.dev/ingestor/xrd/selector"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/source"
)

// disk is a file system for Options.ReadFile.
type disk map[string]string

func (d disk) read(path string) ([]byte, error) {
	text, ok := d[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// vars is an environment for Options.Lookup.
type vars map[string]string

func (v vars) lookup(name string) (string, bool) {
	text, ok := v[name]
	return text, ok
}

// lines returns findings as users see them, without remarks.
func lines(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		if f.Severity == finding.Info {
			continue
		}
		line := fmt.Sprintf("%s: %s %s", f.Where(), f.Rule, f.Message)
		if f.Hint != "" {
			line += " | " + f.Hint
		}
		out = append(out, line)
	}
	return out
}

// load loads one file called a.yaml.
func load(text string, env vars) (*Config, []finding.Finding) {
	return Load([]string{"a.yaml"}, Options{Lookup: env.lookup, ReadFile: disk{"a.yaml": text, "logo.svg": svg}.read})
}

// mustLoad loads one file without findings.
func mustLoad(t *testing.T, text string, env vars) *Config {
	t.Helper()
	c, fs := load(text, env)
	if found := lines(fs); len(found) > 0 {
		t.Fatalf("findings are %q in\n%s", found, text)
	}
	return c
}

// diff compares configurations, including secrets.
func diff(want, got *Config) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{}), cmp.Comparer(sameSelector),
		cmp.Comparer(func(a, b source.Secret) bool { return a.Reveal() == b.Reveal() }), cmpopts.EquateEmpty())
}

func sameSelector(a, b selector.Selector) bool { return a.String() == b.String() }
