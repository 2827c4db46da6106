package ingest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/inspect"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/file"
	"example.dev/ingestor/xrd"
)

// TestOneBadFile breaks, fixes and removes files of a watched folder. A broken
// file affects no other file: definitions that were read are fresh, those of the
// broken file stay and are stale, and only a removed file removes its entities.
func TestOneBadFile(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	b := newHarness(t, nil, func(o *Options) {
		o.Variants[0].Folders = []variant.Folder{{Name: "files", Source: file.New([]string{at}, file.Options{Recursive: true})}}
	})
	const brokenYAML, configMap = "a: [1\n", "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: {a\n"
	type problem struct {
		File string
		Line int32
	}
	steps := []struct {
		reason string
		// files are written; a file without text is removed.
		files map[string]string
		state string
		// stale lists the definitions that are marked as stale; no other is marked.
		there, stale []string
		problems     []problem
	}{
		{"All files can be read.", map[string]string{"a.yaml": definition("a", "one"), "b.yaml": definition("b", "one"), "c.yaml": definition("c", "one")},
			health.Connected, []string{"a", "b", "c"}, nil, nil},
		{"One file breaks, and a broken ConfigMap is added.", map[string]string{"c.yaml": brokenYAML, "map.yaml": configMap},
			health.Partial, []string{"a", "b", "c"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"Another file that changes meanwhile is fresh.", map[string]string{"a.yaml": definition("a", "two")},
			health.Partial, []string{"a", "b", "c"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"A valid document in a broken file is fresh, and the rest of the file is stale.", map[string]string{"c.yaml": "a: [1\n---\n" + definition("d", "one")},
			health.Partial, []string{"a", "b", "c", "d"}, []string{"c"}, []problem{{"c.yaml", 2}, {"map.yaml", 4}}},
		{"The entities of a removed file are removed.", map[string]string{"c.yaml": ""},
			health.Partial, []string{"a", "b"}, nil, []problem{{"map.yaml", 4}}},
		{"A duplicate key loses no definition.", map[string]string{"map.yaml": "", "b.yaml": definition("b", "one") + "kind: CompositeResourceDefinition\n"},
			health.Partial, []string{"a", "b"}, nil, []problem{{"b.yaml", 14}}},
		{"All files can be read again.", map[string]string{"b.yaml": definition("b", "one")},
			health.Connected, []string{"a", "b"}, nil, nil},
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
			t.Fatalf("%s: scan returned the error %v", step.reason, err)
		}
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := h.Sources[0]
		if s.State != step.state || s.Stale != nil || s.StaleObjects != len(step.stale) {
			t.Errorf("%s\nstate is %s, stale lists are %v, stale objects %d", step.reason, s.State, s.Stale, s.StaleObjects)
		}
		var told []problem
		for _, p := range s.Problems {
			told = append(told, problem{filepath.Base(p.File), p.Line})
			if !strings.Contains(s.LastError, p.File) {
				t.Errorf("%s\nerror does not name %s: %s", step.reason, p.File, s.LastError)
			}
		}
		if diff := cmp.Diff(step.problems, told); diff != "" {
			t.Errorf("%s\nproblems differ: %s", step.reason, diff)
		}
		found, err := b.Findings(t.Context(), inspect.FindingsQuery{Rule: xrd.RuleSyntax, Limit: 10})
		if err != nil || found.TotalItems != len(step.problems) || len(found.Items) != len(step.problems) {
			t.Errorf("%s\nfindings are %+v (%v)", step.reason, found, err)
		}
		if diff := cmp.Diff(staleByName(step.there, step.stale), b.marked()); diff != "" {
			t.Errorf("%s\ndefinitions or their stale marks differ: %s", step.reason, diff)
		}
	}
}

// TestUnreadableFile checks that the definitions of a file that cannot be opened
// stay.
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
		{"The definitions of a file that cannot be opened stay.", "x/a.yaml", []string{"x/a.yaml"}, []string{"a", "b", "c"}, []string{"a"}},
		{"The definitions of a folder that cannot be opened stay.", "x", []string{"x/a.yaml", "x/b.yaml"}, []string{"a", "b", "c"}, []string{"a", "b"}},
		{"A file removed elsewhere is removed although a folder cannot be opened.", "x", []string{"y/c.yaml"}, []string{"a", "b"}, []string{"a", "b"}},
	}
	for _, step := range steps {
		for _, name := range step.gone {
			s.set(name, "")
		}
		s.fail(&file.Error{Path: step.path, Err: fs.ErrPermission})
		b.later(time.Minute)
		if _, err := b.read(t, "files"); err == nil {
			t.Fatalf("%s: scan returned no error, want one", step.reason)
		}
		if diff := cmp.Diff(staleByName(step.there, step.stale), b.marked()); diff != "" {
			t.Errorf("%s\ndefinitions or their stale marks differ: %s", step.reason, diff)
		}
		if text := b.catalog.entries()["Template a.example.org"]; !strings.Contains(text, since.Format("2006-01-02T15:04:05.000Z")) {
			t.Errorf("%s\nTemplate is not stale since its last read: %s", step.reason, text)
		}
	}
}

// staleByName reports which definitions are stale.
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

// marked reports which definitions in the catalog are marked as stale.
func (b *harness) marked() map[string]bool {
	out := map[string]bool{}
	for ref, text := range b.catalog.entries() {
		if name, ok := strings.CutPrefix(ref, "Template "); ok {
			out[strings.TrimSuffix(name, ".example.org")] = strings.Contains(text, "stale-since")
		}
	}
	return out
}
