package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func openRoot(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRoot checks that folders are removed after their process has ended, and
// not before.
func TestRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	one := openRoot(t, dir)
	at, err := one.Make("task")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Another process sweeps folders of ended processes.
	other := openRoot(t, dir)
	if _, err := os.Stat(filepath.Join(at, "x")); err != nil {
		t.Errorf("another process removed the folder: %v", err)
	}
	if again, err := one.Make("task"); err != nil || again != at {
		t.Errorf("second Make returned %s: %v", again, err)
	}
	if left, err := os.ReadDir(at); err != nil || len(left) != 0 {
		t.Errorf("workspace is not empty: %v, %v", left, err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", ".lock", "/x"} {
		if _, err := one.Make(name); err == nil {
			t.Errorf("Make accepted the name %q", name)
		}
	}
	// Without its lock the process counts as ended.
	if err := one.lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	third := openRoot(t, dir)
	if _, err := os.Stat(one.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder of the ended process still exists: %v", err)
	}
	if err := errors.Join(other.Close(), third.Close()); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "mine" {
		t.Errorf("directory contains %v, want mine: %v", left, err)
	}
}

// TestSweepIsCutOff stops a process at each point of a sweep: the next process
// removes the rest.
func TestSweepIsCutOff(t *testing.T) {
	cutOff := map[string]func(t *testing.T, gone *Root){
		"a folder is removed, another is not": func(t *testing.T, gone *Root) {
			if err := gone.Remove("one"); err != nil {
				t.Fatal(err)
			}
		},
		"all is removed but the lock": func(t *testing.T, gone *Root) {
			if err := os.RemoveAll(gone.dir); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, cut := range cutOff {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gone := openRoot(t, dir)
			for _, name := range []string{"one", "two"} {
				if _, err := gone.Make(name); err != nil {
					t.Fatal(err)
				}
			}
			if err := gone.lock.Close(); err != nil {
				t.Fatal(err)
			}
			cut(t, gone)
			if err := openRoot(t, dir).Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("directory contains %v, want nothing: %v", left, err)
			}
		})
	}
}

// TestRootsOpenAtOnce opens many roots concurrently, each of which sweeps: no
// folder in use is removed.
func TestRootsOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				r, err := Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := r.Make("task"); err != nil {
					t.Error(err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("directory contains %v, want nothing: %v", left, err)
	}
}

// list returns the content of a folder: names with modes, contents, links.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			text = "-> " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		out[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCopy saves a folder and restores it elsewhere.
func TestCopy(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if saved, err := Save(from); err != nil || saved != nil {
		t.Errorf("Save of an empty folder returned %d bytes: %v", len(saved), err)
	}
	if err := Restore(to, nil); err != nil {
		t.Error(err)
	}
	long := strings.Repeat("long/", 30) + strings.Repeat("n", 120)
	for name, mode := range map[string]fs.FileMode{"a.txt": 0o600, "dir/run.sh": 0o700, long: 0o640} {
		at := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(from, "empty"), 0o700), os.Symlink("dir/run.sh", filepath.Join(from, "link")),
		os.Symlink("/etc", filepath.Join(from, "out"))); err != nil {
		t.Fatal(err)
	}
	saved, err := Save(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := Restore(to, saved); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list(t, from), list(t, to)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n := range len(saved) {
		if Restore(t.TempDir(), saved[:n]) == nil && n > 0 {
			t.Fatalf("Restore accepted %d of %d bytes", n, len(saved))
		}
		if n > 64 {
			break
		}
	}
}

// TestLarge checks that a folder that is too large in any way is not saved.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(mostPlain+1), f.Close()); err != nil {
		t.Fatal(err)
	}
	if saved, err := Save(dir); !errors.Is(err, ErrLarge) || saved != nil {
		t.Errorf("Save returned %d bytes: %v; want ErrLarge", len(saved), err)
	}
}

// TestAny searches a saved folder.
func TestAny(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "in", "name"), []byte("what it says"), 0o600), os.Symlink("elsewhere", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	saved, err := Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		saved  []byte
		what   string
		want   bool
	}{
		"Text":    {"The content of a file is searched.", saved, "it says", true},
		"Name":    {"The name of a file is searched.", saved, "in/name", true},
		"Link":    {"The target of a link is searched.", saved, "elsewhere", true},
		"Nowhere": {"nowhere", saved, "something", false},
		"Nothing": {"An empty folder contains nothing.", nil, "something", false},
		"Damaged": {"Truncated data is assumed to contain the text.", saved[:len(saved)/2], "something", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Any(tc.saved, func(text string) bool { return strings.Contains(text, tc.what) }); got != tc.want {
				t.Errorf("%s: Any returned %v", tc.reason, got)
			}
		})
	}
}

// TestPrivate checks that a folder that others can write to is refused, as they
// could create links there.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if r, err := Open(dir); err == nil || !strings.Contains(err.Error(), "directory is writable by others") {
		t.Errorf("Open returned %v (%v), want an error", r, err)
	}
}

// TestRemovedFromOutside creates workspaces after a cleaner has removed the
// folder, a part of it, or its lock. Other processes respect the new lock.
func TestRemovedFromOutside(t *testing.T) {
	remove := map[string]func(r *Root) error{
		"the base":   func(r *Root) error { return os.RemoveAll(r.base) },
		"the folder": func(r *Root) error { return os.RemoveAll(r.dir) },
		"the lock":   func(r *Root) error { return os.Remove(r.lock.Name()) },
		"another is there": func(r *Root) error {
			return errors.Join(os.RemoveAll(r.dir), os.Mkdir(r.dir, 0o777))
		},
	}
	for name, remove := range remove {
		t.Run(name, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), "base")
			r := openRoot(t, base)
			if err := remove(r); err != nil {
				t.Fatal(err)
			}
			dir, err := r.Make("task")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := r.Ready(time.Now()); err != nil {
				t.Errorf("Ready returned %v", err)
			}
			other := openRoot(t, base)
			if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
				t.Errorf("another process removed the folder: %v", err)
			}
			if err := errors.Join(r.Close(), other.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReplacedFromOutside checks that a folder that another user has put in the
// place of ours is not used.
func TestReplacedFromOutside(t *testing.T) {
	replace := map[string]struct {
		put  func(base, elsewhere string) error
		want string
	}{
		"a file":                  {func(base, _ string) error { return os.WriteFile(base, nil, 0o600) }, "not a directory"},
		"a folder for all":        {func(base, _ string) error { return errors.Join(os.Mkdir(base, 0o700), os.Chmod(base, 0o777)) }, "directory is writable by others"},
		"a folder of another":     {func(base, _ string) error { return errors.Join(os.Mkdir(base, 0o700), os.Chown(base, 12345, 12345)) }, "directory belongs to another user"},
		"a link of another":       {func(base, to string) error { return errors.Join(os.Symlink(to, base), os.Lchown(base, 12345, 12345)) }, "symbolic link of another user"},
		"a link into the unknown": {func(base, to string) error { return os.Symlink(filepath.Join(to, "none"), base) }, "cannot create workspace folder"},
	}
	for name, tc := range replace {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 && strings.Contains(name, "of another") {
				t.Skip("only root can change the owner of files")
			}
			base, elsewhere := filepath.Join(t.TempDir(), "base"), t.TempDir()
			r := openRoot(t, base)
			if err := errors.Join(os.RemoveAll(base), tc.put(base, elsewhere)); err != nil {
				t.Fatal(err)
			}
			_, err := r.Make("task")
			for what, err := range map[string]error{"Make": err, "Ready": r.Ready(time.Now()), "Touch": r.Touch(time.Now())} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s returned %v", what, err)
				}
			}
			if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
				t.Errorf("other folder contains %v, want nothing: %v", left, err)
			}
			// Once the path is free, everything works again.
			if err := os.RemoveAll(base); err != nil {
				t.Fatal(err)
			}
			if err := r.Ready(time.Now()); err != nil {
				t.Errorf("Ready returned %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTouch checks that all files get a current time.
func TestTouch(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	r := openRoot(t, base)
	dir, err := r.Make("task")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	old := now.Add(-30 * 24 * time.Hour)
	all := []string{base, r.dir, r.lock.Name(), dir}
	for _, at := range all {
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Touch(now); err != nil {
		t.Fatal(err)
	}
	for _, at := range all {
		if info, err := os.Stat(at); err != nil || info.ModTime().Before(now.Add(-time.Minute)) {
			t.Errorf("%s was changed at %v: %v", at, info.ModTime(), err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
