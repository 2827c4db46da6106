package dir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// ent returns an entity for "Kind:namespace/name" or "Kind:name".
func ent(ref string) *entity.Entity {
	kind, rest, _ := strings.Cut(ref, ":")
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok {
		namespace, name = "", rest
	}
	return &entity.Entity{APIVersion: "portal.io/v1alpha1", Kind: kind, Metadata: entity.Metadata{Name: name, Namespace: namespace}}
}

func ents(refs ...string) []*entity.Entity {
	var out []*entity.Entity
	for _, r := range refs {
		out = append(out, ent(r))
	}
	return out
}

// text returns the entity as YAML.
func text(ref string) string { return string(entity.AppendYAML(nil, ent(ref))) }

// tree returns the files below the working directory with their content;
// directories end in a slash.
func tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || p == ".":
			return err
		case d.IsDir():
			out[p+"/"] = ""
			return nil
		case !d.Type().IsRegular():
			out[p] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(p)
		out[p] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func byKind(e *entity.Entity) string { return "the-" + e.Kind }

func TestWrite(t *testing.T) {
	cases := map[string]struct {
		reason   string
		root     string
		opts     Options
		entities []*entity.Entity
		want     map[string]string
		wrote    map[string]int
	}{
		"PerKind": {
			reason: "There is one file per kind, with its entities in the given order.", root: "out",
			entities: ents("Template:b", "API:x", "Template:a"),
			want: map[string]string{
				"out/": "", "out/api.yaml": "---\n" + text("API:x"),
				"out/template.yaml": "---\n" + text("Template:b") + "---\n" + text("Template:a"),
			},
			wrote: map[string]int{"out/api.yaml": 1, "out/template.yaml": 2},
		},
		"PerKindJSON": {
			reason: "Several entities are a JSON array.", root: "out", opts: Options{Format: sink.JSON},
			entities: ents("System:x", "System:y"),
			want:     map[string]string{"out/": "", "out/system.json": string(entity.JSONArray(ents("System:x", "System:y")))},
			wrote:    map[string]int{"out/system.json": 2},
		},
		"Named": {
			reason: "Entities with the same file name share a file in the given order; a single document has no separator.", root: "out", opts: Options{Layout: Named, File: byKind},
			entities: ents("Template:b", "Resource:y", "Resource:x"),
			want: map[string]string{
				"out/": "", "out/the-Template.yaml": text("Template:b"),
				"out/the-Resource.yaml": "---\n" + text("Resource:y") + "---\n" + text("Resource:x"),
			},
			wrote: map[string]int{"out/the-Template.yaml": 1, "out/the-Resource.yaml": 2},
		},
		"NamedJSON": {
			reason: "A named JSON file is always an array.", root: "out", opts: Options{Layout: Named, File: byKind, Format: sink.JSON},
			entities: ents("Template:b"),
			want:     map[string]string{"out/": "", "out/the-Template.json": string(entity.JSONArray(ents("Template:b")))},
			wrote:    map[string]int{"out/the-Template.json": 1},
		},
		"NamedCase": {
			reason: "File names that differ only in case are the same, because some file systems ignore case.", root: "out",
			opts:     Options{Layout: Named, File: func(e *entity.Entity) string { return e.Metadata.Name }},
			entities: ents("Template:Foo", "Template:foo"),
			want:     map[string]string{"out/": "", "out/Foo.yaml": "---\n" + text("Template:Foo") + "---\n" + text("Template:foo")},
			wrote:    map[string]int{"out/Foo.yaml": 2},
		},
		"NamedHostile": {
			reason: "A file name cannot leave the directory.", root: "out",
			opts:     Options{Layout: Named, File: func(*entity.Entity) string { return "../../x" }},
			entities: ents("Template:a"),
			want:     map[string]string{"out/": "", "out/_.._x-9cdf6a50.yaml": text("Template:a")},
			wrote:    map[string]int{"out/_.._x-9cdf6a50.yaml": 1},
		},
		"PerEntity": {
			reason: "There is one file per entity in a directory per kind; missing directories are created.", root: "deep/out", opts: Options{Layout: PerEntity},
			entities: ents("Template:a", "Resource:a.b", "Template:other/b"),
			want: map[string]string{
				"deep/": "", "deep/out/": "", "deep/out/Resource/": "", "deep/out/Template/": "",
				"deep/out/Resource/a.b.yaml": text("Resource:a.b"), "deep/out/Template/a.yaml": text("Template:a"),
				"deep/out/Template/b.yaml": text("Template:other/b"),
			},
			wrote: map[string]int{"deep/out/Resource/a.b.yaml": 1, "deep/out/Template/a.yaml": 1, "deep/out/Template/b.yaml": 1},
		},
		"PerEntityJSON": {
			reason: "A single entity is a JSON object.", root: "out", opts: Options{Layout: PerEntity, Format: sink.JSON},
			entities: ents("API:x"),
			want:     map[string]string{"out/": "", "out/API/": "", "out/API/x.json": string(entity.AppendJSON(nil, ent("API:x")))},
			wrote:    map[string]int{"out/API/x.json": 1},
		},
		"SingleFile": {
			reason: "With SingleFile the root is the file, whatever its name.", root: "deep/all.txt", opts: Options{Layout: SingleFile},
			entities: ents("Template:a", "API:a"),
			want:     map[string]string{"deep/": "", "deep/all.txt": "---\n" + text("Template:a") + "---\n" + text("API:a")},
			wrote:    map[string]int{"deep/all.txt": 2},
		},
		"Here": {
			reason: "The working directory can be the root.", root: ".",
			entities: ents("API:x"),
			want:     map[string]string{"api.yaml": "---\n" + text("API:x")},
			wrote:    map[string]int{"api.yaml": 1},
		},
		"Nothing": {reason: "Without entities no directory is created.", root: "out", want: map[string]string{}, wrote: map[string]int{}},
		"Hostile": {
			reason: "The name of an entity cannot leave the directory.", root: "out", opts: Options{Layout: PerEntity},
			entities: []*entity.Entity{{Kind: "../..", Metadata: entity.Metadata{Name: "../../x", Namespace: "/etc"}}},
			want: map[string]string{
				"out/": "", "out/_-0cfd1c96/": "",
				"out/_-0cfd1c96/_.._x-9cdf6a50.yaml": string(entity.AppendYAML(nil, &entity.Entity{
					Kind: "../..", Metadata: entity.Metadata{Name: "../../x", Namespace: "/etc"},
				})),
			},
			wrote: map[string]int{"out/_-0cfd1c96/_.._x-9cdf6a50.yaml": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			wrote := map[string]int{}
			tc.opts.Wrote = func(path string, n int) { wrote[path] = n }
			if err := New(tc.root, tc.opts).Write(t.Context(), tc.entities); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tree(t)); diff != "" {
				t.Errorf("%s\nfiles (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wrote, wrote); diff != "" {
				t.Errorf("%s\nwrote (-want +got):\n%s", tc.reason, diff)
			}
			if len(tc.entities) == 0 {
				return
			}
			if err := New(tc.root, tc.opts).Write(t.Context(), tc.entities); err != nil {
				t.Fatalf("again: %v", err)
			}
			if diff := cmp.Diff(tc.want, tree(t)); diff != "" {
				t.Errorf("second Write changed the files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused checks that a refused Write has a clear error and changes
// nothing.
func TestRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  []string
		root   string
		opts   Options
		want   string
		hint   string
	}{
		"File": {
			reason: "A file is not accepted as a directory.", files: []string{"out"}, root: "out",
			want: `cannot write to "out": is a file, not a directory`,
			hint: "set --output to a directory, or add --single-file to write one file",
		},
		"Directory": {
			reason: "A directory is not accepted as a file.", files: []string{"out/x"}, root: "out", opts: Options{Layout: SingleFile},
			want: `cannot write to "out": is a directory, not a file`,
			hint: `set --output to a file in it, such as "out/catalog.yaml"`,
		},
		"Slash": {
			reason: "A path with a trailing slash is a directory.", root: "out/", opts: Options{Layout: SingleFile},
			want: `cannot write to "out/": path ends in a separator, so it names a directory`,
			hint: "set --output to a file",
		},
		"Empty": {
			reason: "An empty path is refused.", root: "",
			want: `cannot write to "": the path is empty`, hint: "set --output",
		},
		"ParentFile": {
			reason: "A file in the path of a directory is named.", files: []string{"a"}, root: "a/b/c",
			want: `cannot write to "a/b/c": "a" is a file, not a directory`, hint: "choose another path with --output",
		},
		"ParentFileSingle": {
			reason: "A file in the path of a single file is named.", files: []string{"a"}, root: "a/b/c", opts: Options{Layout: SingleFile},
			want: `cannot write to "a/b": "a" is a file, not a directory`, hint: "choose another path with --output",
		},
		"Dangling": {
			reason: "A broken link is not a directory.", files: []string{"out -> gone"}, root: "out",
			want: `cannot write to "out": "out" is a broken link: target does not exist`, hint: "remove the link, or create its target",
		},
		"HalfWay": {
			reason: "A directory in place of the last file is refused before the first file is written.", files: []string{"out/template.yaml/x", "out/api.yaml"}, root: "out",
			want: `cannot write to "out/template.yaml": is a directory, not a file`,
			hint: "move it, or choose another path with --output",
		},
		"HalfWayNew": {
			reason: "Directories that were created before an error are removed.", files: []string{"out/Template/b.yaml/x"}, root: "out", opts: Options{Layout: PerEntity},
			want: `cannot write to "out/Template/b.yaml": is a directory, not a file`,
			hint: "move it, or choose another path with --output",
		},
		"KindFile": {
			reason: "A file in place of the directory of a kind is refused.", files: []string{"out/Template"}, root: "out", opts: Options{Layout: PerEntity},
			want: `cannot write to "out/Template": is a file, not a directory`,
			hint: "move it, or choose another path with --output",
		},
		"LinkOut": {
			reason: "A link out of the directory is refused.", files: []string{"out/Template -> ../other", "other/x"}, root: "out", opts: Options{Layout: PerEntity},
			want: `cannot write to "out/Template": path escapes from parent`,
			hint: "remove the link that leads out of the output directory",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, f := range tc.files {
				at, to, isLink := strings.Cut(f, " -> ")
				err := os.MkdirAll(filepath.Dir(at), 0o755)
				if err == nil && isLink {
					err = os.Symlink(to, at)
				}
				if err == nil && !isLink {
					err = os.WriteFile(f, []byte("mine"), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t)
			tc.opts.Wrote = func(path string, _ int) { t.Errorf("wrote %q", path) }
			err := New(tc.root, tc.opts).Write(t.Context(), ents("API:a", "Template:a", "Template:b"))
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("%s\nWrite: %v, want an *Error", tc.reason, err)
			}
			if e.Error() != tc.want || e.Hint != tc.hint {
				t.Errorf("%s\ngot  %s\n     %s\nwant %s\n     %s", tc.reason, e, e.Hint, tc.want, tc.hint)
			}
			if diff := cmp.Diff(before, tree(t)); diff != "" {
				t.Errorf("%s\nrefused Write changed files (-before +after):\n%s", tc.reason, diff)
			}
		})
	}
}

// late is a context that ends when its error is read for the first time, which
// is after everything has been prepared.
type late struct{ context.Context }

func (late) Err() error { return context.Canceled }

func TestCancel(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for when, ctx := range map[string]context.Context{"early": gone, "late": late{context.Background()}} {
		t.Chdir(t.TempDir())
		err := New("a/out", Options{Layout: PerEntity}).Write(ctx, ents("API:a", "Template:a", "Template:b"))
		if !errors.Is(err, context.Canceled) || err.Error() != `cannot write to "a/out": context canceled` {
			t.Errorf("cancelled %s: %v", when, err)
		}
		if diff := cmp.Diff(map[string]string{}, tree(t)); diff != "" {
			t.Errorf("Write was cancelled %s and left files (-want +got):\n%s", when, diff)
		}
	}
}

// TestRenameFails checks an error of the last rename, after everything has been
// prepared.
func TestRenameFails(t *testing.T) {
	t.Chdir(t.TempDir())
	b, err := begin("out")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := b.prepare(name, func(w io.Writer) error {
			_, err := io.WriteString(w, name)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("out/b/x", 0o755); err != nil {
		t.Fatal(err)
	}
	err = b.commit()
	b.end()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Path != filepath.Join("out", "b") || e.Hint != "1 of 3 files were written before the error; fix the cause and write again" {
		t.Errorf("commit: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"out/": "", "out/a": "a", "out/b/": "", "out/b/x/": ""}, tree(t)); diff != "" {
		t.Errorf("temporary files were left (-want +got):\n%s", diff)
	}
}

func TestUnchanged(t *testing.T) {
	t.Chdir(t.TempDir())
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(refs ...string) (wrote []string) {
		t.Helper()
		opts := Options{Wrote: func(path string, _ int) { wrote = append(wrote, path) }}
		if err := New("out", opts).Write(t.Context(), ents(refs...)); err != nil {
			t.Fatal(err)
		}
		return wrote
	}
	write("API:a", "Template:a")
	for _, f := range []string{"out/api.yaml", "out/template.yaml"} {
		if err := errors.Join(os.Chtimes(f, old, old), os.Chmod(f, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// The content has the same length, so that only the content differs.
	wrote := write("API:a", "Template:b")
	if diff := cmp.Diff([]string{"out/api.yaml", "out/template.yaml"}, wrote); diff != "" {
		t.Errorf("reported files, including unchanged ones (-want +got):\n%s", diff)
	}
	for f, touched := range map[string]bool{"out/api.yaml": false, "out/template.yaml": true} {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().Equal(old) == touched {
			t.Errorf("%s has time %v, want it rewritten: %v", f, info.ModTime(), touched)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want its previous mode", f, info.Mode())
		}
	}
	// Files that are no longer written are kept.
	write("System:x")
	if _, err := os.Stat("out/api.yaml"); err != nil {
		t.Errorf("file was removed: %v", err)
	}
}

// TestLinks checks that links in the directory are replaced, and that a link
// given as the output is followed.
func TestLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	err := errors.Join(
		os.WriteFile("mine", []byte("mine"), 0o644), os.Mkdir("out", 0o755), os.Mkdir("there", 0o755),
		os.Symlink("../mine", "out/api.yaml"), os.Symlink("there/all.yaml", "single"), os.WriteFile("there/all.yaml", nil, 0o644),
		os.Symlink("out", "out2"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := New("out2", Options{}).Write(t.Context(), ents("API:a")); err != nil {
		t.Fatal(err)
	}
	if err := New("single", Options{Layout: SingleFile}).Write(t.Context(), ents("API:a")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"mine": "mine", "out/": "", "out/api.yaml": "---\n" + text("API:a"), "out2": "L---------",
		"single": "L---------", "there/": "", "there/all.yaml": "---\n" + text("API:a"),
	}
	if diff := cmp.Diff(want, tree(t)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func BenchmarkWrite(b *testing.B) {
	var es []*entity.Entity
	for i := range 500 {
		es = append(es, ent("Template:t"+shortHash("", i)))
	}
	for b.Loop() {
		if err := New(b.TempDir(), Options{Layout: PerEntity}).Write(b.Context(), es); err != nil {
			b.Fatal(err)
		}
	}
}
