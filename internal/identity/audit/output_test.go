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

// TestRotation moves the file away in each way of logrotate. Within a second,
// lines are written to the file at the path again, and no line is lost that was
// written to an existing file.
func TestRotation(t *testing.T) {
	cases := map[string]struct {
		reason string
		// rotate runs between two lines; the second is written after wait.
		rotate func(path string) error
		wait   time.Duration
		// old are the lines of the moved file, new those of the file at the path.
		old, new []string
	}{
		"Rename": {"A new file is created.", func(path string) error { return os.Rename(path, path+".1") }, time.Second,
			[]string{"one"}, []string{"two"}},
		"Soon": {"Until the next check the old file is written.", func(path string) error { return os.Rename(path, path+".1") }, time.Millisecond,
			[]string{"one", "two"}, nil},
		"Create": {"A file created by logrotate is used.", func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, nil, 0o640))
		}, time.Second, []string{"one"}, []string{"two"}},
		"Remove": {"A removed file is created again.", os.Remove, time.Second, nil, []string{"two"}},
		"Truncate": {"With copytruncate the file stays open.", func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".1", data, 0o600), os.Truncate(path, 0))
		}, time.Millisecond, []string{"one"}, []string{"two"}},
		"Back": {"A clock that was set back does not prevent the check.", func(path string) error { return os.Rename(path, path+".1") }, -time.Hour,
			[]string{"one"}, []string{"two"}},
		"Nothing": {"A file that was not moved stays open.", func(string) error { return nil }, time.Hour, nil, []string{"one", "two"}},
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

// TestRotationFails removes the folder: lines are written to the open file, and
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
		t.Errorf("old file (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"four"}, providers(t, read(t, path))); diff != "" {
		t.Errorf("new file (-want +got):\n%s", diff)
	}
	if got := told.String(); strings.Count(got, "audit log write failed") != 1 || !strings.Contains(got, "lost=2") {
		t.Errorf("log is\n%s", got)
	}
}

// TestConcurrent has two logs, as of two processes, write to one file from many
// goroutines during rotations: every line is complete, and none is lost.
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
		t.Errorf("%d of %d lines were found", len(seen), goroutines*each)
	}
}

// TestTorn checks that an incomplete last line is ended, and that only the owner
// can read a file.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, toFile(path))
	push(t, l, "one")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file has mode %v: %v", info.Mode(), err)
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
		t.Fatalf("lines are %q", lines)
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
		"Folder":   {"Missing folders are not created.", toFile(filepath.Join(dir, "no", "audit.jsonl")), "cannot open audit log " + filepath.Join(dir, "no", "audit.jsonl") + ": no such file or directory", "create the folder, or set audit.file to another path"},
		"IsFolder": {"A folder is not a file.", toFile(dir), "cannot open audit log " + dir + ": not a regular file", "set audit.file to a regular file, or set audit.to: stdout"},
		"Device":   {"A device is not a file.", toFile(os.DevNull), "cannot open audit log " + os.DevNull + ": not a regular file", "set audit.file to a regular file, or set audit.to: stdout"},
		"Stdout":   {"A program may have no standard output.", Options{Config: config.Audit{To: config.AuditStdout}}, "cannot open audit log stdout: the program has no standard output", "set audit.to: file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.Now = time.Now
			_, err := New(tc.opts)
			e, ok := errors.AsType[*OpenError](err)
			if !ok {
				t.Fatalf("%s: New returned %v, want an OpenError", tc.reason, err)
			}
			if diff := cmp.Diff([]string{tc.want, tc.hint}, []string{e.Error(), e.Hint}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
