package structural

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitPath(t *testing.T) {
	object := map[string]any{"spec": map[string]any{
		"users":  []any{map[string]any{"name": "a"}},
		"labels": map[string]any{"a": "1", "a.b/c": "2", "x[0]": "3"},
	}}
	cases := map[string]struct {
		reason, path string
		want         []string
	}{
		"Empty":    {"The whole object has no steps.", "", nil},
		"Item":     {"An index is a step.", "spec.users[0].name", []string{"spec", "users", "0", "name"}},
		"Missing":  {"A field that does not exist is a step.", "spec.users[0].role.kind", []string{"spec", "users", "0", "role", "kind"}},
		"Beyond":   {"An index that does not exist is a step.", "spec.users[7].name", []string{"spec", "users", "7", "name"}},
		"Dotted":   {"The longest key counts.", "spec.labels.a.b/c", []string{"spec", "labels", "a.b/c"}},
		"Short":    {"A short key counts if the path ends there.", "spec.labels.a", []string{"spec", "labels", "a"}},
		"Bracket":  {"A key may be in brackets.", "spec.labels[a.b/c]", []string{"spec", "labels", "a.b/c"}},
		"Brackets": {"A key may contain brackets.", "spec.labels.x[0]", []string{"spec", "labels", "x[0]"}},
		"Open":     {"A bracket that is not closed ends the path.", "spec.users[0", []string{"spec", "users", "0"}},
		"Dots":     {"Empty steps do not loop.", "spec..", []string{"spec", "."}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, splitPath(object, tc.path)); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzSplitPath(f *testing.F) {
	f.Add("spec.users[0].name")
	f.Add("[[..]]")
	f.Fuzz(func(t *testing.T, path string) {
		if n := len(splitPath(map[string]any{"a": []any{"b"}, "": "c"}, path)); n > len(path)+1 {
			t.Errorf("%q has %d steps", path, n)
		}
	})
}
