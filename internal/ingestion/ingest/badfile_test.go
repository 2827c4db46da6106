package ingest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// TestOneBadFile has files of a watched folder break, be mended and go. A broken
// file costs no other its place: what was read is fresh, what was known of a broken
// file stays and is stale, and only a file that is removed takes its entities with
// it.
func TestOneBadFile(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b := newHarness(t, nil, func(o *Options) {
		o.Variants[0].Folders = []Folder{{Name: "files", Source: file.New([]string{at}, file.Options{Recursive: true})}}
	})
	const brokenYAML, configMap = "a: [1\n", "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: {a\n"
	type problem struct {
		File string
		Line int32
	}
	steps := []struct {
		reason string
		// files are written, those with no text removed.
		files map[string]string
		state string
		// stale are the definitions that are marked; none of the others is.
		there, stale []string
		problems     []problem
	}{
		{"All can be read.", map[string]string{"a.yaml": definition("a", "one"), "b.yaml": definition("b", "one"), "c.yaml": definition("c", "one")},
			Connected, []string{"a", "b", "c"}, nil, nil},
		{"One broke, and a broken ConfigMap came.", map[string]string{"c.yaml": brokenYAML, "map.yaml": configMap},
			Partial, []string{"a", "b", "c"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"Another changes meanwhile, and is fresh.", map[string]string{"a.yaml": definition("a", "two")},
			Partial, []string{"a", "b", "c"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"A good document in a broken file is fresh, and nothing else of it is.", map[string]string{"c.yaml": "a: [1\n---\n" + definition("d", "one")},
			Partial, []string{"a", "b", "c", "d"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"The file is removed, so what it had goes.", map[string]string{"c.yaml": ""},
			Partial, []string{"a", "b"}, nil, []problem{{"map.yaml", 4}}},
		{"A key given twice loses nothing.", map[string]string{"map.yaml": "", "b.yaml": definition("b", "one") + "kind: CompositeResourceDefinition\n"},
			Partial, []string{"a", "b"}, nil, []problem{{"b.yaml", 14}}},
		{"All can be read again.", map[string]string{"b.yaml": definition("b", "one")},
			Connected, []string{"a", "b"}, nil, nil},
	}
	for _, step := range steps {
		for name, text := range step.files {
			path := filepath.Join(at, name)
			if text == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.read(t, "files"); (err != nil) != (step.problems != nil) {
			t.Fatalf("%s: %v", step.reason, err)
		}
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := h.Sources[0]
		if s.State != step.state || s.Stale != nil || s.StaleObjects != len(step.stale) {
			t.Errorf("%s\nstate %s, stale lists %v, stale objects %d", step.reason, s.State, s.Stale, s.StaleObjects)
		}
		var told []problem
		for _, p := range s.Problems {
			told = append(told, problem{filepath.Base(p.File), p.Line})
			if !strings.Contains(s.LastError, p.File) {
				t.Errorf("%s\nthe error does not name %s: %s", step.reason, p.File, s.LastError)
			}
		}
		if diff := cmp.Diff(step.problems, told); diff != "" {
			t.Errorf("%s\nproblems: %s", step.reason, diff)
		}
		found, err := b.Findings(t.Context(), FindingsQuery{Rule: xrd.RuleSyntax, Limit: 10})
		if err != nil || found.TotalItems != len(step.problems) || len(found.Items) != len(step.problems) {
			t.Errorf("%s\nfindings are %+v (%v)", step.reason, found, err)
		}
		if diff := cmp.Diff(staleByName(step.there, step.stale), b.marked()); diff != "" {
			t.Errorf("%s\ndefinitions, and whether they are stale: %s", step.reason, diff)
		}
	}
}

// TestUnreadableFile has a file that cannot be opened keep what was known of it.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files"}, nil)
	s := b.sources["files"]
	s.set("x/a.yaml", definition("a", "one"))
	s.set("x/b.yaml", definition("b", "one"))
	s.set("y/c.yaml", definition("c", "one"))
	if _, err := b.read(t, "files"); err != nil {
		t.Fatal(err)
	}
	since := *b.clock.Load()
	steps := []struct {
		reason       string
		path         string
		gone         []string
		there, stale []string
	}{
		{"A file cannot be opened.", "x/a.yaml", []string{"x/a.yaml"}, []string{"a", "b", "c"}, []string{"a"}},
		{"A folder cannot.", "x", []string{"x/a.yaml", "x/b.yaml"}, []string{"a", "b", "c"}, []string{"a", "b"}},
		{"A folder cannot, and a file elsewhere is removed.", "x", []string{"y/c.yaml"}, []string{"a", "b"}, []string{"a", "b"}},
	}
	for _, step := range steps {
		for _, name := range step.gone {
			s.set(name, "")
		}
		s.fail(&file.Error{Path: step.path, Err: fs.ErrPermission})
		b.later(time.Minute)
		if _, err := b.read(t, "files"); err == nil {
			t.Fatalf("%s: no error", step.reason)
		}
		if diff := cmp.Diff(staleByName(step.there, step.stale), b.marked()); diff != "" {
			t.Errorf("%s\ndefinitions, and whether they are stale: %s", step.reason, diff)
		}
		if text := b.catalog.entries()["Template a.example.org"]; !strings.Contains(text, since.Format("2006-01-02T15:04:05.000Z")) {
			t.Errorf("%s\nit is not stale since it was last read: %s", step.reason, text)
		}
	}
}

// staleByName says of definitions whether they are stale.
func staleByName(there, stale []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range there {
		out[name] = false
	}
	for _, name := range stale {
		out[name] = true
	}
	return out
}

// marked says of the definitions in the catalog whether they are stale.
func (b *harness) marked() map[string]bool {
	out := map[string]bool{}
	for ref, text := range b.catalog.entries() {
		if name, ok := strings.CutPrefix(ref, "Template "); ok {
			out[strings.TrimSuffix(name, ".example.org")] = strings.Contains(text, "stale-since")
		}
	}
	return out
}
