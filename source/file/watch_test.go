package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// short is a settle time that is long for a disk.
const short = 20 * time.Millisecond

// watched is a Watch that runs during a test.
type watched struct {
	t     *testing.T
	calls chan struct{}
	count atomic.Int32
	done  chan error
	stop  context.CancelFunc
}

// begin watches, and returns when the watch is active: a file beside the paths
// is written until an event arrives, and until events have stopped.
func begin(t *testing.T, paths []string, opts Options) *watched {
	t.Helper()
	do(t, "mkdir begin")
	w := watch(t, New(append([]string{"begin/now"}, paths...), opts))
	for i := 0; w.count.Load() == 0; i++ {
		if i == 1000 {
			t.Fatal("Watch did not begin")
		}
		do(t, fmt.Sprint("write begin/now ", i))
		select {
		case <-w.calls:
		case <-time.After(3 * opts.Settle):
		}
	}
	w.rest(opts.Settle)
	w.count.Store(0)
	return w
}

// rest waits until events have stopped.
func (w *watched) rest(settle time.Duration) {
	for {
		select {
		case <-w.calls:
		case <-time.After(3 * settle):
			return
		}
	}
}

// watch starts a Watch.
func watch(t *testing.T, s *Source) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watched{t: t, calls: make(chan struct{}, 10_000), done: make(chan error, 1), stop: cancel}
	go func() {
		w.done <- s.Watch(ctx, func() {
			w.count.Add(1)
			w.calls <- struct{}{}
		})
	}()
	t.Cleanup(w.end)
	return w
}

// end ends the Watch and checks its error.
func (w *watched) end() {
	w.stop()
	select {
	case err := <-w.done:
		if !errors.Is(err, context.Canceled) {
			w.t.Errorf("Watch: %v", err)
		}
		w.done <- err
	case <-time.After(30 * time.Second):
		w.t.Error("Watch did not return after its context ended")
	}
}

// called waits for an event.
func (w *watched) called(reason string) {
	w.t.Helper()
	select {
	case <-w.calls:
	case <-time.After(30 * time.Second):
		w.t.Fatalf("%s\nno event arrived, want one", reason)
	}
}

// expectNoEvent waits long enough for an event that must not arrive.
func (w *watched) expectNoEvent(reason string) {
	w.t.Helper()
	select {
	case <-w.calls:
		w.t.Fatalf("%s\nan event arrived, want none", reason)
	case <-time.After(10 * short):
	}
}

// do runs file commands.
func do(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range commands {
		f := strings.Fields(c)
		var err error
		switch f[0] {
		case "write":
			err = os.WriteFile(f[1], []byte(definition(f[2])), 0o644)
		case "mkdir":
			err = os.MkdirAll(f[1], 0o755)
		case "rm":
			err = os.RemoveAll(f[1])
		case "mv":
			err = os.Rename(f[1], f[2])
		case "ln":
			err = os.Symlink(f[1], f[2])
		case "chmod":
			err = os.Chmod(f[1], 0o600)
		case "cat":
			_, err = os.ReadFile(f[1])
		case "ls":
			_, err = os.ReadDir(f[1])
		default:
			t.Fatalf("unknown command: %s", c)
		}
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
	}
}

func names(t *testing.T, s *Source) []string {
	t.Helper()
	set, err := s.Read(t.Context())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, d := range set.Definitions {
		out = append(out, d.Name)
	}
	return out
}

// configMap returns the commands to create a folder like a mounted ConfigMap:
// files are links into a folder that another link points to.
var configMap = []string{"mkdir d/..1", "write d/..1/a.yaml one", "ln ..1 d/..data", "ln ..data/a.yaml d/a.yaml"}

// nextConfigMap are the commands that the kubelet runs to update it.
var nextConfigMap = []string{"mkdir d/..2", "write d/..2/a.yaml two", "ln ..2 d/..data_tmp", "mv d/..data_tmp d/..data", "rm d/..1"}

func TestWatch(t *testing.T) {
	all := Options{Recursive: true, FollowSymlinks: true}
	cases := map[string]struct {
		reason string
		before []string
		paths  []string
		opts   Options
		after  []string
		want   []string
	}{
		"Write":          {"A file is written.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"write d/a.yaml two"}, []string{"two"}},
		"New":            {"A file is added.", []string{"mkdir d"}, []string{"d"}, Options{}, []string{"write d/a.yaml one"}, []string{"one"}},
		"Remove":         {"A file is removed.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"rm d/a.yaml"}, nil},
		"Rename":         {"A file is renamed.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"mv d/a.yaml d/b.yaml"}, []string{"one"}},
		"RenameAway":     {"A file is renamed to a name that does not match.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"mv d/a.yaml d/a.bak"}, nil},
		"Editor":         {"An editor writes a temporary file and renames it.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"write d/.a.swp two", "mv d/.a.swp d/a.yaml"}, []string{"two"}},
		"EditorBackup":   {"An editor renames the file and writes a new one.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"mv d/a.yaml d/a.yaml~", "write d/a.yaml two"}, []string{"two"}},
		"Named":          {"A named file of any name is written.", []string{"write a.txt one"}, []string{"a.txt"}, Options{}, []string{"write a.txt two"}, []string{"two"}},
		"NamedReplaced":  {"A named file is replaced.", []string{"write a.txt one"}, []string{"a.txt"}, Options{}, []string{"write b.txt two", "mv b.txt a.txt"}, []string{"two"}},
		"NamedLater":     {"A named file is created later.", nil, []string{"a.txt"}, Options{}, []string{"write a.txt one"}, []string{"one"}},
		"NamedMuchLater": {"The folder of a named file is created later.", nil, []string{"x/y/a.txt"}, Options{}, []string{"mkdir x/y", "write x/y/a.txt one"}, []string{"one"}},
		"NamedRemoved":   {"A named file is removed.", []string{"write a.txt one"}, []string{"a.txt"}, Options{}, []string{"rm a.txt"}, nil},
		"Again":          {"A folder is removed and created again.", []string{"mkdir d", "write d/a.yaml one"}, []string{"d"}, Options{}, []string{"rm d", "mkdir d", "write d/a.yaml two"}, []string{"two"}},
		"Below":          {"A subfolder is added.", []string{"mkdir d"}, []string{"d"}, Options{Recursive: true}, []string{"mkdir d/x/y/z", "write d/x/y/z/a.yaml one"}, []string{"one"}},
		"BelowWrite":     {"A file in a subfolder is written.", []string{"mkdir d/x/y", "write d/x/y/a.yaml one"}, []string{"d"}, Options{Recursive: true}, []string{"write d/x/y/a.yaml two"}, []string{"two"}},
		"MovedIn":        {"A folder is moved in with its files.", []string{"mkdir d", "mkdir o/x", "write o/x/a.yaml one"}, []string{"d"}, Options{Recursive: true}, []string{"mv o/x d/x"}, []string{"one"}},
		"MovedOut":       {"A folder is moved out with its files.", []string{"mkdir d/x", "write d/x/a.yaml one"}, []string{"d"}, Options{Recursive: true}, []string{"mv d/x o"}, nil},
		"Swapped":        {"A folder is replaced by another.", []string{"mkdir d", "write d/a.yaml one", "mkdir e", "write e/a.yaml two"}, []string{"d"}, Options{}, []string{"mv d o", "mv e d"}, []string{"two"}},
		"ConfigMap":      {"A mounted ConfigMap is updated.", append([]string{"mkdir d"}, configMap...), []string{"d"}, all, nextConfigMap, []string{"two"}},
		"ConfigMapNamed": {"A named file of a mounted ConfigMap is updated.", append([]string{"mkdir d"}, configMap...), []string{"d/a.yaml"}, Options{}, nextConfigMap, []string{"two"}},
		"LinkOnTheWay":   {"A link in the path of a file is changed.", []string{"mkdir r1/d", "mkdir r2/d", "write r1/d/a.yaml one", "write r2/d/a.yaml two", "ln r1 current"}, []string{"current/d"}, Options{}, []string{"ln r2 next", "mv next current"}, []string{"two"}},
		"LinkTarget":     {"The target of a link is written.", []string{"mkdir d", "mkdir o", "write o/a.txt one", "ln ../o/a.txt d/a.yaml"}, []string{"d"}, all, []string{"write o/a.txt two"}, []string{"two"}},
		"LinkFolder":     {"A file is added to a folder behind a link.", []string{"mkdir d", "mkdir o", "ln ../o d/o"}, []string{"d"}, all, []string{"write o/a.yaml one"}, []string{"one"}},
		"LinkDangling":   {"The target of a link is created later.", []string{"mkdir d", "mkdir o", "ln o/a.txt l"}, []string{"l"}, all, []string{"write o/a.txt one"}, []string{"one"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			do(t, tc.before...)
			tc.opts.Settle = short
			s := New(tc.paths, tc.opts)
			before := names(t, s)
			w := begin(t, tc.paths, tc.opts)
			do(t, tc.after...)
			w.called(tc.reason)
			// A slow machine may report the first change before the last.
			for deadline := time.Now().Add(30 * time.Second); ; {
				got := names(t, s)
				if cmp.Equal(tc.want, got) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s\ndefinitions (-want +got):\n%s", tc.reason, cmp.Diff(tc.want, got))
				}
				w.called(tc.reason)
			}
			if cmp.Equal(before, tc.want) && name != "Rename" {
				t.Errorf("%s\nexpected state equals the initial one, so the case checks nothing", tc.reason)
			}
		})
	}
}

// TestWatchOn checks that a watch continues after each of many changes.
func TestWatchOn(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "mkdir d")
	opts := Options{Recursive: true, Settle: short}
	w := begin(t, []string{"d"}, opts)
	s := New([]string{"d"}, opts)
	for i := range 5 {
		for _, step := range []string{"mkdir d/x", "write d/x/a.yaml %d", "mv d/x d/y", "write d/y/a.yaml more%d", "rm d/y"} {
			before := len(names(t, s))
			if strings.Contains(step, "%d") {
				step = fmt.Sprintf(step, i)
			}
			do(t, step)
			if after := len(names(t, s)); after != before || strings.HasPrefix(step, "write") {
				w.called(step)
			}
		}
	}
}

// TestWatchSilence checks changes that do not affect Read.
func TestWatchSilence(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "mkdir d/sub", "mkdir o", "write d/a.yaml one", "write n.txt named", "write d/t.txt x", "write o/b.yaml other")
	w := begin(t, []string{"d", "n.txt"}, Options{Settle: short})
	for _, c := range []string{
		"cat d/a.yaml", "cat n.txt", "ls d", "chmod d/a.yaml", "chmod n.txt", "chmod d/t.txt",
		"write d/t.txt y", "write d/new.txt x", "rm d/new.txt", "write d/.hidden.yaml x", "write d/.a.yaml.swp x", "write d/a.yaml~ x",
		"mkdir d/more", "write d/sub/c.yaml below", "mv d/sub d/bus", "ln ../o/b.yaml d/l.yaml", "ln ../o d/lo",
		"write sibling.yaml x", "write o/b.yaml y", "mkdir d/folder.yaml",
	} {
		do(t, c)
	}
	w.expectNoEvent("No file that is read has changed.")
	do(t, "write d/a.yaml three")
	w.called("The watch continues.")
}

// TestWatchSameStamp changes the content of a file, but neither its size nor
// its time.
func TestWatchSameStamp(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "write a.yaml one")
	w := begin(t, []string{"a.yaml"}, Options{Settle: short})
	info, err := os.Stat("a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	do(t, "write a.yaml six")
	if err := os.Chtimes("a.yaml", time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	w.called("A change of the content alone is reported.")
}

// TestWatchSince checks that changes between Read and Watch are reported, and
// only those.
func TestWatchSince(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "write a.yaml one", "write b.yaml one")
	s := New([]string{"."}, Options{Settle: short})
	if got := names(t, s); len(got) != 2 {
		t.Fatalf("read %q", got)
	}
	do(t, "rm b.yaml")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	calls := 0
	err := s.Watch(ctx, func() {
		calls++
		cancel()
	})
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("Watch: %d calls, %v", calls, err)
	}
	names(t, s)
	watch(t, s).expectNoEvent("Nothing has changed since the last Read.")
	watch(t, New([]string{"."}, Options{Settle: short})).expectNoEvent("Nothing has been read before.")
}

// TestWatchMany checks very frequent and endless writes.
func TestWatchMany(t *testing.T) {
	t.Chdir(t.TempDir())
	do(t, "mkdir d")
	w := begin(t, []string{"d"}, Options{Settle: 5 * short})
	start := time.Now()
	for i := range 1000 {
		do(t, fmt.Sprintf("write d/%d.yaml x%d", i%50, i))
	}
	w.called("Many writes are reported.")
	took := time.Since(start)
	if n, most := w.count.Load(), int32(took/(5*short))+2; n > most {
		t.Errorf("%d events for 1000 writes in %v, want at most %d", n, took, most)
	}
	w.rest(5 * short)
	start = time.Now()
	for i := 0; ; i++ {
		select {
		case <-w.calls:
			return
		case <-time.After(time.Millisecond):
		}
		if time.Since(start) > time.Minute {
			t.Fatal("endless changes were never reported")
		}
		do(t, fmt.Sprintf("write d/endless.yaml x%d", i))
	}
}

// TestStamp changes a file without changing its size or its text.
func TestStamp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if got := Stamp(path); got != "" {
		t.Errorf("stamp of a missing file is %q", got)
	}
	seen := map[string]string{}
	at := time.Now()
	for _, step := range []struct {
		reason string
		do     func() error
	}{
		{"written", func() error { return os.WriteFile(path, []byte("one"), 0o600) }},
		{"truncated", func() error { return os.Truncate(path, 0) }},
		{"touched", func() error { return os.Chtimes(path, at, at.Add(time.Hour)) }},
		{"replaced", func() error {
			next := path + ".new"
			return errors.Join(os.WriteFile(next, nil, 0o600), os.Chtimes(next, at, at.Add(time.Hour)), os.Rename(next, path))
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		stamp := Stamp(path)
		if before, ok := seen[stamp]; ok || stamp == "" || stamp != Stamp(path) {
			t.Errorf("file that was %s has the same stamp %q as one that was %s", step.reason, stamp, before)
		}
		seen[stamp] = step.reason
	}
}
