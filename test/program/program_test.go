package program

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDigest(t *testing.T) {
	base := fstest.MapFS{"go.mod": {Data: []byte("module m")}, "a/a.go": {Data: []byte("package a")}}
	with := func(name, text string) fstest.MapFS {
		m := fstest.MapFS{name: {Data: []byte(text)}}
		for n, f := range base {
			if n != name {
				m[n] = f
			}
		}
		return m
	}
	cases := map[string]struct {
		reason string
		src    fs.FS
		same   bool
	}{
		"Same":    {"The same sources have the same digest.", base, true},
		"Test":    {"Tests are not part of the build.", with("a/a_test.go", "package a"), true},
		"Page":    {"Documents are not part of the build.", with("README.md", "words"), true},
		"Changed": {"A changed file changes the digest.", with("a/a.go", "package a // more"), false},
		"Added":   {"An added file changes the digest.", with("b.go", "package m"), false},
		"Version": {"Changed modules change the digest.", with("go.sum", "x v1 h1:y"), false},
	}
	want, err := digest(base)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := digest(tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != tc.same {
				t.Errorf("%s: digests are %s and %s", tc.reason, got, want)
			}
		})
	}
}

func TestRemoveUnused(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"devcluster-old-go1": 8 * 24 * time.Hour, "devcluster-new-go1": time.Hour, "golangci-lint-v1": 8 * 24 * time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	removeUnused(dir, "devcluster", now.Add(-unused))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "devcluster-new-go1"), filepath.Join(dir, "golangci-lint-v1")}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("remaining files differ (-want +got):\n%s", diff)
	}
}
