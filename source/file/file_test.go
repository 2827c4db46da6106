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

// createFiles creates files below a new directory, which becomes the working
// directory. A name with a trailing slash is a directory; "a -> b" is a link.
func createFiles(t *testing.T, names ...string) {
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
			reason: "A file can have any name.",
			files:  []string{"a.txt", ".hidden"}, paths: []string{"a.txt", ".hidden"},
			want: []string{".hidden", "a.txt"},
		},
		"AsGiven": {
			reason: "Paths are kept as they are given.",
			files:  []string{"a.yaml", "d/b.yaml", "d/c.yaml"}, paths: []string{"./a.yaml", "./d/"},
			want: []string{"./a.yaml", "./d/b.yaml", "./d/c.yaml"},
		},
		"Dot": {
			reason: "The working directory can be read.",
			files:  []string{"a.yaml"}, paths: []string{"."},
			want: []string{"./a.yaml"},
		},
		"Directory": {
			reason: "Of a directory only YAML and JSON files at the top level are read, and no hidden ones.",
			files:  []string{"d/a.yaml", "d/b.yml", "d/c.json", "d/D.YAML", "d/e.txt", "d/.f.yaml", "d/sub/g.yaml"},
			paths:  []string{"d"},
			want:   []string{"d/D.YAML", "d/a.yaml", "d/b.yml", "d/c.json"},
		},
		"Recursive": {
			reason: "Hidden directories are skipped; the name of a directory can have the extension of a file.",
			files:  []string{"d/a.yaml", "d/x/y/b.yaml", "d/.git/c.yaml", "d/z.yaml/e.yaml"},
			paths:  []string{"d"}, opts: Options{Recursive: true},
			want: []string{"d/a.yaml", "d/x/y/b.yaml", "d/z.yaml/e.yaml"},
		},
		"HiddenNamed": {
			reason: "A hidden directory that is named is read.",
			files:  []string{".d/a.yaml"}, paths: []string{".d"},
			want: []string{".d/a.yaml"},
		},
		"Order": {
			reason: "The order of arguments and duplicates do not matter.",
			files:  []string{"a.yaml", "b.yaml", "c/d.yaml"}, paths: []string{"c", "b.yaml", "a.yaml", "b.yaml", "c/d.yaml"},
			want: []string{"a.yaml", "b.yaml", "c/d.yaml"},
		},
		"SameFile": {
			reason: "Two spellings of a path are one file.",
			files:  []string{"a.yaml"}, paths: []string{"a.yaml", "./a.yaml"},
			want: []string{"./a.yaml"},
		},
		"Empty": {
			reason: "An empty directory is reported as skipped, not as an error.",
			files:  []string{"d/"}, paths: []string{"d"},
			skipped: []string{"d: no .yaml, .yml or .json file"},
		},
		"EmptyTop": {
			reason: "The report of an empty directory suggests --recursive.",
			files:  []string{"d/x/a.yaml"}, paths: []string{"d"},
			skipped: []string{"d: no .yaml, .yml or .json file; use --recursive to search subfolders"},
		},
		"EmptyBelow": {
			reason: "Only the directory that was named is reported.",
			files:  []string{"d/x/"}, paths: []string{"d"}, opts: Options{Recursive: true},
			skipped: []string{"d: no .yaml, .yml or .json file"},
		},
		"LinkNamed": {
			reason: "A link that is named is followed.",
			files:  []string{"a.yaml", "l -> a.yaml", "d/b.yaml", "m -> d"}, paths: []string{"l", "m"},
			want: []string{"l", "m/b.yaml"},
		},
		"LinkSkipped": {
			reason: "A link in a directory is skipped, and reported if it matches.",
			files:  []string{"d/a.yaml", "d/b.yaml -> a.yaml", "d/c.txt -> a.yaml", "d/e -> ../x", "x/f.yaml"},
			paths:  []string{"d"}, opts: Options{Recursive: true},
			want: []string{"d/a.yaml"},
			skipped: []string{
				"d/b.yaml: is a link; use --follow-symlinks to read it",
				"d/e: is a link; use --follow-symlinks to read it",
			},
		},
		"LinkFollowed": {
			reason: "A link is followed if FollowSymlinks is set; the name of the link decides.",
			files:  []string{"d/b.yaml -> ../x/f.txt", "d/c.txt -> ../x/g.yaml", "x/f.txt", "x/g.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true},
			want: []string{"d/b.yaml"},
		},
		"LinkAndFile": {
			reason: "A file with several links to it is read once, by its own path.",
			files:  []string{"d/z.yaml", "d/a.yaml -> z.yaml", "d/b -> sub", "d/sub/x.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want: []string{"d/sub/x.yaml", "d/z.yaml"},
		},
		"Loop": {
			reason: "Link cycles between directories are supported.",
			files:  []string{"d/a.yaml", "d/self -> .", "d/up -> ..", "d/sub/root -> ../../d", "d/sub/b.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want: []string{"d/a.yaml", "d/sub/b.yaml"},
		},
		"LoopOfLinks": {
			reason: "Links that point to each other are an error.",
			files:  []string{"d/a.yaml -> b.yaml", "d/b.yaml -> a.yaml", "d/c.yaml"},
			paths:  []string{"d"}, opts: Options{FollowSymlinks: true},
			want: []string{"d/c.yaml"},
			errs: []string{`cannot read "d/a.yaml": too many levels of symbolic links`, `cannot read "d/b.yaml": too many levels of symbolic links`},
		},
		"Dangling": {
			reason: "A broken link is an error if it has the name of a file; everything else is read.",
			files:  []string{"d/a.yaml -> gone", "d/b -> gone", "d/c.yaml", "l -> gone"},
			paths:  []string{"d", "l"}, opts: Options{FollowSymlinks: true, Recursive: true},
			want:    []string{"d/c.yaml"},
			skipped: []string{"d/b: broken link: target does not exist"},
			errs: []string{
				`cannot read "d/a.yaml": broken link: target does not exist`,
				`cannot read "l": broken link: target does not exist`,
			},
		},
		"Missing": {
			reason: "All errors are reported, and all valid files are read.",
			files:  []string{"a.yaml", "f/"}, paths: []string{"nope", "a.yaml", "a.yaml/b", ""},
			want: []string{"a.yaml"},
			errs: []string{`cannot read "": the path is empty`, `cannot read "a.yaml/b": not a directory`, `cannot read "nope": no such file or directory`},
		},
		"Stdin": {
			reason: "Standard input can be combined with files, and is read once.",
			files:  []string{"a.yaml"}, paths: []string{"-", "a.yaml", "-"},
			opts: Options{Stdin: strings.NewReader(definition("in"))},
			want: []string{"<stdin>", "a.yaml"},
		},
		"NoStdin": {
			reason: "Without standard input the path - is an error.",
			paths:  []string{"-"},
			errs:   []string{`cannot read "<stdin>": no standard input`},
		},
		"Nothing": {reason: "Without paths nothing is read."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			createFiles(t, tc.files...)
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
	createFiles(t, "l -> gone", "a.yaml")
	cases := map[string]struct {
		reason string
		path   string
		want   string
	}{
		"Missing":  {"The hint for a missing relative path is to check the spelling.", "nope", "check the spelling; the path is relative to the working directory"},
		"Absolute": {"The hint for a missing absolute path does not mention the working directory.", "/nope/nope", "check the spelling; the path is absolute"},
		"Pattern":  {"The hint for a pattern explains that the shell expands it.", "*.yml", "name a directory to read all files in it; the shell found no match for the pattern"},
		"Link":     {"The hint for a broken link is to remove it.", "l", "remove the link, or create its target"},
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

// TestOrigin checks positions and origins.
func TestOrigin(t *testing.T) {
	createFiles(t)
	if err := os.WriteFile("a.yaml", []byte("a: [\n---\n"+definition("x")), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := New([]string{"a.yaml"}, Options{}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Definitions) != 1 || set.Documents != 2 || len(set.Findings) != 1 || set.Findings[0].File != "a.yaml" {
		t.Fatalf("got %+v, want one definition and one finding in a.yaml of two documents", set)
	}
	want := xrd.Origin{Source: xrd.SourceFile, File: "a.yaml"}
	if diff := cmp.Diff(want, set.Definitions[0].Origin); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
}

// TestParallel checks that the result does not depend on the number of workers.
func TestParallel(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("d/%d/%03d.yaml", i%7, i))
	}
	createFiles(t, names...)
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
			t.Errorf("%d workers (-want +got):\n%s", n, diff)
		}
		if last != len(names) {
			t.Errorf("progress ended at %d", last)
		}
	}
}

// TestCancel ends the context while standard input is blocked.
func TestCancel(t *testing.T) {
	createFiles(t, "a.yaml")
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
			t.Errorf("definitions before the cancellation (-want +got):\n%s", diff)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Read did not return after its context ended")
	}
}

func TestCancelled(t *testing.T) {
	createFiles(t, "d/a.yaml")
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
		t.Errorf("definitions before the error: %+v", set)
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("a bug") }

// TestPanic checks that a panic in a worker reaches the caller.
func TestPanic(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "a bug") || !strings.Contains(r, "file_test.go") {
			t.Errorf("recovered %q, want the panic and its stack", r)
		}
	}()
	_, err := New([]string{"-"}, Options{Stdin: panicking{}}).Read(t.Context())
	t.Errorf("Read returned %v", err)
}

// TestBecameDirectory replaces a file by a directory after it was listed.
func TestBecameDirectory(t *testing.T) {
	createFiles(t, "d/a.yaml", "d/b.yaml")
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

// TestJoinIsComplete fails if xrd.Set has a field that join does not know.
func TestJoinIsComplete(t *testing.T) {
	want := []string{"Definitions", "Compositions", "Others", "Workloads", "Findings", "Documents", "Spill"}
	var got []string
	for f := range reflect.TypeFor[xrd.Set]().Fields() {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of xrd.Set that join knows (-) and that exist (+):\n%s", diff)
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
