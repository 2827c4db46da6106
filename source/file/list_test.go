package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	createFiles(t, "d/a.yaml", "d/..one/b.yaml", "d/..data -> ..one", "d/b.yaml -> ..data/b.yaml", "d/deep/c.json", "d/note.txt",
		"d/out.yaml -> ../e/secret.yaml", "d/out -> ../e", "d/up -> ..", "d/here -> .", "e/secret.yaml", "l -> d")
	cases := map[string]struct {
		reason string
		paths  []string
		opts   Options
		want   []string
	}{
		"Plain":     {"Files lists what Read would read.", []string{"d"}, Options{}, []string{"d/a.yaml"}},
		"Recursive": {"Subdirectories are included if Recursive is set.", []string{"d"}, Options{Recursive: true}, []string{"d/a.yaml", "d/deep/c.json"}},
		"Links": {"Links can point anywhere if FollowSymlinks is set.", []string{"d"}, Options{Recursive: true, FollowSymlinks: true},
			[]string{"d/a.yaml", "d/b.yaml", "d/deep/c.json", "d/out/secret.yaml"}},
		"Within": {"Within excludes links out of a folder.", []string{"d"}, Options{Recursive: true, FollowSymlinks: true, Within: "d"},
			[]string{"d/a.yaml", "d/b.yaml", "d/deep/c.json"}},
		"WithinLink": {"Within can be a link.", []string{"l"}, Options{Recursive: true, FollowSymlinks: true, Within: "l"},
			[]string{"l/a.yaml", "l/b.yaml", "l/deep/c.json"}},
		"WithinNone": {"A missing Within excludes all links.", []string{"d"}, Options{FollowSymlinks: true, Within: "none"}, []string{"d/a.yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := New(tc.paths, tc.opts).Files(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s\n%v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
	got, err := New([]string{"d", "gone"}, Options{}).Files(t.Context())
	if e, ok := errors.AsType[*Error](err); !ok || e.Path != "gone" || len(got) != 1 {
		t.Errorf("want the files that were found together with the error: %v, %v", got, err)
	}
}

func TestWorkTree(t *testing.T) {
	createFiles(t, "t/.git/config.yaml", "t/a/a.yaml", "t/b/b.yaml", "t/.hidden/c.yaml", "t/a/b.yaml -> ../b/b.yaml", "t/a/c.yaml -> ../.hidden/c.yaml",
		"t/a/deep -> ../b/more", "t/b/more/d.yaml", "t/b/more/e.yaml -> ../../a/../../e/secret.yaml",
		"t/a/git.yaml -> ../.git/config.yaml", "t/a/gits -> ../.git", "t/a/none.yaml -> ../gone.yaml", "t/a/out.yaml -> ../../e/secret.yaml", "t/a/out -> ../../e",
		"t/a/back.yaml -> ../../t/b/b.yaml", "t/a/twice.yaml -> out.yaml", "t/a/loop.yaml -> loop.yaml", "m -> t",
		"e/secret.yaml", "d/a.yaml", "d/out.yaml -> ../e/secret.yaml")
	root, err := filepath.Abs("t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "b", "b.yaml"), filepath.Join("t", "a", "absolute.yaml")); err != nil {
		t.Fatal(err)
	}
	inTree := []string{"t/a/a.yaml", "t/a/b.yaml", "t/a/c.yaml", "t/a/deep/d.yaml"}
	cases := map[string]struct {
		reason string
		path   string
		opts   Options
		want   []string
	}{
		"Tree": {"In a work tree links are followed as Git would in a commit: relative ones inside, not to .git.", "t/a",
			Options{Recursive: true, WorkTree: root}, inTree},
		"TreeFlag":  {"FollowSymlinks does not change that.", "t/a", Options{Recursive: true, WorkTree: root, FollowSymlinks: true}, inTree},
		"TreeFlat":  {"A linked directory is a subdirectory.", "t/a", Options{WorkTree: root}, inTree[:3]},
		"TreeLink":  {"A work tree can be a link.", "m/a", Options{WorkTree: "m"}, []string{"m/a/a.yaml", "m/a/b.yaml", "m/a/c.yaml"}},
		"TreeOther": {"Links of another directory lead out of the work tree.", "d", Options{WorkTree: "t"}, []string{"d/a.yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := New([]string{tc.path}, tc.opts).Files(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s\n%v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}
