package files

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
)

// memoryFetcher returns a Fetcher for files in memory: a URL is a path in them.
func memoryFetcher(all fs.FS) Fetcher {
	return FetcherFunc(func(_ context.Context, _, address string, _ secret.Text, _ May) (*Tree, error) {
		return &Tree{Files: all, Path: strings.TrimPrefix(address, "./"), Shown: address}, nil
	})
}

// files returns files with these contents; a name with the suffix * is
// executable, and a content with the prefix -> is a link.
func files(all map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range all {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			f.Data, f.Mode = []byte(to), fs.ModeSymlink|0o777
		}
		if n, ok := strings.CutSuffix(name, "*"); ok {
			name, f.Mode = n, 0o755
		}
		m[name] = f
	}
	return m
}

// checkError compares an error and its hint with the expected ones.
func checkError(t *testing.T, reason string, err error, want, hint string) {
	t.Helper()
	got, out := "", ""
	if err != nil {
		got = err.Error()
	}
	if e, ok := errors.AsType[*action.Error](err); ok {
		out = e.Hint
	}
	if got != want || !strings.Contains(out, hint) {
		t.Errorf("%s: %q, %q\nwant %q, %q", reason, got, out, want, hint)
	}
}

func TestExamples(t *testing.T) {
	from := memoryFetcher(files(map[string]string{
		"skeleton/README.md": "# ${{ values.name }}\n", "skeleton/LICENSE": "free", "skeleton/.github/workflows/a.yaml": "${{ github.x }}",
		"https:/github.com/platform/templates/tree/main/pipelines/a.yaml": "a",
	}))
	s := actiontest.New(t, Actions(Options{Fetcher: FetcherFunc(func(ctx context.Context, base, address string, token secret.Text, may May) (*Tree, error) {
		tr, err := from.Fetch(ctx, base, address, token, may)
		tr.Path = strings.Replace(tr.Path, "://", ":/", 1)
		return tr, err
	})}))
	s.Write(map[string]string{"service.yaml": "s", "notes.md": "n", "README.md": "old", "drafts/a": "", "a/b.tmp": "", "docs/x/y.md": ""})
	s.Examples(func(a action.Action, in *tree.Node) {
		if _, err := s.Run(a.ID, string(tree.AppendYAML(nil, in)), nil); err != nil {
			t.Errorf("%s: %v", a.ID, err)
		}
	})
	if got := s.Files()["service/README.md"]; got != "# payments\n" {
		t.Errorf("skeleton is %q", got)
	}
	if got := Actions(Options{}); len(got) != 4 {
		t.Errorf("%d actions without a Fetcher", len(got))
	}
	for _, a := range Actions(Options{Fetcher: from}) {
		if !a.DryRun {
			t.Errorf("%s only changes the workspace, want it to support dry runs", a.ID)
		}
	}
}

// TestPlainExact checks that arbitrary bytes under arbitrary names are copied
// unchanged.
func TestPlainExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := map[string]string{}
		in := fstest.MapFS{}
		for range rapid.IntRange(0, 8).Draw(rt, "files") {
			name := rapid.StringMatching(`[a-c.]?[a-z ${}\\*]{1,5}(/[a-z]{1,3}){0,2}`).Draw(rt, "name")
			data := rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
			if !fs.ValidPath(name) || taken(in, name) {
				continue
			}
			f := &fstest.MapFile{Data: data, Mode: 0o644}
			key := name
			if rapid.Bool().Draw(rt, "runs") {
				f.Mode, key = 0o755, name+"*"
			}
			in[name], want["to/"+key] = f, string(data)
		}
		in["."] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(in)}))
		if _, err := s.Run(ActionFetch, "url: .\ntargetPath: to\n", nil); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Files()); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// taken reports whether a name exists, is a folder, or is below a file.
func taken(in fstest.MapFS, name string) bool {
	for n := range in {
		if n == name || strings.HasPrefix(n, name+"/") || strings.HasPrefix(name, n+"/") {
			return true
		}
	}
	return false
}

// TestLinks checks fetched folders that contain links.
func TestLinks(t *testing.T) {
	cases := map[string]struct {
		reason string
		from   map[string]string
		at     string
		want   map[string]string
		err    string
	}{
		"File":     {"A link is replaced by the file it points to.", map[string]string{"d/a*": "A", "d/b": "-> a"}, "d", map[string]string{"a*": "A", "b*": "A"}, ""},
		"Above":    {"A link to another folder of the same tree is followed.", map[string]string{"LICENSE": "L", "d/e/b": "-> ../../LICENSE"}, "d", map[string]string{"e/b": "L"}, ""},
		"Folder":   {"A link to a folder is followed.", map[string]string{"x/y/a": "A", "d/b": "-> ../x"}, "d", map[string]string{"b/y/a": "A"}, ""},
		"Chain":    {"A chain of links is followed.", map[string]string{"x/a": "A", "y": "-> x", "d/b": "-> ../y/a"}, "d", map[string]string{"b": "A"}, ""},
		"Asked":    {"The fetched folder can be a link.", map[string]string{"x/a": "A", "d": "-> x"}, "d", map[string]string{"a": "A"}, ""},
		"Absolute": {"An absolute link is refused.", map[string]string{"d/a": "A", "d/b": "-> /etc/passwd"}, "d", nil, `cannot fetch "b" of "d": link leads out of the fetched files`},
		"Dots":     {"A link with a path traversal is refused.", map[string]string{"d/b": "-> ../../etc/passwd"}, "d", nil, `cannot fetch "b" of "d": link leads out of the fetched files`},
		"Sly":      {"A path traversal through another link is refused.", map[string]string{"x/y/up": "-> ../..", "d/b": "-> ../x/y/up/../secret"}, "d", nil, `cannot fetch "b" of "d": broken link: target does not exist`},
		"Nowhere":  {"A broken link is refused.", map[string]string{"d/b": "-> nope"}, "d", nil, `cannot fetch "b" of "d": broken link: target does not exist`},
		"Circle":   {"A link cycle is refused.", map[string]string{"d/a": "-> b", "d/b": "-> a"}, "d", nil, `cannot fetch "a" of "d": link loop`},
		"Within":   {"A link to its parent folder is refused.", map[string]string{"d/e/a": "-> ../../d"}, "d", nil, `cannot fetch "e/a" of "d": link loop`},
		"Git":      {"A .git folder is not fetched.", map[string]string{".git/config": "s3cr3t", "d/a": "A", "d/.git/x": "x"}, "d", map[string]string{"a": "A"}, ""},
		"GitLink":  {"A link into .git is refused.", map[string]string{".git/config": "s3cr3t", "d/b": "-> ../.git/config"}, "d", nil, `cannot fetch "b" of "d": link leads out of the fetched files`},
		"Missing":  {"A missing folder is reported.", map[string]string{"d/a": "A"}, "e", nil, `cannot fetch "e" of "e": file or folder does not exist`},
		"AFile":    {"A file is not accepted as a folder.", map[string]string{"d/a": "A"}, "d/a", nil, `cannot fetch "d/a": is a file`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(files(tc.from))}))
			_, err := s.Run(ActionFetch, "url: "+tc.at, nil)
			checkError(t, tc.reason, err, tc.err, "")
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLimits checks the limits of a fetch.
func TestLimits(t *testing.T) {
	many := fstest.MapFS{}
	for i := range 6 {
		many["d/"+strings.Repeat("x", i+1)] = &fstest.MapFile{Data: bytes.Repeat([]byte("y"), 10), Mode: 0o644}
	}
	growing := files(map[string]string{"d/a": "{% for i in range(100) %}xx{% endfor %}"})
	cases := map[string]struct {
		reason, id string
		from       fs.FS
		files      int
		bytes      int64
		err        string
	}{
		"Fits":   {"A fetch at the limits is accepted.", ActionFetch, many, 6, 60, ""},
		"Files":  {"Too many files are refused.", ActionFetch, many, 5, 60, `cannot fetch "d": more than 5 files`},
		"Bytes":  {"Too many bytes are refused.", ActionFetch, many, 6, 59, `cannot fetch "xxxxxx" of "d": files exceed the size limit of a step`},
		"Grown":  {"A rendered template counts with its output size.", ActionTemplate, growing, 6, 199, `cannot fetch "a" of "d": files exceed the size limit of a step`},
		"Growth": {"A rendered template at the limit is accepted.", ActionTemplate, growing, 6, 200, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(tc.from), MaxFiles: tc.files, MaxBytes: tc.bytes}))
			_, err := s.Run(tc.id, "url: d", nil)
			checkError(t, tc.reason, err, tc.err, "")
		})
	}
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("task cancelled"))
		s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(many)}))
		err := s.Find(ActionFetch).Run(ctx, &action.Call{Input: tree.Obj(tree.F("url", tree.Str("d"))), Logf: t.Logf})
		if err == nil || !strings.Contains(err.Error(), "task cancelled") {
			t.Errorf("%v", err)
		}
	})
}

func TestFetchFile(t *testing.T) {
	from := files(map[string]string{"d/a*": "${{ values.x }}", "d/b": "b\x00", "l": "-> d/a"})
	cases := map[string]struct {
		reason, id, input string
		want              map[string]string
		err, hint         string
	}{
		"Plain":    {"A file is copied unchanged.", ActionFetchFile, "url: ./d/a\ntargetPath: x/y.sh\n", map[string]string{"x/y.sh*": "${{ values.x }}"}, "", ""},
		"Link":     {"A link is followed.", ActionFetchFile, "url: l\ntargetPath: x\n", map[string]string{"x*": "${{ values.x }}"}, "", ""},
		"Template": {"A template is rendered.", ActionTemplateFile, "url: d/a\ntargetPath: x\nvalues: {x: 1}\n", map[string]string{"x*": "1"}, "", ""},
		"Binary":   {"A binary file is not rendered.", ActionTemplateFile, "url: d/b\ntargetPath: x\n", map[string]string{"x": "b\x00"}, "", ""},
		"Kept":     {"An existing file is kept.", ActionTemplateFile, "url: d/a\ntargetPath: there\nvalues: {x: 1}\n", nil, "", ""},
		"Replaced": {"An existing file is replaced if replace is set.", ActionTemplateFile, "url: d/a\ntargetPath: there\nreplace: true\nvalues: {x: 1}\n", map[string]string{"there*": "1"}, "", ""},
		"Folder":   {"A folder is not accepted as a file.", ActionFetchFile, "url: d\ntargetPath: x\n", nil, `cannot fetch "d": is a folder`, ActionFetch},
		"Itself":   {"A file cannot replace the workspace.", ActionFetchFile, "url: d/a\ntargetPath: ./\n", nil, "cannot replace the workspace by a file", "targetPath"},
		"Out":      {"A path out of the workspace is refused.", ActionFetchFile, "url: d/a\ntargetPath: ../x\n", nil, `cannot use path "../x": outside the workspace`, "without .."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(from)}))
			s.Write(map[string]string{"there": "old"})
			_, err := s.Run(tc.id, tc.input, nil)
			checkError(t, tc.reason, err, tc.err, tc.hint)
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if _, ok := tc.want["there*"]; !ok {
				tc.want["there"] = "old"
			}
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHandedOn checks that the Fetcher gets its context and token.
func TestHandedOn(t *testing.T) {
	closed := 0
	from := FetcherFunc(func(_ context.Context, base, address string, token secret.Text, _ May) (*Tree, error) {
		if base != "https://host/template.yaml" || address != "./x" || token.Reveal() != "t0ken" {
			t.Errorf("%q %q %q", base, address, token.Reveal())
		}
		return &Tree{Files: files(map[string]string{"x/a": "A"}), Path: "x", Shown: "x", Close: func() error { closed++; return nil }}, nil
	})
	s := actiontest.New(t, Actions(Options{Fetcher: from}))
	if _, err := s.Run(ActionFetch, "url: ./x\ntoken: t0ken\n", func(c *action.Call) { c.Base = "https://host/template.yaml" }); err != nil || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
	if log := s.Log(); strings.Contains(log, "t0ken") {
		t.Errorf("token is in the log: %s", log)
	}
}

// TestWorkspaceLinks checks writes through existing links of the workspace.
func TestWorkspaceLinks(t *testing.T) {
	outside := t.TempDir()
	for name, run := range map[string][2]string{
		"Fetch":    {ActionFetch, "url: d\ntargetPath: out\n"},
		"Template": {ActionTemplate, "url: d\ntargetPath: out\n"},
		"Write":    {ActionWrite, "path: out/a\ncontent: x\n"},
		"Rename":   {ActionRename, "files: [{from: a, to: out/a}]"},
		"List":     {ActionList, "paths: [out]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: memoryFetcher(files(map[string]string{"d/a": "A"}))}))
			s.Write(map[string]string{"a": "x"})
			if err := os.Symlink(outside, filepath.Join(s.Dir, "out")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(run[0], run[1], nil); err == nil || strings.Contains(err.Error(), s.Dir) || strings.Contains(err.Error(), outside) {
				t.Errorf("%v", err)
			}
			if _, err := s.Run(ActionDelete, "files: [out/*, '**/x', 'o*']", nil); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("outside of the workspace there is %v (%v)", left, err)
			}
			if _, err := os.Stat(outside); err != nil {
				t.Error(err)
			}
		})
	}
}
