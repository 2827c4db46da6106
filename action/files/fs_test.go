package files

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/document/tree"
)

func TestFS(t *testing.T) {
	before := map[string]string{"a.txt": "a", "b.txt": "b", "d/c.txt": "c", "d/e/.f": "f", "g[1].txt": "g"}
	with := func(more map[string]string, gone ...string) map[string]string {
		all := map[string]string{}
		for k, v := range before {
			all[k] = v
		}
		for k, v := range more {
			all[k] = v
		}
		for _, g := range gone {
			delete(all, g)
		}
		return all
	}
	cases := map[string]struct {
		reason, id, input string
		want              map[string]string
		out               string
		err, hint         string
	}{
		"Write":       {"Missing folders are created.", ActionWrite, "path: x/./y.txt\ncontent: hello\n", with(map[string]string{"x/y.txt": "hello"}), `{"path":"x/y.txt"}`, "", ""},
		"Run":         {"A file can be executable.", ActionWrite, "path: a.txt\ncontent: ''\nexecutable: true\n", with(map[string]string{"a.txt*": ""}, "a.txt"), `{"path":"a.txt"}`, "", ""},
		"WriteOut":    {"A path traversal is refused.", ActionWrite, "path: d/../../x\ncontent: x\n", with(nil), `{}`, `cannot use path "d/../../x": outside the workspace`, ""},
		"WriteRoot":   {"An absolute path is refused.", ActionWrite, "path: /x\ncontent: x\n", with(nil), `{}`, `cannot use path "/x": outside the workspace`, ""},
		"WriteOver":   {"A file cannot replace a folder.", ActionWrite, "path: d\ncontent: x\n", with(nil), `{}`, `cannot write "d": is a directory`, ""},
		"Delete":      {"Files are deleted by name.", ActionDelete, "files: [./a.txt, d/e]", with(nil, "a.txt", "d/e/.f"), `{}`, "", ""},
		"Literal":     {"A name with the characters of a pattern is taken literally if it exists.", ActionDelete, "files: ['g[1].txt']", with(nil, "g[1].txt"), `{}`, "", ""},
		"Stars":       {"A star matches within one folder.", ActionDelete, "files: ['*.txt']", map[string]string{"d/c.txt": "c", "d/e/.f": "f"}, `{}`, "", ""},
		"AllStars":    {"Two stars match all folders.", ActionDelete, "files: ['**/*.txt']", map[string]string{"d/e/.f": "f"}, `{}`, "", ""},
		"All":         {"Two stars delete everything.", ActionDelete, "files: ['**']", map[string]string{}, `{}`, "", ""},
		"Dot":         {"A dot deletes everything except for the workspace itself.", ActionDelete, "files: [.]", map[string]string{}, `{}`, "", ""},
		"Absent":      {"Deleting a missing file is no error.", ActionDelete, "files: [nope, 'no*pe']", with(nil), `{}`, "", ""},
		"DeleteOut":   {"A path out of the workspace is refused.", ActionDelete, "files: ['../*']", with(nil), `{}`, `cannot use path "../*": outside the workspace`, "without .."},
		"LongPattern": {"The length of a pattern is limited.", ActionDelete, "files: ['" + strings.Repeat("a*", 2049) + "']", with(nil), `{}`, `cannot read pattern "a*a*a*a*a*a*a*a*a*a*"…: more than 4096 characters`, "use several patterns"},
		"BadPattern":  {"A pattern with a syntax error is refused.", ActionDelete, "files: ['a{b']", with(nil), `{}`, `cannot read pattern "a{b": unclosed brace`, "use *"},
		"Rename":      {"A file can be moved to a new folder.", ActionRename, "files: [{from: a.txt, to: n/a.txt}, {from: d, to: n/d}]", map[string]string{"b.txt": "b", "n/d/c.txt": "c", "n/d/e/.f": "f", "n/a.txt": "a", "g[1].txt": "g"}, `{}`, "", ""},
		"Taken":       {"An existing file is not overwritten by default.", ActionRename, "files: [{from: a.txt, to: b.txt}]", with(nil), `{}`, `cannot rename "a.txt" to "b.txt": target already exists`, ""},
		"Overwrite":   {"An existing file is overwritten if overwrite is set.", ActionRename, "files: [{from: a.txt, to: b.txt, overwrite: true}]", with(map[string]string{"b.txt": "a"}, "a.txt"), `{}`, "", ""},
		"RenameOut":   {"A file cannot be moved out of the workspace.", ActionRename, "files: [{from: a.txt, to: ../a.txt}]", with(nil), `{}`, `cannot use path "../a.txt": outside the workspace`, ""},
		"List":        {"One folder is listed.", ActionList, "paths: [d]", with(nil), `{"files":[{"name":"c.txt","path":"d/c.txt","fullPath":"d/c.txt"}],"folders":[{"name":"e","path":"d/e","fullPath":"d/e"}]}`, "", ""},
		"ListAll":     {"Folders are listed recursively.", ActionList, "paths: [d/e, d/e/]\nrecursive: true\n", with(nil), `{"files":[{"name":".f","path":"d/e/.f","fullPath":"d/e/.f"},{"name":".f","path":"d/e/.f","fullPath":"d/e/.f"}],"folders":[]}`, "", ""},
		"ListFile":    {"A file cannot be listed.", ActionList, "paths: [a.txt]", with(nil), `{}`, `cannot list "a.txt": not a folder`, "set the folder"},
		"ListNone":    {"A missing folder is an error.", ActionList, "paths: [nope]", with(nil), `{}`, `cannot read "nope": no such file or directory`, "check the path"},
		"ListOut":     {"A folder outside of the workspace is refused.", ActionList, "paths: [d/../..]", with(nil), `{}`, `cannot use path "d/../..": outside the workspace`, "without .."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{}))
			s.Write(before)
			out, err := s.Run(tc.id, tc.input, nil)
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.out, string(tree.AppendJSON(nil, out, ""))); diff != "" {
				t.Errorf("%s: output (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	cases := map[string]struct {
		reason, pattern string
		yes, no         []string
	}{
		"Name":   {"A name matches itself and everything below it.", "a/b", []string{"a/b", "a/b/c/d"}, []string{"a", "a/bc", "x/a/b"}},
		"Star":   {"A star matches within one path segment.", "*.t?t", []string{"a.txt", ".txt", "b.tat/c"}, []string{"a/b.txt", "a.tt"}},
		"Deep":   {"Two stars match any folders.", "**/*.md", []string{"a.md", "a/b/c.md", ".x/a.md"}, []string{"a.mdx"}},
		"Below":  {"Two stars at the end match everything below.", "a/**", []string{"a/b", "a/b/c"}, []string{"a", "b/a/b"}},
		"Class":  {"A class matches one of several characters.", "[a-c]x[!0-9]", []string{"axy", "cx-"}, []string{"dxy", "ax1", "ax/"}},
		"Braces": {"Braces match one of several texts.", "a.{md,t{x,s}t}", []string{"a.md", "a.txt", "a.tst"}, []string{"a.", "a.tt"}},
		"Quoted": {"An escaped character matches itself.", `a\*+(b)`, []string{"a*+(b)"}, []string{"ab+(b)", "aab"}},
		"Slash":  {"a folder", "./a/", []string{"a", "a/b"}, []string{"ab"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := parsePattern(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range tc.yes {
				if !p.matches(n) {
					t.Errorf("%s: %q does not match %q", tc.reason, tc.pattern, n)
				}
			}
			for _, n := range tc.no {
				if p.matches(n) {
					t.Errorf("%s: %q chooses %q", tc.reason, tc.pattern, n)
				}
			}
		})
	}
	for _, bad := range []string{"a[", "a[]", "a[!]", "{a", "[z-a]"} {
		if _, err := parsePattern(bad); err == nil {
			t.Errorf("pattern %q was accepted", bad)
		}
	}
}

// FuzzPattern checks that a plain pattern matches itself, and that no pattern
// matches outside of the root.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a/*.txt", "**", "{a,b}/[!c]?", `\*`, "[]", "a{b", "["} {
		f.Add(s, "a/b.txt")
	}
	plain := regexp.MustCompile(`^[a-z0-9./ +()^$|-]+$`)
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := parsePattern(text)
		if err != nil {
			return
		}
		p.matches(name)
		if at, err := local(text); err == nil && plain.MatchString(text) && !strings.HasPrefix(at, "./") {
			if q, err := parsePattern(at); err != nil || !q.matches(at) {
				t.Errorf("%q does not match itself (%v)", at, err)
			}
		}
	})
}
