package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// providers returns the provider of each line.
func providers(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for _, l := range linesOf(t, text) {
		out = append(out, l.Target["provider"])
	}
	return out
}

func push(t *testing.T, l *Log, provider string) {
	t.Helper()
	l.Record(t.Context(), Event{Name: CatalogPush, Result: Success, Target: map[string]string{"provider": provider}})
}

// TestRotation moves the file away, as logrotate does, in each of its ways. Lines
// go to the file at the path again within a second, and none is lost that was
// written to a file that is still there.
func TestRotation(t *testing.T) {
	cases := map[string]struct {
		reason string
		// rotate is done between two lines, and wait is how much later the second
		// is written.
		rotate func(path string) error
		wait   time.Duration
		// old is what the file that was moved has, new what the file at the path
		// has.
		old, new []string
	}{
		"Rename": {"a new file is made", func(path string) error { return os.Rename(path, path+".1") }, time.Second,
			[]string{"one"}, []string{"two"}},
		"Soon": {"until then the old one is written to", func(path string) error { return os.Rename(path, path+".1") }, time.Millisecond,
			[]string{"one", "two"}, nil},
		"Create": {"the file that logrotate makes is used", func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, nil, 0o640))
		}, time.Second, []string{"one"}, []string{"two"}},
		"Remove": {"a file that is gone is made again", os.Remove, time.Second, nil, []string{"two"}},
		"Truncate": {"with copytruncate the file stays", func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".1", data, 0o600), os.Truncate(path, 0))
		}, time.Millisecond, []string{"one"}, []string{"two"}},
		"Back": {"a clock that was set back does not stop it", func(path string) error { return os.Rename(path, path+".1") }, -time.Hour,
			[]string{"one"}, []string{"two"}},
		"Nothing": {"a file that is where it was stays open", func(string) error { return nil }, time.Hour, nil, []string{"one", "two"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path, at := filepath.Join(t.TempDir(), "audit.jsonl"), newClock()
			opts := toFile(path)
			opts.Now = at.now
			l := open(t, opts)
			push(t, l, "one")
			if err := tc.rotate(path); err != nil {
				t.Fatal(err)
			}
			at.forward(tc.wait)
			push(t, l, "two")
			var old, now []string
			if data, err := os.ReadFile(path + ".1"); err == nil {
				old = providers(t, string(data))
			}
			if data, err := os.ReadFile(path); err == nil {
				now = providers(t, string(data))
			}
			if diff := cmp.Diff([][]string{tc.old, tc.new}, [][]string{old, now}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRotationFails takes the folder away: lines go to the file that is open, and
// count as lost until there is a file at the path again.
func TestRotationFails(t *testing.T) {
	dir, at, told := filepath.Join(t.TempDir(), "log"), newClock(), &stream{}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.jsonl")
	opts := toFile(path)
	opts.Now, opts.Log = at.now, slog.New(slog.NewTextHandler(told, nil))
	l := open(t, opts)
	push(t, l, "one")
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	at.forward(time.Second)
	push(t, l, "two")
	push(t, l, "three")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	push(t, l, "four")
	if diff := cmp.Diff([]string{"one", "two", "three"}, providers(t, read(t, filepath.Join(dir+".old", "audit.jsonl")))); diff != "" {
		t.Errorf("the old file (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"four"}, providers(t, read(t, path))); diff != "" {
		t.Errorf("the new file (-want +got):\n%s", diff)
	}
	if got := told.String(); strings.Count(got, "audit log write failed") != 1 || !strings.Contains(got, "lost=2") {
		t.Errorf("the log says\n%s", got)
	}
}

// TestConcurrent has two logs, as of two processes, write to one file from many
// goroutines while it is rotated: every line is whole, and all are there.
func TestConcurrent(t *testing.T) {
	const goroutines, each = 16, 100
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	at := newClock()
	opts := toFile(path)
	opts.Now = at.now
	logs := []*Log{open(t, opts), open(t, opts)}
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				push(t, logs[g%2], fmt.Sprintf("%d-%d-%s", g, i, strings.Repeat("x", i*5)))
			}
		})
	}
	for i := range 5 {
		if err := os.Rename(path, fmt.Sprintf("%s.%d", path, i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		at.forward(time.Second)
	}
	all.Wait()
	seen := map[string]bool{}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, p := range providers(t, read(t, f)) {
			seen[p] = true
		}
	}
	if len(seen) != goroutines*each {
		t.Errorf("%d of %d lines are there", len(seen), goroutines*each)
	}
}

// TestTorn wants a file whose last line has no end to get one, and a file to be
// for its owner alone.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, toFile(path))
	push(t, l, "one")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v: %v", info.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(read(t, path)+`{"time":"2026`), 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, toFile(path))
	push(t, l, "two")
	push(t, l, "three")
	lines := strings.SplitAfter(read(t, path), "\n")
	if len(lines) != 5 || lines[1] != "{\"time\":\"2026\n" {
		t.Fatalf("there is %q", lines)
	}
	if diff := cmp.Diff([]string{"two", "three"}, providers(t, lines[2]+lines[3])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		reason     string
		opts       Options
		want, hint string
	}{
		"Folder":   {"folders are not made", toFile(filepath.Join(dir, "no", "audit.jsonl")), "cannot open audit log " + filepath.Join(dir, "no", "audit.jsonl") + ": no such file or directory", "create its folder, or set audit.file to another path"},
		"IsFolder": {"a folder is no file", toFile(dir), "cannot open audit log " + dir + ": not a regular file", "name a regular file in audit.file, or set audit.to: stdout"},
		"Device":   {"nor is a device", toFile(os.DevNull), "cannot open audit log " + os.DevNull + ": not a regular file", "name a regular file in audit.file, or set audit.to: stdout"},
		"Stdout":   {"a program without one", Options{Config: config.Audit{To: config.AuditStdout}}, "cannot open audit log stdout: the program has no standard output", "set audit.to: file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.Now = time.Now
			_, err := New(tc.opts)
			e, ok := errors.AsType[*OpenError](err)
			if !ok {
				t.Fatalf("%s: got %v", tc.reason, err)
			}
			if diff := cmp.Diff([]string{tc.want, tc.hint}, []string{e.Error(), e.Hint}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
