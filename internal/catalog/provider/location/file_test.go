package location

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

func TestFiles(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		target string
		static bool
		want   []string
		// problems are the ends of the expected problems.
		problems []string
		failed   bool
	}{
		"Several": {
			reason: "A file can have several documents.",
			files:  map[string]string{"r/a.yaml": component("a") + component("b")}, target: "r/a.yaml",
			want: []string{"component:default/a", "component:default/b"},
		},
		"JSON": {
			reason: "JSON is accepted as YAML.",
			files:  map[string]string{"r/a.json": `{"apiVersion":"portal.io/v1alpha1","kind":"System","metadata":{"name":"s"},"spec":{"owner":"x"}}`},
			target: "r/a.json", want: []string{"system:default/s"},
		},
		"BadBetween": {
			reason: "An invalid document affects no other, and has its position.",
			files:  map[string]string{"r/a.yaml": component("a") + "kind: [\n---\n" + component("b.") + component("c")}, target: "r/a.yaml",
			want:     []string{"component:default/a", "component:default/c"},
			problems: []string{"/r/a.yaml:11:1)", "/r/a.yaml:15:9)"},
		},
		"Rules": {
			reason: "Kinds that are not allowed are refused.",
			files:  map[string]string{"r/a.yaml": strings.Replace(component("a"), "Component", "Resource", 1) + component("b")}, target: "r/a.yaml",
			want:     []string{"component:default/b"},
			problems: []string{"is not of an allowed kind for that location; to allow it, add Resource to catalog.rules (/r/a.yaml:1:1)"},
		},
		"Twice": {
			reason: "The first of two entities with one name counts.",
			files:  map[string]string{"r/a.yaml": component("a") + component("A")}, target: "r/a.yaml",
			want:     []string{"component:default/a"},
			problems: []string{"ConflictError: conflict: component:default/a is already defined at /r/a.yaml:1:1 (/r/a.yaml:10:1)"},
		},
		"Missing": {
			reason: "A missing file is reported as in Backstage.",
			files:  map[string]string{"r/a.yaml": ""}, target: "r/b.yaml", failed: true,
			problems: []string{"NotFoundError: file /r/b.yaml does not exist"},
		},
		"Empty": {
			reason: "An empty file has no entities and no problems.",
			files:  map[string]string{"r/a.yaml": "---\n"}, target: "r/a.yaml",
		},
		"Outside": {
			reason: "Only files below the configured folders are read.",
			files:  map[string]string{"r/a.yaml": "", "x/b.yaml": component("b")}, target: "x/b.yaml", failed: true,
			problems: []string{"NotAllowedError: Unable to read file, reading '/x/b.yaml' is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Dots": {
			reason: "Dots in a path do not escape.",
			files:  map[string]string{"r/a.yaml": "", "x/b.yaml": component("b")}, target: "r/../x/b.yaml", failed: true,
			problems: []string{"is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Beside": {
			reason: "A folder with the same prefix is another folder.",
			files:  map[string]string{"r/a.yaml": "", "rest/b.yaml": component("b")}, target: "rest/b.yaml", failed: true,
			problems: []string{"is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Static": {
			reason: "A configured location may be anywhere, with the files beside it.",
			files:  map[string]string{"x/all.yaml": leading("l", "./b.yaml"), "x/b.yaml": component("b")}, target: "x/all.yaml", static: true,
			want: []string{"location:default/l", "component:default/b of location:default/l"},
		},
		"StaticOut": {
			reason: "A configured location cannot refer to files elsewhere.",
			files:  map[string]string{"x/all.yaml": leading("l", "../y/b.yaml"), "y/b.yaml": component("b")}, target: "x/all.yaml", static: true,
			want:     []string{"location:default/l"},
			problems: []string{"reading '/y/b.yaml' is not allowed; add a folder above it to backend.reading.roots (/x/all.yaml:1:1)"},
		},
		"LinkOut": {
			reason: "A link cannot escape the folder.",
			files:  map[string]string{"r/a.yaml -> ../x/b.yaml": "", "x/b.yaml": component("b")}, target: "r/a.yaml", failed: true,
			problems: []string{"NotAllowedError: Unable to read file, /r/a.yaml is a link that escapes"},
		},
		"LinkedFolderOut": {
			reason: "A link to a folder cannot escape.",
			files:  map[string]string{"r/d -> ../x": "", "x/b.yaml": component("b")}, target: "r/d/b.yaml", failed: true,
			problems: []string{"is a link that escapes"},
		},
		"LinkIn": {
			reason: "A link inside the folder is followed, as for a mounted ConfigMap.",
			files:  map[string]string{"r/a.yaml -> ..data/a.yaml": "", "r/..data -> ..2024": "", "r/..2024/a.yaml": component("a")}, target: "r/a.yaml",
			want: []string{"component:default/a"},
		},
		"Folder": {
			reason: "A folder is not a file.",
			files:  map[string]string{"r/d/a.yaml": component("a")}, target: "r/d", failed: true,
			problems: []string{"is a folder, not a file; add a pattern such as /*.yaml"},
		},
		"Star": {
			reason: "A star matches part of a name, sorted, without hidden files.",
			files: map[string]string{
				"r/b.yaml": component("b"), "r/a.yaml": component("a"), "r/c.txt": component("c"),
				"r/.h.yaml": component("h"), "r/d/e.yaml": component("e"),
			},
			target: "r/*.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"StarFolder": {
			reason: "A star matches part of a folder name.",
			files:  map[string]string{"r/x/a.yaml": component("a"), "r/y/a.yaml": component("b"), "r/y/z/a.yaml": component("c")},
			target: "r/*/a.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"Stars": {
			reason: "Two stars match any number of folders, including none.",
			files: map[string]string{
				"r/a.yaml": component("a"), "r/x/y/b.yaml": component("b"), "r/.git/c.yaml": component("c"),
				"r/x/up -> ..": "", "r/x/b.txt": "kind: [",
			},
			target: "r/**/*.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"StarsLast": {
			reason: "Two stars at the end match everything below.",
			files:  map[string]string{"r/a.yaml": component("a"), "r/x/y/b": component("b")},
			target: "r/**", want: []string{"component:default/a", "component:default/b"},
		},
		"Class": {
			reason: "Character classes and question marks match one character.",
			files:  map[string]string{"r/a1.yaml": component("a"), "r/b1.yaml": component("b"), "r/c1.yaml": component("c")},
			target: "r/[ab]?.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"Literal": {
			reason: "A file with the name of a pattern is that file.",
			files:  map[string]string{"r/[a].yaml": component("x"), "r/a.yaml": component("a")},
			target: "r/[a].yaml", want: []string{"component:default/x"},
		},
		"NoMatch": {
			reason: "A pattern without matches is a problem.",
			files:  map[string]string{"r/a.txt": ""}, target: "r/*.yaml", failed: true,
			problems: []string{"NotFoundError: file /r/*.yaml does not exist"},
		},
		"BadPattern": {
			reason: "A malformed pattern is a problem.",
			files:  map[string]string{"r/a.txt": ""}, target: "r/[a.yaml", failed: true,
			problems: []string{"malformed pattern"},
		},
		"LinkMatched": {
			reason: "A link that escapes is no match.",
			files:  map[string]string{"r/a.yaml": component("a"), "r/b.yaml -> ../x/b.yaml": "", "x/b.yaml": component("b")},
			target: "r/*.yaml", want: []string{"component:default/a"},
		},
		"LinkedFolders": {
			reason: "A link to a folder that escapes and a path below a file are no matches.",
			files: map[string]string{
				"r/a/x.yaml": component("a"), "r/b -> ../x": "", "x/x.yaml": component("b"), "r/c": "no folder",
				"r/d -> gone": "", "r/e -> a": "", "r/f/g -> ../../x": "", "r/f/x.yaml": component("f"),
			},
			target: "r/*/x.yaml", want: []string{"component:default/a", "component:default/f"},
			problems: []string{"ConflictError: conflict: component:default/a is already defined at /r/a/x.yaml:1:1 (/r/e/x.yaml:1:1)"},
		},
		"Nested": {
			reason: "Locations are followed, patterns too, and each file is read once.",
			files: map[string]string{
				"r/all.yaml": leading("l", "./*.yaml", "sub/m.yaml"), "r/a.yaml": component("a"),
				"r/sub/m.yaml": leading("m", "b.yaml", "../a.yaml"), "r/sub/b.yaml": component("b"),
			},
			target: "r/all.yaml",
			want: []string{
				"location:default/l", "component:default/a of location:default/l",
				"location:default/m of location:default/l", "component:default/b of location:default/m",
			},
		},
		"Itself": {
			reason: "A location that refers to itself is reported once.",
			files:  map[string]string{"r/a.yaml": leading("l", "./a.yaml") + component("a")}, target: "r/a.yaml",
			want:     []string{"location:default/l", "component:default/a"},
			problems: []string{"Unable to follow file:/r/a.yaml, the location refers to itself (/r/a.yaml:1:1)"},
		},
		"Circle": {
			reason: "A location that refers to itself through another is reported once.",
			files:  map[string]string{"r/a.yaml": leading("l", "b.yaml"), "r/b.yaml": leading("m", "a.yaml")}, target: "r/a.yaml",
			want:     []string{"location:default/l", "location:default/m of location:default/l"},
			problems: []string{"Unable to follow file:/r/a.yaml, the location refers to itself (/r/b.yaml:1:1)"},
		},
		"Optional": {
			reason: "An optional target may be missing.",
			files: map[string]string{"r/a.yaml": "apiVersion: portal.io/v1alpha1\nkind: Location\nmetadata: {name: l}\n" +
				"spec: {target: ./none.yaml, presence: optional}\n"},
			target: "r/a.yaml", want: []string{"location:default/l"},
		},
		"OtherType": {
			reason: "Only the types file and url exist.",
			files: map[string]string{"r/a.yaml": "apiVersion: portal.io/v1alpha1\nkind: Location\nmetadata: {name: l}\n" +
				"spec: {type: ftp, target: x}\n"},
			target: "r/a.yaml", want: []string{"location:default/l"},
			problems: []string{`Unable to read locations of type "ftp": the types are file and url (/r/a.yaml:1:1)`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, tc.files)
			r := New(Options{Config: config.Reading{Roots: []string{dir + "/r"}}, Rules: everything})
			res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/" + tc.target, Static: tc.static})
			if (err != nil) != tc.failed {
				t.Errorf("%s\nerror is %v, want one: %v", tc.reason, err, tc.failed)
			}
			if diff := cmp.Diff(tc.want, names(res)); diff != "" {
				t.Errorf("%s\nentities (-want +got):\n%s", tc.reason, diff)
			}
			got := texts(res.Problems, dir)
			if len(got) != len(tc.problems) {
				t.Fatalf("%s\nproblems are %q, want %q", tc.reason, got, tc.problems)
			}
			for i, want := range tc.problems {
				if !strings.Contains(got[i], want) {
					t.Errorf("%s\nproblem is %q, want it to contain %q", tc.reason, got[i], want)
				}
			}
			if has := res.Documents[0].Node.Has("status") || slices.ContainsFunc(res.Documents, func(d Document) bool { return d.Node.Has("status") }); has != (len(got) > 0) {
				t.Errorf("%s\nLocation has a status: %v, want the opposite", tc.reason, has)
			}
		})
	}
}
