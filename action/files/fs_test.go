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
		"Write":       {"folders are made", ActionWrite, "path: x/./y.txt\ncontent: hello\n", with(map[string]string{"x/y.txt": "hello"}), `{"path":"x/y.txt"}`, "", ""},
		"Run":         {"one that can be run", ActionWrite, "path: a.txt\ncontent: ''\nexecutable: true\n", with(map[string]string{"a.txt*": ""}, "a.txt"), `{"path":"a.txt"}`, "", ""},
		"WriteOut":    {"dots lead out", ActionWrite, "path: d/../../x\ncontent: x\n", with(nil), `{}`, `cannot use the path "d/../../x": it leads out of the workspace`, ""},
		"WriteRoot":   {"so does the root", ActionWrite, "path: /x\ncontent: x\n", with(nil), `{}`, `cannot use the path "/x": it leads out of the workspace`, ""},
		"WriteOver":   {"a folder is no file", ActionWrite, "path: d\ncontent: x\n", with(nil), `{}`, `cannot write "d": is a directory`, ""},
		"Delete":      {"by name", ActionDelete, "files: [./a.txt, d/e]", with(nil, "a.txt", "d/e/.f"), `{}`, "", ""},
		"Literal":     {"a name that looks like a pattern", ActionDelete, "files: ['g[1].txt']", with(nil, "g[1].txt"), `{}`, "", ""},
		"Stars":       {"by pattern, in one folder", ActionDelete, "files: ['*.txt']", map[string]string{"d/c.txt": "c", "d/e/.f": "f"}, `{}`, "", ""},
		"AllStars":    {"in all folders", ActionDelete, "files: ['**/*.txt']", map[string]string{"d/e/.f": "f"}, `{}`, "", ""},
		"All":         {"all of it", ActionDelete, "files: ['**']", map[string]string{}, `{}`, "", ""},
		"Dot":         {"all of it, but not the workspace itself", ActionDelete, "files: [.]", map[string]string{}, `{}`, "", ""},
		"Absent":      {"what is not there need not be deleted", ActionDelete, "files: [nope, 'no*pe']", with(nil), `{}`, "", ""},
		"DeleteOut":   {"nothing outside", ActionDelete, "files: ['../*']", with(nil), `{}`, `cannot use the path "../*": it leads out of the workspace`, "without .."},
		"LongPattern": {"a pattern is bounded", ActionDelete, "files: ['" + strings.Repeat("a*", 2049) + "']", with(nil), `{}`, `cannot read the pattern "a*a*a*a*a*a*a*a*a*a*"…: it has more than 4096 characters`, "write several"},
		"BadPattern":  {"a pattern that is none", ActionDelete, "files: ['a{b']", with(nil), `{}`, `cannot read the pattern "a{b": a brace is not closed`, "use *"},
		"Rename":      {"into a new folder", ActionRename, "files: [{from: a.txt, to: n/a.txt}, {from: d, to: n/d}]", map[string]string{"b.txt": "b", "n/d/c.txt": "c", "n/d/e/.f": "f", "n/a.txt": "a", "g[1].txt": "g"}, `{}`, "", ""},
		"Taken":       {"nothing is lost by it", ActionRename, "files: [{from: a.txt, to: b.txt}]", with(nil), `{}`, `cannot rename "a.txt" to "b.txt": there is one already`, ""},
		"Overwrite":   {"unless that is wanted", ActionRename, "files: [{from: a.txt, to: b.txt, overwrite: true}]", with(map[string]string{"b.txt": "a"}, "a.txt"), `{}`, "", ""},
		"RenameOut":   {"it stays inside", ActionRename, "files: [{from: a.txt, to: ../a.txt}]", with(nil), `{}`, `cannot use the path "../a.txt": it leads out of the workspace`, ""},
		"List":        {"one folder", ActionList, "paths: [d]", with(nil), `{"files":[{"name":"c.txt","path":"d/c.txt","fullPath":"d/c.txt"}],"folders":[{"name":"e","path":"d/e","fullPath":"d/e"}]}`, "", ""},
		"ListAll":     {"and those in it", ActionList, "paths: [d/e, d/e/]\nrecursive: true\n", with(nil), `{"files":[{"name":".f","path":"d/e/.f","fullPath":"d/e/.f"},{"name":".f","path":"d/e/.f","fullPath":"d/e/.f"}],"folders":[]}`, "", ""},
		"ListFile":    {"a file is no folder", ActionList, "paths: [a.txt]", with(nil), `{}`, `cannot list "a.txt": it is no folder`, "name the folder"},
		"ListNone":    {"nothing is there", ActionList, "paths: [nope]", with(nil), `{}`, `cannot read "nope": no such file or directory`, "check the path"},
		"ListOut":     {"nothing outside", ActionList, "paths: [d/../..]", with(nil), `{}`, `cannot use the path "d/../..": it leads out of the workspace`, "without .."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{}))
			s.Write(before)
			out, err := s.Run(tc.id, tc.input, nil)
			hold(t, tc.reason, err, tc.err, tc.hint)
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
		"Name":   {"a name, and what is in it", "a/b", []string{"a/b", "a/b/c/d"}, []string{"a", "a/bc", "x/a/b"}},
		"Star":   {"any characters of one name", "*.t?t", []string{"a.txt", ".txt", "b.tat/c"}, []string{"a/b.txt", "a.tt"}},
		"Deep":   {"any folders", "**/*.md", []string{"a.md", "a/b/c.md", ".x/a.md"}, []string{"a.mdx"}},
		"Below":  {"all below", "a/**", []string{"a/b", "a/b/c"}, []string{"a", "b/a/b"}},
		"Class":  {"one of several", "[a-c]x[!0-9]", []string{"axy", "cx-"}, []string{"dxy", "ax1", "ax/"}},
		"Braces": {"one of several texts", "a.{md,t{x,s}t}", []string{"a.md", "a.txt", "a.tst"}, []string{"a.", "a.tt"}},
		"Quoted": {"as it is written", `a\*+(b)`, []string{"a*+(b)"}, []string{"ab+(b)", "aab"}},
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
					t.Errorf("%s: %q does not choose %q", tc.reason, tc.pattern, n)
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
			t.Errorf("%q can be read", bad)
		}
	}
}

// FuzzPattern wants patterns to choose what they are, if they are plain, and
// never to leave the top.
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
				t.Errorf("%q does not choose itself (%v)", at, err)
			}
		}
	})
}
