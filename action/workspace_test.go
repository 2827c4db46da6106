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
		"Write":     {"Missing folders are created.", func(w *Workspace) error { return w.Write("a/b/c.txt", []byte("x")) }, ""},
		"Runs":      {"A file can be executable.", func(w *Workspace) error { return w.WriteFile("kept.txt", nil, true) }, ""},
		"RunsAway":  {"An executable file cannot be written through a link.", func(w *Workspace) error { return w.WriteFile("out/x", nil, true) }, `cannot write "out/x": path escapes from parent`},
		"Dots":      {"A path traversal is refused.", func(w *Workspace) error { return w.Write("a/../../x", nil) }, `cannot use path "a/../../x": outside the workspace`},
		"Absolute":  {"An absolute path is refused.", func(w *Workspace) error { return w.Write("/etc/x", nil) }, `cannot use path "/etc/x": outside the workspace`},
		"Link":      {"A link out of the workspace is refused.", func(w *Workspace) error { return w.Write("out/x", nil) }, `cannot write "out/x": path escapes from parent`},
		"Nothing":   {"An empty path is refused.", func(w *Workspace) error { return w.Write("", nil) }, `cannot use path "": outside the workspace`},
		"Itself":    {"The workspace itself cannot be removed.", func(w *Workspace) error { return w.Remove("a/..") }, `cannot remove "a/..": is the workspace itself`},
		"Missing":   {"Removing a missing file is no error.", func(w *Workspace) error { return w.Remove("nothing") }, ""},
		"Rename":    {"A file can be moved to a new folder.", func(w *Workspace) error { return w.Rename("kept.txt", "new/name.txt", false) }, ""},
		"Taken":     {"An existing file is not overwritten by default.", func(w *Workspace) error { return w.Rename("kept.txt", "other.txt", false) }, `cannot rename "kept.txt" to "other.txt": target already exists`},
		"Overwrite": {"An existing file is overwritten if overwrite is set.", func(w *Workspace) error { return w.Rename("kept.txt", "other.txt", true) }, ""},
		"Absent":    {"Renaming a missing file is an error.", func(w *Workspace) error { return w.Rename("nothing", "x", false) }, `cannot rename "nothing": no such file or directory`},
		"Away":      {"A file cannot be moved out of the workspace.", func(w *Workspace) error { return w.Rename("kept.txt", "out/x", false) }, `cannot rename "kept.txt": path escapes from parent`},
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
				t.Errorf("outside of the workspace there is %v (%v)", left, err)
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
			t.Errorf("mode is %v, %v, want executable: %v", info.Mode(), err, runs)
		}
	}
}

// TestLimit checks the size limit of a workspace.
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
		{"A file within the limit is written.", "a", 8 << 10, ""},
		{"An overwritten file counts once.", "a", 10 << 10, ""},
		{"An empty file counts too.", "b", 0, ""},
		{"A file beyond the limit is refused.", "c", 3 << 10, `cannot write "c": the files of the task exceed the size limit; write fewer files, or use several tasks`},
		{"An empty file beyond the limit is refused.", "d", 0, `cannot write "d": the files of the task exceed the size limit; write fewer files, or use several tasks`},
		{"A file can be made smaller.", "a", 4 << 10, ""},
		{"A smaller file frees space.", "c", 3 << 10, ""},
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
		t.Error("refused file exists")
	}
}
