package git

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

// walk returns what a walk yields, at most stop lines if stop is not zero.
func walk(t *testing.T, s *Source, stop int) ([]string, error) {
	t.Helper()
	var got []string
	err := s.Walk(t.Context(), func(f xrd.Found) bool {
		switch {
		case f.Definition != nil:
			got = append(got, f.Definition.Origin.File)
		case f.Finding != nil:
			got = append(got, f.Finding.Where()+" "+f.Finding.Rule)
		}
		return len(got) != stop
	})
	return got, err
}

func TestWalk(t *testing.T) {
	r := newRepo(t)
	r.commit("master", with(files("a.yaml", "d/b.yaml", "d/e/c.json", "d/e/n.ndjson", "d/x.txt", ".h/z.yaml", "t/one/xrds/o.yml", "t/two/xrds/p.yaml", "t/two/q.yaml"),
		"bad.yaml", "a: [\n", "lfs.yaml", pointer+"v1\n", "l.yaml", link+"d/b.yaml"))
	cases := map[string]struct {
		reason string
		opts   Options
		stop   int
		want   []string
		err    string
	}{
		"All":      {"All files are walked in order.", Options{}, 0, []string{"a.yaml", "bad.yaml:2:1 XRD001", "d/b.yaml", "d/e/c.json", "lfs.yaml XRD001", "t/one/xrds/o.yml", "t/two/q.yaml", "t/two/xrds/p.yaml"}, ""},
		"Path":     {"A path can be a folder.", Options{Path: "d"}, 0, []string{"d/b.yaml", "d/e/c.json"}, ""},
		"Paths":    {"Several paths yield each file once.", Options{Paths: []string{"d/e", "d", "a.yaml", "a.yaml"}}, 0, []string{"a.yaml", "d/b.yaml", "d/e/c.json"}, ""},
		"Star":     {"A path can be a pattern.", Options{Path: "d/*"}, 0, []string{"d/b.yaml", "d/e/c.json"}, ""},
		"Name":     {"A pattern with an extension matches all files that have it.", Options{Path: "d/**/*.ndjson"}, 0, []string{"d/e/n.ndjson"}, ""},
		"Deep":     {"Two stars match at any depth.", Options{Path: "**/*.yaml"}, 0, []string{"a.yaml", "bad.yaml:2:1 XRD001", "d/b.yaml", "lfs.yaml XRD001", "t/two/q.yaml", "t/two/xrds/p.yaml"}, ""},
		"Folders":  {"Matching folders are read.", Options{Paths: []string{"t/*/xrds"}}, 0, []string{"t/one/xrds/o.yml", "t/two/xrds/p.yaml"}, ""},
		"NoMatch":  {"A pattern without matches is reported.", Options{Path: "d/*.md"}, 0, nil, `cannot read path "d/*.md": no file matches the pattern`},
		"NoFolder": {"A pattern in a missing folder is reported.", Options{Path: "q/*.yaml"}, 0, nil, `cannot read path "q/*.yaml": path does not exist`},
		"Broken":   {"A pattern with a syntax error is reported.", Options{Path: "d/[a"}, 0, nil, `cannot read pattern "d/[a"`},
		"Stop":     {"The walk ends when the callback stops it.", Options{}, 2, []string{"a.yaml", "bad.yaml:2:1 XRD001"}, ""},
		"StopOne":  {"The walk ends when the callback stops it at an error.", Options{Path: "lfs.yaml"}, 1, []string{"lfs.yaml XRD001"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := walk(t, New(r.dir, tc.opts), tc.stop)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if tc.err == "" && err != nil || tc.err != "" && !strings.Contains(fmt.Sprint(err), tc.err) {
				t.Errorf("%s\nerror %v, want %q", tc.reason, err, tc.err)
			}
			if tc.err != "" && hints(err) == "" {
				t.Errorf("%s\nerror has no hint", tc.reason)
			}
		})
	}
}

// TestWalkRecord checks that a record has the repository and path of its
// definition, and that a record which is read is unchanged.
func TestWalkRecord(t *testing.T) {
	r := newRepo(t)
	kept := `{"source":"kubernetes","timestamp":"2024-01-01T00:00:00Z","metadata":{"cluster":"c"},"xrd":{"apiVersion":"apiextensions.crossplane.io/v1","kind":"CompositeResourceDefinition","metadata":{"name":"kept"}}}`
	h := r.commit("main", with(files("d/a.yaml"), "r.json", kept))
	s := New(r.dir, Options{Ref: "main"})
	got := map[string]map[string]string{}
	for rec, err := range source.Extract(t.Context(), s, source.ExtractOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got[rec.Source+" "+rec.Name()] = rec.Metadata
	}
	want := map[string]map[string]string{
		"git d-a.yaml": {
			"repository": r.dir, "ref": "main", "commit": h.String(), "path": "d/a.yaml",
			"location": "url:file://" + filepath.ToSlash(r.dir) + "/d/a.yaml",
		},
		"kubernetes kept": {"cluster": "c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if s.Commit() != h.String() {
		t.Errorf("commit %q, want %q", s.Commit(), h)
	}
}
