package file

import (
	"errors"
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
