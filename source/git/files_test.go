package git

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/gitserver"
)

func TestFiles(t *testing.T) {
	r := newRepo(t)
	first := r.commit("master", map[string]string{"README.md": "one", "a/b/c.txt": "c", "a/.hidden": "h", "a/empty": ""})
	r.commit("feature/x", map[string]string{"README.md": "two"})
	r.point(plumbing.NewTagReferenceName("feature"), first)
	r.tag("v1", plumbing.CommitObject, first)
	over := gitserver.Serve(t, r.dir, nil)
	cases := map[string]struct{ reason, ref, page, at, readme, err string }{
		"Head":    {"The default is the HEAD of the repository.", "", "", ".", "one", ""},
		"Branch":  {"A branch is found.", "", "master", ".", "one", ""},
		"Path":    {"An address can have a branch and a path.", "", "master/a/b", "a/b", "one", ""},
		"Nested":  {"A branch with a slash is preferred to a tag without one.", "", "feature/x/a", "a", "two", ""},
		"Tag":     {"A tag is found.", "", "feature/y", "y", "one", ""},
		"Peeled":  {"An annotated tag is resolved.", "", "v1/a", "a", "one", ""},
		"Commit":  {"A commit is found.", "", first.String() + "/a", "a", "one", ""},
		"Ref":     {"The ref can be given separately.", "feature/x", "master/a", "master/a", "two", ""},
		"HEAD":    {"HEAD is a valid name.", "", "HEAD/a", "a", "one", ""},
		"Missing": {"A missing branch is reported.", "", "nope/a", "", "", `no branch, tag or commit "nope"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, from := range []string{r.dir, over} {
				files, at, err := New(from, Options{Ref: tc.ref}).Files(t.Context(), tc.page)
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) || hints(err) == "" {
						t.Errorf("%s\n%v", tc.reason, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				readme, err := fs.ReadFile(files, "README.md")
				if err != nil || string(readme) != tc.readme || at != tc.at {
					t.Errorf("%s\n%q at %q (%v), want %q at %q", tc.reason, readme, at, err, tc.readme, tc.at)
				}
			}
		})
	}
	t.Run("FS", func(t *testing.T) {
		files, _, err := New(over, Options{}).Files(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(files, "README.md", "a/b/c.txt", "a/.hidden", "a/empty"); err != nil {
			t.Error(err)
		}
	})
}

// TestFilesOdd checks entries that are not files, and names that no file can
// have.
func TestFilesOdd(t *testing.T) {
	r := newRepo(t)
	blob := r.put(plumbing.BlobObject, []byte("../../etc/passwd"))
	long := r.put(plumbing.BlobObject, []byte(strings.Repeat("x", maxLinkText+1)))
	r.commitTree("master", r.encode(&object.Tree{Entries: []object.TreeEntry{
		{Name: "..", Mode: filemode.Regular, Hash: blob},
		{Name: "endless", Mode: filemode.Symlink, Hash: long},
		{Name: "gone", Mode: filemode.Regular, Hash: plumbing.NewHash(strings.Repeat("2", 40))},
		{Name: "link", Mode: filemode.Symlink, Hash: blob},
		{Name: "module", Mode: filemode.Submodule, Hash: plumbing.NewHash(strings.Repeat("1", 40))},
		{Name: "run", Mode: filemode.Executable, Hash: blob},
	}}))
	files, _, err := New(r.dir, Options{}).Files(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, e.Name()+" "+e.Type().String())
	}
	want := []string{"endless L---------", "gone ----------", "link L---------", "module ?---------", "run ----------"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if to, err := fs.ReadLink(files, "link"); err != nil || to != "../../etc/passwd" {
		t.Errorf("link: %q, %v", to, err)
	}
	if info, err := fs.Lstat(files, "run"); err != nil || info.Mode() != 0o755 || info.Size() == 0 || !info.ModTime().Equal(who.When) {
		t.Errorf("run: %v, %v", info, err)
	}
	for _, name := range []string{"link", "module", "..", "gone", "nope", "run/x", "/run", "endless"} {
		if f, err := files.Open(name); err == nil {
			t.Errorf("%q was opened: %v", name, f)
		} else if name == "nope" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"run", "endless", "nope"} {
		if to, err := fs.ReadLink(files, name); err == nil {
			t.Errorf("%q is a link to %q", name, to)
		}
	}
}
