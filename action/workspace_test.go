package action

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkspace(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(w *Workspace) error
		want   string
	}{
		"Write":     {"folders are made", func(w *Workspace) error { return w.Write("a/b/c.txt", []byte("x")) }, ""},
		"Runs":      {"one that can be run", func(w *Workspace) error { return w.WriteFile("kept.txt", nil, true) }, ""},
		"RunsAway":  {"but not elsewhere", func(w *Workspace) error { return w.WriteFile("out/x", nil, true) }, `cannot write "out/x": path escapes from parent`},
		"Dots":      {"dots lead out", func(w *Workspace) error { return w.Write("a/../../x", nil) }, `cannot use the path "a/../../x": it leads out of the workspace`},
		"Absolute":  {"so does the root", func(w *Workspace) error { return w.Write("/etc/x", nil) }, `cannot use the path "/etc/x": it leads out of the workspace`},
		"Link":      {"and a link", func(w *Workspace) error { return w.Write("out/x", nil) }, `cannot write "out/x": path escapes from parent`},
		"Nothing":   {"a path is needed", func(w *Workspace) error { return w.Write("", nil) }, `cannot use the path "": it leads out of the workspace`},
		"Itself":    {"the workspace stays", func(w *Workspace) error { return w.Remove("a/..") }, `cannot remove "a/..": it is the workspace itself`},
		"Missing":   {"what is not there need not be removed", func(w *Workspace) error { return w.Remove("nothing") }, ""},
		"Rename":    {"into a new folder", func(w *Workspace) error { return w.Rename("kept.txt", "new/name.txt", false) }, ""},
		"Taken":     {"nothing is lost by it", func(w *Workspace) error { return w.Rename("kept.txt", "other.txt", false) }, `cannot rename "kept.txt" to "other.txt": there is one already`},
		"Overwrite": {"unless that is wanted", func(w *Workspace) error { return w.Rename("kept.txt", "other.txt", true) }, ""},
		"Absent":    {"there must be one", func(w *Workspace) error { return w.Rename("nothing", "x", false) }, `cannot rename "nothing": no such file or directory`},
		"Away":      {"it stays inside", func(w *Workspace) error { return w.Rename("kept.txt", "out/x", false) }, `cannot rename "kept.txt": path escapes from parent`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			for _, f := range []string{"kept.txt", "other.txt"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(f), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
			w, err := OpenWorkspace(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close() //nolint:errcheck // nothing is lost
			got := ""
			if err := tc.do(w); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("outside there is %v (%v)", left, err)
			}
			if _, err := fs.Stat(w.FS(), "other.txt"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	for _, runs := range []bool{false, true, false} {
		if err := w.WriteFile("a/b", []byte("x"), runs); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, "a", "b"))
		if err != nil || (info.Mode()&0o100 != 0) != runs {
			t.Errorf("%v, %v, want one that runs: %v", info.Mode(), err, runs)
		}
	}
}

// TestLimit writes until there is no more room.
func TestLimit(t *testing.T) {
	w, err := OpenWorkspace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	w.Limit(16 << 10)
	steps := []struct {
		reason, name string
		size         int
		want         string
	}{
		{"there is room", "a", 8 << 10, ""},
		{"what is written over does not count", "a", 10 << 10, ""},
		{"a small one takes some too", "b", 0, ""},
		{"there is none left", "c", 3 << 10, `cannot write "c": the files of the task are too large; write less, or in several tasks`},
		{"nor for an empty one", "d", 0, `cannot write "d": the files of the task are too large; write less, or in several tasks`},
		{"unless another is smaller", "a", 4 << 10, ""},
		{"and makes room", "c", 3 << 10, ""},
	}
	for _, tc := range steps {
		got := ""
		if err := w.Write(tc.name, make([]byte, tc.size)); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
	if _, err := fs.Stat(w.FS(), "d"); err == nil {
		t.Error("what is refused is there")
	}
}
