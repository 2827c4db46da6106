package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd"
)

// definition returns the text of a definition with the name.
func definition(name string) string {
	return "apiVersion: apiextensions.crossplane.io/v1\nkind: CompositeResourceDefinition\nmetadata:\n  name: " + name + "\n"
}

// plant makes files below a new directory, which becomes the working one. A
// name that ends in a slash is a directory; "a -> b" is a link.
func plant(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		var err error
		at, to, isLink := strings.Cut(name, " -> ")
		if e := os.MkdirAll(filepath.Dir(at), 0o755); e != nil {
			t.Fatal(e)
		}
		switch {
		case isLink:
			err = os.Symlink(to, at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(name, 0o755)
		default:
			err = os.WriteFile(name, []byte(definition(strings.ReplaceAll(name, "/", "-"))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func origins(set *xrd.Set) []string {
	var out []string
	for _, d := range set.Definitions {
		out = append(out, d.Origin.File)
	}
	return out
}

func TestRead(t *testing.T) {
	cases := map[string]struct {
		reason  string
		files   []string
		paths   []string
		opts    Options
		want    []string
		skipped []string
		errs    []string
	}{
		"File": {
			reason: "a file may have any name",
			files:  []string{"a.txt", ".hidden"}, paths: []string{"a.txt", ".hidden"},
			want: []string{".hidden", "a.txt"},
		},
		"AsGiven": {
			reason: "paths stay as they are given",
			files:  []string{"a.yaml", "d/b.yaml", "d/c.yaml"}, paths: []string{"./a.yaml", "./d/"},
			want: []string{"./a.yaml", "./d/b.yaml", "./d/c.yaml"},
		},
		"Dot": {
			reason: "the working directory is a directory",
			files:  []string{"a.yaml"}, paths: []string{"."},
			want: []string{"./a.yaml"},
		},
		"Directory": {
			reason: "of a directory only YAML and JSON at the top are read, and nothing hidden",
			files:  []string{"d/a.yaml", "d/b.yml", "d/c.json", "d/D.YAML", "d/e.txt", "d/.f.yaml", "d/sub/g.yaml"},
			paths:  []string{"d"},
			want:   []string{"d/D.YAML", "d/a.yaml", "d/b.yml", "d/c.json"},
		},
		"Recursive": {
			reason: "below hidden directories nothing is read; a directory's name may end like a file's",
			files:  []string{"d/a.yaml", "d/x/y/b.yaml", "d/.git/c.yaml", "d/z.yaml/e.yaml"},
			paths:  []string{"d"}, opts: Options{Recursive: true},
			want: []string{"d/a.yaml", "d/x/y/b.yaml", "d/z.yaml/e.yaml"},
		},
		"HiddenNamed": {
			reason: "a hidden directory named outright is read",
			files:  []string{".d/a.yaml"}, paths: []string{".d"},
			want: []string{".d/a.yaml"},
		},
		"Order": {
			reason: "the order of arguments does not matter, nor that one is given twice",
			files:  []string{"a.yaml", "b.yaml", "c/d.yaml"}, paths: []string{"c", "b.yaml", "a.yaml", "b.yaml", "c/d.yaml"},
			want: []string{"a.yaml", "b.yaml", "c/d.yaml"},
		},
		"SameFile": {
			reason: "two spellings of a path are one file",
			files:  []string{"a.yaml"}, paths: []string{"a.yaml", "./a.yaml"},
			want: []string{"./a.yaml"},
		},
		"Empty": {
			reason: "an empty directory is worth a word, not an error",
			files:  []string{"d/"}, paths: []string{"d"},
			skipped: []string{"d: it holds no .yaml, .yml or .json file"},
		},
		"EmptyTop": {
			reason: "the word says how to look below",
			files:  []string{"d/x/a.yaml"}, paths: []string{"d"},
			skipped: []string{"d: it holds no .yaml, .yml or .json file; use --recursive to look below"},
		},
		"EmptyBelow": {
			reason: "only the directory that was named is spoken of",
			files:  []string{"d/x/"}, paths: []string{"d"}, opts: Options{Recursive: true},
			skipped: []string{"d: it holds no .yaml, .yml or .json file"},
		},
		"LinkNamed": {
			reason: "a link named outright is followed",
			files:  []string{"a.yaml", "l -> a.yaml", "d/b.yaml", "m -> d"}, paths: []string{"l", "m"},
			want: []string{"l", "m/b.yaml"},
		},
		"LinkSkipped": {
			reason: "a link met is passed over, and spoken of if it would have been read",
			files:  []string{"d/a.yaml", "d/b.yaml -> a.yaml", "d/c.txt -> a.yaml", "d/e -> ../x", "x/f.yaml"},
			paths:  []string{"d"}, opts: Options{Recursive: true},
			want: []string{"d/a.yaml"},
			skipped: []string{
				"d/b.yaml: it is a link; use --follow-symlinks to read it",
				"d/e: it is a link; use --follow-symlinks to read it",
			},
		},
		"LinkFollowed": {
			reason: "a link is followed when asked; its own name decides",
			files:  []string{"d/b.yaml -> ../x/f.txt", "d/c.txt -> ../x/g.yaml", "x/f.txt", "x/g.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true},
			want: []string{"d/b.yaml"},
		},
		"LinkAndFile": {
			reason: "a file with several ways to it is read once, by its own path",
			files:  []string{"d/z.yaml", "d/a.yaml -> z.yaml", "d/b -> sub", "d/sub/x.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want: []string{"d/sub/x.yaml", "d/z.yaml"},
		},
		"Loop": {
			reason: "links may go in circles",
			files:  []string{"d/a.yaml", "d/self -> .", "d/up -> ..", "d/sub/root -> ../../d", "d/sub/b.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want: []string{"d/a.yaml", "d/sub/b.yaml"},
		},
		"LoopOfLinks": {
			reason: "links that lead to one another lead nowhere",
			files:  []string{"d/a.yaml -> b.yaml", "d/b.yaml -> a.yaml", "d/c.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true},
			want: []string{"d/c.yaml"},
			errs: []string{`cannot read "d/a.yaml": too many levels of symbolic links`, `cannot read "d/b.yaml": too many levels of symbolic links`},
		},
		"Dangling": {
			reason: "a link that leads nowhere is an error where a file was wanted; the rest is read",
			files:  []string{"d/a.yaml -> gone", "d/b -> gone", "d/c.yaml", "l -> gone"},
			paths:  []string{"d", "l"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want:    []string{"d/c.yaml"},
			skipped: []string{"d/b: it is a link that leads nowhere"},
			errs: []string{
				`cannot read "d/a.yaml": it is a link that leads nowhere`,
				`cannot read "l": it is a link that leads nowhere`,
			},
		},
		"Missing": {
			reason: "all that is wrong is told, all that is right is read",
			files:  []string{"a.yaml", "f/"}, paths: []string{"nope", "a.yaml", "a.yaml/b", ""},
			want: []string{"a.yaml"},
			errs: []string{`cannot read "": the path is empty`, `cannot read "a.yaml/b": not a directory`, `cannot read "nope": no such file or directory`},
		},
		"Stdin": {
			reason: "standard input goes with files, and is read once",
			files:  []string{"a.yaml"}, paths: []string{"-", "a.yaml", "-"},
			opts: Options{Stdin: strings.NewReader(definition("in"))},
			want: []string{"<stdin>", "a.yaml"},
		},
		"NoStdin": {
			reason: "without standard input there is nothing to read",
			paths:  []string{"-"},
			errs:   []string{`cannot read "<stdin>": there is no standard input`},
		},
		"Nothing": {reason: "no paths, no files"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plant(t, tc.files...)
			var skipped []string
			tc.opts.Skipped = func(path, why string) { skipped = append(skipped, path+": "+why) }
			set, err := New(tc.paths, tc.opts).Read(t.Context())
			var errs []string
			if err != nil {
				errs = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(tc.want, origins(set)); diff != "" {
				t.Errorf("%s\nfiles read (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.skipped, skipped); diff != "" {
				t.Errorf("%s\nskipped (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s\nerrors (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHints(t *testing.T) {
	plant(t, "l -> gone", "a.yaml")
	cases := map[string]struct {
		reason string
		path   string
		want   string
	}{
		"Missing":  {"the most likely cause is the spelling", "nope", "check the spelling; the path is relative to the working directory"},
		"Absolute": {"an absolute path is relative to nothing", "/nope/nope", "check the spelling; the path is absolute"},
		"Pattern":  {"a pattern in quotes never meets the shell", "*.yml", "patterns are expanded by the shell, which found no match; name a directory to read all files in it"},
		"Link":     {"the link is there, its end is not", "l", "remove the link, or make what it leads to"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New([]string{tc.path}, Options{}).Read(t.Context())
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%s\nRead: %v, want an *Error", tc.reason, err)
			}
			if e.Hint != tc.want || e.Path != tc.path || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s\ngot %q, %q (%v), want %q, %q", tc.reason, e.Path, e.Hint, err, tc.path, tc.want)
			}
		})
	}
}

// TestOrigin holds positions and origins against what a file says.
func TestOrigin(t *testing.T) {
	plant(t)
	if err := os.WriteFile("a.yaml", []byte("a: [\n---\n"+definition("x")), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := New([]string{"a.yaml"}, Options{}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Definitions) != 1 || set.Documents != 2 || len(set.Findings) != 1 || set.Findings[0].File != "a.yaml" {
		t.Fatalf("want one definition and one finding in a.yaml of two documents, got %+v", set)
	}
	want := xrd.Origin{Source: xrd.SourceFile, File: "a.yaml"}
	if diff := cmp.Diff(want, set.Definitions[0].Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
}

// TestParallel reads many files with few and many workers and wants the same.
func TestParallel(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("d/%d/%03d.yaml", i%7, i))
	}
	plant(t, names...)
	slices.Sort(names)
	for _, n := range []int{0, 1, 3, 1000} {
		last := 0
		opts := Options{Recursive: true, Parallelism: n, Progress: func(done, total int) {
			if done != last+1 || total != len(names) {
				t.Errorf("progress %d/%d after %d", done, total, last)
			}
			last = done
		}}
		set, err := New([]string{"d"}, opts).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names, origins(set)); diff != "" {
			t.Errorf("%d at once (-want +got):\n%s", n, diff)
		}
		if last != len(names) {
			t.Errorf("progress ended at %d", last)
		}
	}
}

// TestCancel ends the context while standard input says nothing more.
func TestCancel(t *testing.T) {
	plant(t, "a.yaml")
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // it lets the reader left behind go
	ctx, cancel := context.WithCancelCause(t.Context())
	opts := Options{Stdin: r, Parallelism: 2, Progress: func(int, int) { cancel(errors.New("enough")) }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		set, err := New([]string{"-", "a.yaml"}, opts).Read(ctx)
		if err == nil || err.Error() != "cannot read all files: enough" {
			t.Errorf("Read: %v", err)
		}
		if diff := cmp.Diff([]string{"a.yaml"}, origins(set)); diff != "" {
			t.Errorf("what was read is kept (-want +got):\n%s", diff)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Read does not return when its context ends")
	}
}

func TestCancelled(t *testing.T) {
	plant(t, "d/a.yaml")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set, err := New([]string{"d"}, Options{}).Read(ctx)
	if set == nil || len(set.Definitions) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v, %v", set, err)
	}
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("tape torn")
	in := io.MultiReader(strings.NewReader(definition("a")+"---\n"), iotest.ErrReader(broken))
	set, err := New([]string{"-"}, Options{Stdin: in}).Read(t.Context())
	if !errors.Is(err, broken) || err.Error() != `cannot read "<stdin>": tape torn` {
		t.Errorf("Read: %v", err)
	}
	if len(set.Definitions) != 1 {
		t.Errorf("what came before the failure is kept: %+v", set)
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("a bug") }

// TestPanic wants a bug in a worker to reach the caller, who can show it.
func TestPanic(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "a bug") || !strings.Contains(r, "file_test.go") {
			t.Errorf("recovered %q, want the bug and its stack", r)
		}
	}()
	_, err := New([]string{"-"}, Options{Stdin: panicking{}}).Read(t.Context())
	t.Errorf("Read returned %v", err)
}

// TestBecameDirectory replaces a file by a directory after it was found.
func TestBecameDirectory(t *testing.T) {
	plant(t, "d/a.yaml", "d/b.yaml")
	s := New([]string{"d"}, Options{})
	found := s.find(t.Context())
	if err := errors.Join(os.Remove("d/a.yaml"), os.Mkdir("d/a.yaml", 0o755)); err != nil {
		t.Fatal(err)
	}
	var errs []error
	for r := range s.readAll(t.Context(), found.files) {
		errs = append(errs, r.err)
	}
	if err := errors.Join(errs...); err == nil || err.Error() != `cannot read "d/a.yaml": is a directory` {
		t.Errorf("readAll: %v", err)
	}
}

// TestJoinIsComplete fails when a Set learns to hold something join forgets.
func TestJoinIsComplete(t *testing.T) {
	want := []string{"Definitions", "Compositions", "Others", "Workloads", "Findings", "Documents", "Spill"}
	var got []string
	for f := range reflect.TypeFor[xrd.Set]().Fields() {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of xrd.Set that join knows (-) and that there are (+):\n%s", diff)
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.yaml", i)), []byte(definition("x")), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := New([]string{dir}, Options{}).Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
