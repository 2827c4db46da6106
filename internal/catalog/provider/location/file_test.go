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
		// problems end so.
		problems []string
		failed   bool
	}{
		"Several": {
			reason: "a file has any number of documents",
			files:  map[string]string{"r/a.yaml": component("a") + component("b")}, target: "r/a.yaml",
			want: []string{"component:default/a", "component:default/b"},
		},
		"JSON": {
			reason: "JSON is YAML",
			files:  map[string]string{"r/a.json": `{"apiVersion":"portal.io/v1alpha1","kind":"System","metadata":{"name":"s"},"spec":{"owner":"x"}}`},
			target: "r/a.json", want: []string{"system:default/s"},
		},
		"BadBetween": {
			reason: "a bad document costs no other its place, and says where it is",
			files:  map[string]string{"r/a.yaml": component("a") + "kind: [\n---\n" + component("b.") + component("c")}, target: "r/a.yaml",
			want:     []string{"component:default/a", "component:default/c"},
			problems: []string{"/r/a.yaml:11:1)", "/r/a.yaml:15:9)"},
		},
		"Rules": {
			reason: "kinds that are not allowed do not come",
			files:  map[string]string{"r/a.yaml": strings.Replace(component("a"), "Component", "Resource", 1) + component("b")}, target: "r/a.yaml",
			want:     []string{"component:default/b"},
			problems: []string{"is not of an allowed kind for that location; add Resource to catalog.rules if it may come (/r/a.yaml:1:1)"},
		},
		"Twice": {
			reason: "of two with the same name the first stays",
			files:  map[string]string{"r/a.yaml": component("a") + component("A")}, target: "r/a.yaml",
			want:     []string{"component:default/a"},
			problems: []string{"ConflictError: conflict: component:default/a is at /r/a.yaml:1:1 already (/r/a.yaml:10:1)"},
		},
		"Missing": {
			reason: "a file that is not there is told in the words of the original",
			files:  map[string]string{"r/a.yaml": ""}, target: "r/b.yaml", failed: true,
			problems: []string{"NotFoundError: file /r/b.yaml does not exist"},
		},
		"Empty": {
			reason: "an empty file has no entities and nothing wrong",
			files:  map[string]string{"r/a.yaml": "---\n"}, target: "r/a.yaml",
		},
		"Outside": {
			reason: "only files below the folders are read",
			files:  map[string]string{"r/a.yaml": "", "x/b.yaml": component("b")}, target: "x/b.yaml", failed: true,
			problems: []string{"NotAllowedError: Unable to read file, reading '/x/b.yaml' is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Dots": {
			reason: "dots do not lead out",
			files:  map[string]string{"r/a.yaml": "", "x/b.yaml": component("b")}, target: "r/../x/b.yaml", failed: true,
			problems: []string{"is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Beside": {
			reason: "a folder whose name begins alike is another one",
			files:  map[string]string{"r/a.yaml": "", "rest/b.yaml": component("b")}, target: "rest/b.yaml", failed: true,
			problems: []string{"is not allowed; add a folder above it to backend.reading.roots"},
		},
		"Static": {
			reason: "what the operator wrote may lie anywhere, and its neighbours with it",
			files:  map[string]string{"x/all.yaml": leading("l", "./b.yaml"), "x/b.yaml": component("b")}, target: "x/all.yaml", static: true,
			want: []string{"location:default/l", "component:default/b of location:default/l"},
		},
		"StaticOut": {
			reason: "but what it names elsewhere may not",
			files:  map[string]string{"x/all.yaml": leading("l", "../y/b.yaml"), "y/b.yaml": component("b")}, target: "x/all.yaml", static: true,
			want:     []string{"location:default/l"},
			problems: []string{"reading '/y/b.yaml' is not allowed; add a folder above it to backend.reading.roots (/x/all.yaml:1:1)"},
		},
		"LinkOut": {
			reason: "no link leads out",
			files:  map[string]string{"r/a.yaml -> ../x/b.yaml": "", "x/b.yaml": component("b")}, target: "r/a.yaml", failed: true,
			problems: []string{"NotAllowedError: Unable to read file, /r/a.yaml is a link that leads out"},
		},
		"LinkedFolderOut": {
			reason: "nor one on the way",
			files:  map[string]string{"r/d -> ../x": "", "x/b.yaml": component("b")}, target: "r/d/b.yaml", failed: true,
			problems: []string{"is a link that leads out"},
		},
		"LinkIn": {
			reason: "a link inside is followed, as a mounted ConfigMap needs it",
			files:  map[string]string{"r/a.yaml -> ..data/a.yaml": "", "r/..data -> ..2024": "", "r/..2024/a.yaml": component("a")}, target: "r/a.yaml",
			want: []string{"component:default/a"},
		},
		"Folder": {
			reason: "a folder is no file",
			files:  map[string]string{"r/d/a.yaml": component("a")}, target: "r/d", failed: true,
			problems: []string{"it is a folder, not a file; add a pattern such as /*.yaml"},
		},
		"Star": {
			reason: "a star stands for part of a name, in order, without what is hidden",
			files: map[string]string{
				"r/b.yaml": component("b"), "r/a.yaml": component("a"), "r/c.txt": component("c"),
				"r/.h.yaml": component("h"), "r/d/e.yaml": component("e"),
			},
			target: "r/*.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"StarFolder": {
			reason: "and for part of a folder's",
			files:  map[string]string{"r/x/a.yaml": component("a"), "r/y/a.yaml": component("b"), "r/y/z/a.yaml": component("c")},
			target: "r/*/a.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"Stars": {
			reason: "two stars stand for any folders, none included",
			files: map[string]string{
				"r/a.yaml": component("a"), "r/x/y/b.yaml": component("b"), "r/.git/c.yaml": component("c"),
				"r/x/up -> ..": "", "r/x/b.txt": "kind: [",
			},
			target: "r/**/*.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"StarsLast": {
			reason: "two stars at the end are everything below",
			files:  map[string]string{"r/a.yaml": component("a"), "r/x/y/b": component("b")},
			target: "r/**", want: []string{"component:default/a", "component:default/b"},
		},
		"Class": {
			reason: "one of several, and one of any",
			files:  map[string]string{"r/a1.yaml": component("a"), "r/b1.yaml": component("b"), "r/c1.yaml": component("c")},
			target: "r/[ab]?.yaml", want: []string{"component:default/a", "component:default/b"},
		},
		"Literal": {
			reason: "a file that is called like a pattern is that file",
			files:  map[string]string{"r/[a].yaml": component("x"), "r/a.yaml": component("a")},
			target: "r/[a].yaml", want: []string{"component:default/x"},
		},
		"NoMatch": {
			reason: "a pattern without matches is a mistake",
			files:  map[string]string{"r/a.txt": ""}, target: "r/*.yaml", failed: true,
			problems: []string{"NotFoundError: file /r/*.yaml does not exist"},
		},
		"BadPattern": {
			reason: "a pattern may be wrong",
			files:  map[string]string{"r/a.txt": ""}, target: "r/[a.yaml", failed: true,
			problems: []string{"the pattern is not well formed"},
		},
		"LinkMatched": {
			reason: "a link out is no match",
			files:  map[string]string{"r/a.yaml": component("a"), "r/b.yaml -> ../x/b.yaml": "", "x/b.yaml": component("b")},
			target: "r/*.yaml", want: []string{"component:default/a"},
		},
		"LinkedFolders": {
			reason: "nor is what is behind a link out, nor what is below a file",
			files: map[string]string{
				"r/a/x.yaml": component("a"), "r/b -> ../x": "", "x/x.yaml": component("b"), "r/c": "no folder",
				"r/d -> gone": "", "r/e -> a": "", "r/f/g -> ../../x": "", "r/f/x.yaml": component("f"),
			},
			target: "r/*/x.yaml", want: []string{"component:default/a", "component:default/f"},
			problems: []string{"ConflictError: conflict: component:default/a is at /r/a/x.yaml:1:1 already (/r/e/x.yaml:1:1)"},
		},
		"Nested": {
			reason: "Locations are followed, patterns too, and each file is read once",
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
			reason: "a location that names itself is told of once",
			files:  map[string]string{"r/a.yaml": leading("l", "./a.yaml") + component("a")}, target: "r/a.yaml",
			want:     []string{"location:default/l", "component:default/a"},
			problems: []string{"Unable to follow file:/r/a.yaml, the location leads to itself (/r/a.yaml:1:1)"},
		},
		"Circle": {
			reason: "and one that does so by another",
			files:  map[string]string{"r/a.yaml": leading("l", "b.yaml"), "r/b.yaml": leading("m", "a.yaml")}, target: "r/a.yaml",
			want:     []string{"location:default/l", "location:default/m of location:default/l"},
			problems: []string{"Unable to follow file:/r/a.yaml, the location leads to itself (/r/b.yaml:1:1)"},
		},
		"Optional": {
			reason: "what need not be there may be missing",
			files: map[string]string{"r/a.yaml": "apiVersion: portal.io/v1alpha1\nkind: Location\nmetadata: {name: l}\n" +
				"spec: {target: ./none.yaml, presence: optional}\n"},
			target: "r/a.yaml", want: []string{"location:default/l"},
		},
		"OtherType": {
			reason: "there are two types",
			files: map[string]string{"r/a.yaml": "apiVersion: portal.io/v1alpha1\nkind: Location\nmetadata: {name: l}\n" +
				"spec: {type: ftp, target: x}\n"},
			target: "r/a.yaml", want: []string{"location:default/l"},
			problems: []string{`Unable to read locations of type "ftp": the types are file and url (/r/a.yaml:1:1)`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := plant(t, tc.files)
			r := New(Options{Config: config.Reading{Roots: []string{dir + "/r"}}, Rules: everything})
			res, err := r.Read(t.Context(), Target{Type: TypeFile, Target: dir + "/" + tc.target, Static: tc.static})
			if (err != nil) != tc.failed {
				t.Errorf("%s\nerror %v, want one: %v", tc.reason, err, tc.failed)
			}
			if diff := cmp.Diff(tc.want, names(res)); diff != "" {
				t.Errorf("%s\nfound (-want +got):\n%s", tc.reason, diff)
			}
			got := texts(res.Problems, dir)
			if len(got) != len(tc.problems) {
				t.Fatalf("%s\nproblems %q, want %q", tc.reason, got, tc.problems)
			}
			for i, want := range tc.problems {
				if !strings.Contains(got[i], want) {
					t.Errorf("%s\nproblem %q, want %q in it", tc.reason, got[i], want)
				}
			}
			if has := res.Documents[0].Node.Has("status") || slices.ContainsFunc(res.Documents, func(d Document) bool { return d.Node.Has("status") }); has != (len(got) > 0) {
				t.Errorf("%s\na Location has a status: %v, want the opposite", tc.reason, has)
			}
		})
	}
}
