package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/document/tree"
)

func TestTemplate(t *testing.T) {
	cases := map[string]struct {
		reason    string
		from      map[string]string
		input     string
		there     map[string]string
		want      map[string]string
		err, hint string
	}{
		"Contents":   {"Contents of files are rendered.", map[string]string{"a.txt": "Hi ${{ values.name }}, ${{ values.n + 1 }}!", "run.sh*": "echo ${{ values.name | upper }}"}, "values: {name: ann, n: 1}", nil, map[string]string{"a.txt": "Hi ann, 2!", "run.sh*": "echo ANN"}, "", ""},
		"Names":      {"Names of files are rendered.", map[string]string{"${{ values.name }}/${{ values.name }}.go": "x", "p/${{ values.pkg }}/a": "y"}, "values: {name: ann, pkg: com/x}", nil, map[string]string{"ann/ann.go": "x", "p/com/x/a": "y"}, "", ""},
		"Empty":      {"A file whose name renders empty is left out.", map[string]string{"${{ 'a' if values.on }}": "x", "${{ '' }}/b": "y", "c/${{ values.nope }}": "z", "d": "d"}, "values: {on: false}", nil, map[string]string{"d": "d"}, "", ""},
		"Only":       {"Expressions have access to values only.", map[string]string{"a": "[${{ parameters.x }}${{ values.x }}]"}, "{}", nil, map[string]string{"a": "[]"}, "", ""},
		"Binary":     {"Binary files are copied unchanged.", map[string]string{"a": "\x00${{ values.x }}", "b": "\xff${{ values.x }}", "${{ values.x }}": "\x00"}, "values: {x: n}", nil, map[string]string{"a": "\x00${{ values.x }}", "b": "\xff${{ values.x }}", "n": "\x00"}, "", ""},
		"AsIs":       {"copyWithoutTemplating copies contents and renders names.", map[string]string{"w/${{ values.x }}.yaml": "${{ github.x }}", "a.svg": "${{ (", "b/c.svg": "${{ (", "d": "${{ values.x }}"}, "values: {x: n}\ncopyWithoutTemplating: [w, '**/*.svg']\n", nil, map[string]string{"w/n.yaml": "${{ github.x }}", "a.svg": "${{ (", "b/c.svg": "${{ (", "d": "n"}, "", ""},
		"Except":     {"A negated pattern excludes files.", map[string]string{"w/a": "${{ values.x }}", "w/b": "${{ values.x }}"}, "values: {x: n}\ncopyWithoutTemplating: [w, '!w/b']\n", nil, map[string]string{"w/a": "${{ values.x }}", "w/b": "n"}, "", ""},
		"Untouched":  {"copyWithoutRender copies contents and names unchanged.", map[string]string{"w/${{ values.x }}": "${{ values.x }}", "d/${{ values.x }}": "${{ values.x }}"}, "values: {x: n}\ncopyWithoutRender: ['w/*']\n", nil, map[string]string{"w/${{ values.x }}": "${{ values.x }}", "d/n": "n"}, "", ""},
		"Extension":  {"Only files with the extension are rendered, and lose it.", map[string]string{"a.md.njk": "${{ values.x }}", "b.md": "${{ values.x }}", "${{ values.x }}.txt": "t"}, "values: {x: n}\ntemplateFileExtension: true\n", nil, map[string]string{"a.md": "n", "b.md": "${{ values.x }}", "n.txt": "t"}, "", ""},
		"Extension2": {"A custom template file extension is respected.", map[string]string{"a.md.tpl": "${{ values.x }}", "b.njk": "${{ values.x }}"}, "values: {x: n}\ntemplateFileExtension: tpl\n", nil, map[string]string{"a.md": "n", "b.njk": "${{ values.x }}"}, "", ""},
		"Kept":       {"An existing file is kept.", map[string]string{"a": "new", "b": "new"}, "{}", map[string]string{"a": "old"}, map[string]string{"a": "old", "b": "new"}, "", ""},
		"Replaced":   {"An existing file is replaced if replace is set.", map[string]string{"a": "new"}, "replace: true", map[string]string{"a": "older and longer"}, map[string]string{"a": "new"}, "", ""},
		"Target":     {"Files are written to the target folder.", map[string]string{"a": "x"}, "targetPath: ./b/c", nil, map[string]string{"b/c/a": "x"}, "", ""},
		"Trim":       {"Line breaks of statements are removed if trimBlocks is set.", map[string]string{"a": "x\n  {% if true %}\ny\n  {% endif %}\nz\n"}, "trimBlocks: true\nlstripBlocks: true\n", nil, map[string]string{"a": "x\ny\nz\n"}, "", ""},
		"NoTrim":     {"Line breaks of statements are kept by default.", map[string]string{"a": "x\n{% if true %}\ny\n{% endif %}\nz\n"}, "{}", nil, map[string]string{"a": "x\n\ny\n\nz\n"}, "", ""},
		"Types":      {"Values keep their types.", map[string]string{"a": "${{ values.l | join('-') }} ${{ values.o | dump }}"}, "values: {l: [1, 2], o: {b: true}}", nil, map[string]string{"a": `1-2 {"b":true}`}, "", ""},
		"Dots":       {"A rendered name with a path traversal is refused.", map[string]string{"${{ values.x }}": "x"}, "values: {x: ../../etc/x}", nil, nil, `cannot write "${{ values.x }}" as "../../etc/x": a part of the name is ".."`, "check the values"},
		"Within":     {"A path traversal within the workspace is refused too.", map[string]string{"a/${{ values.x }}": "x"}, "values: {x: ../b}", nil, nil, `cannot write "a/${{ values.x }}" as "a/../b": a part of the name is ".."`, ""},
		"Root":       {"A file whose rendered name has an empty first segment is left out.", map[string]string{"${{ values.x }}": "x"}, "values: {x: /etc/x}", nil, nil, "", ""},
		"Zero":       {"A rendered name with a NUL byte is refused.", map[string]string{"${{ values.x }}": "x"}, `values: {x: "a\0b"}`, nil, nil, `cannot use path "a\x00b": outside the workspace`, ""},
		"Broken":     {"An error has the file, the position and the expression.", map[string]string{"d/a.md": "one\ntwo ${{ values. }}\n"}, "{}", nil, nil, `d/a.md:2:17: cannot evaluate "values.": unexpected end of expression, expected a name`, ""},
		"Unknown":    {"An error has a hint.", map[string]string{"a": "${{ values.x | upperr }}"}, "{}", nil, nil, `a:1:16: cannot evaluate "values.x | upperr": unknown filter upperr`, "upper"},
		"NameBroken": {"A name with a syntax error is reported.", map[string]string{"${{ | }}": ""}, "{}", nil, nil, `the name of ${{ | }}:1:5: cannot evaluate "|": unexpected "|", expected a value`, ""},
		"Cookies":    {"Cookiecutter templates are not supported.", map[string]string{"a": ""}, "cookiecutterCompat: true", nil, nil, "cookiecutter templates are not supported", "${{ values.name }}"},
		"Both":       {"Only one of two names of the same option is accepted.", map[string]string{"a": ""}, "copyWithoutRender: [a]\ncopyWithoutTemplating: [b]\n", nil, nil, "copyWithoutRender and copyWithoutTemplating cannot be combined", "remove copyWithoutRender"},
		"Either":     {"Options that exclude each other are refused.", map[string]string{"a": ""}, "copyWithoutTemplating: [b]\ntemplateFileExtension: true\n", nil, nil, "templateFileExtension and copyWithoutTemplating cannot be combined", "remove the patterns"},
		"TargetOut":  {"A target outside of the workspace is refused.", map[string]string{"a": ""}, "targetPath: /tmp", nil, nil, `cannot use path "/tmp": outside the workspace`, "without .."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			from := map[string]string{}
			for k, v := range tc.from {
				from["skeleton/"+k] = v
			}
			s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(files(from))}))
			s.Write(tc.there)
			input := "url: ./skeleton\n"
			if tc.input != "{}" {
				input += tc.input + "\n"
			}
			_, err := s.Run(ActionTemplate, input, nil)
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzNames renders arbitrary names with arbitrary values, and checks that
// nothing is written outside of the target folder.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a", "../x", "/etc/x", "a/../../b", "..", ".", "", "a//b", "a\x00", `..\x`, "${{ values.x }}", "a/..", "...", " "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		from := fstest.MapFS{
			"d/${{ values.x }}/f":  {Data: []byte("in"), Mode: 0o644},
			"d/a${{ values.x }}":   {Data: []byte("in"), Mode: 0o644},
			"d/b/${{ values.x }}x": {Data: []byte("in"), Mode: 0o644},
		}
		top := t.TempDir()
		work := filepath.Join(top, "work")
		if err := os.Mkdir(work, 0o750); err != nil {
			t.Fatal(err)
		}
		w, err := action.OpenWorkspace(work)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close() //nolint:errcheck // nothing is lost
		s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(from)}))
		_ = s.Find(ActionTemplate).Run(t.Context(), &action.Call{
			Input: tree.Obj(tree.F("url", tree.Str("d")), tree.F("targetPath", tree.Str("to")), tree.F("values", tree.Obj(tree.F("x", tree.Str(value))))),
			Logf:  func(string, ...any) {}, Workspace: w,
		})
		for dir, only := range map[string]string{top: "work", work: "to"} {
			all, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				if e.Name() != only {
					t.Errorf("%q writes %q", value, strings.TrimPrefix(filepath.Join(dir, e.Name()), top))
				}
			}
		}
	})
}
