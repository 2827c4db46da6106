package publish

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
)

// TestCompare checks that a dry run returns the changes of files, over HTTP and
// in a local folder.
func TestCompare(t *testing.T) {
	old := strings.Replace(manifest, "size: 3", "size: 1", 1)
	for _, how := range []string{"http", "file"} {
		s := set(t, "", map[string]string{file: old})
		input := strings.Replace(propose, "acme/live", "acme/live.git", 1)
		if how == "file" {
			s.host = Host{URL: "file://" + filepath.ToSlash(filepath.Dir(filepath.Dir(s.dir)))}
		}
		for id, dry := range map[string]string{request: input, ActionCommit: input} {
			var got []action.Change
			c := s.call(dry)
			c.DryRun, c.Change = true, func(ch action.Change) { got = append(got, ch) }
			if r := s.run(id, c); r.err != nil {
				t.Fatalf("%s: %v\n%s", how, r.err, hint(r.err))
			}
			want := []action.Change{{Where: "main of acme/live.git", Name: file, Before: []byte(old), After: []byte(manifest)}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", how, id, diff)
			}
		}
		if b := s.branches(); len(b) != 1 {
			t.Errorf("%s: branches are %v", how, b)
		}
	}
}
