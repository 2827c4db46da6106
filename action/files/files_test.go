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

// shelf fetches from files in memory: an address is a path in them.
func shelf(all fs.FS) Fetcher {
	return FetcherFunc(func(_ context.Context, _, address string, _ secret.Text, _ May) (*Tree, error) {
		return &Tree{Files: all, Path: strings.TrimPrefix(address, "./"), Shown: address}, nil
	})
}

// files returns files with these contents; a name that ends in a star is one
// that can be run, and a content that begins with an arrow is a link.
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

// hold compares an error and its way out with what is wanted.
func hold(t *testing.T, reason string, err error, want, hint string) {
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
	from := shelf(files(map[string]string{
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
		t.Errorf("the skeleton is %q", got)
	}
	if got := Actions(Options{}); len(got) != 4 {
		t.Errorf("without a Fetcher there are %d actions", len(got))
	}
	for _, a := range Actions(Options{Fetcher: from}) {
		if !a.DryRun {
			t.Errorf("%s touches the workspace alone, and can be tried out", a.ID)
		}
	}
}

// TestPlainExact copies any bytes to any names, and wants the same bytes there.
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
		s := actiontest.New(t, Actions(Options{Fetcher: shelf(in)}))
		if _, err := s.Run(ActionFetch, "url: .\ntargetPath: to\n", nil); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Files()); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// taken reports whether a name is there, or is a folder, or lies in a file.
func taken(in fstest.MapFS, name string) bool {
	for n := range in {
		if n == name || strings.HasPrefix(n, name+"/") || strings.HasPrefix(name, n+"/") {
			return true
		}
	}
	return false
}

// TestLinks fetches folders with links in them.
func TestLinks(t *testing.T) {
	cases := map[string]struct {
		reason string
		from   map[string]string
		at     string
		want   map[string]string
		err    string
	}{
		"File":     {"a link is the file it leads to", map[string]string{"d/a*": "A", "d/b": "-> a"}, "d", map[string]string{"a*": "A", "b*": "A"}, ""},
		"Above":    {"which may be elsewhere in the same tree", map[string]string{"LICENSE": "L", "d/e/b": "-> ../../LICENSE"}, "d", map[string]string{"e/b": "L"}, ""},
		"Folder":   {"a folder likewise", map[string]string{"x/y/a": "A", "d/b": "-> ../x"}, "d", map[string]string{"b/y/a": "A"}, ""},
		"Chain":    {"through several links", map[string]string{"x/a": "A", "y": "-> x", "d/b": "-> ../y/a"}, "d", map[string]string{"b": "A"}, ""},
		"Asked":    {"the folder itself is a link", map[string]string{"x/a": "A", "d": "-> x"}, "d", map[string]string{"a": "A"}, ""},
		"Absolute": {"out by the root", map[string]string{"d/a": "A", "d/b": "-> /etc/passwd"}, "d", nil, `cannot fetch "b" of "d": it is a link that leads out of what was fetched`},
		"Dots":     {"out by dots", map[string]string{"d/b": "-> ../../etc/passwd"}, "d", nil, `cannot fetch "b" of "d": it is a link that leads out of what was fetched`},
		"Sly":      {"out through a link", map[string]string{"x/y/up": "-> ../..", "d/b": "-> ../x/y/up/../secret"}, "d", nil, `cannot fetch "b" of "d": it is a link that leads nowhere`},
		"Nowhere":  {"nothing is there", map[string]string{"d/b": "-> nope"}, "d", nil, `cannot fetch "b" of "d": it is a link that leads nowhere`},
		"Circle":   {"to each other", map[string]string{"d/a": "-> b", "d/b": "-> a"}, "d", nil, `cannot fetch "a" of "d": it is a link that leads in circles`},
		"Within":   {"to a folder it is in", map[string]string{"d/e/a": "-> ../../d"}, "d", nil, `cannot fetch "e/a" of "d": it is a link that leads in circles`},
		"Git":      {"what is Git's own stays there", map[string]string{".git/config": "s3cr3t", "d/a": "A", "d/.git/x": "x"}, "d", map[string]string{"a": "A"}, ""},
		"GitLink":  {"whoever points at it", map[string]string{".git/config": "s3cr3t", "d/b": "-> ../.git/config"}, "d", nil, `cannot fetch "b" of "d": it is a link that leads out of what was fetched`},
		"Missing":  {"nothing was asked for", map[string]string{"d/a": "A"}, "e", nil, `cannot fetch "e" of "e": there is no such file or folder`},
		"AFile":    {"a file is no folder", map[string]string{"d/a": "A"}, "d/a", nil, `cannot fetch "d/a": it is a file`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: shelf(files(tc.from))}))
			_, err := s.Run(ActionFetch, "url: "+tc.at, nil)
			hold(t, tc.reason, err, tc.err, "")
			if tc.want == nil {
				tc.want = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, s.Files()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLimits fetches more than is allowed.
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
		"Fits":   {"just enough", ActionFetch, many, 6, 60, ""},
		"Files":  {"too many files", ActionFetch, many, 5, 60, `cannot fetch "d": it holds more than 5 files`},
		"Bytes":  {"too many bytes", ActionFetch, many, 6, 59, `cannot fetch "xxxxxx" of "d": that is more than one step may fetch`},
		"Grown":  {"a template that grows", ActionTemplate, growing, 6, 199, `cannot fetch "a" of "d": that is more than one step may fetch`},
		"Growth": {"as far as it may", ActionTemplate, growing, 6, 200, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: shelf(tc.from), MaxFiles: tc.files, MaxBytes: tc.bytes}))
			_, err := s.Run(tc.id, "url: d", nil)
			hold(t, tc.reason, err, tc.err, "")
		})
	}
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("somebody stopped it"))
		s := actiontest.New(t, Actions(Options{Fetcher: shelf(many)}))
		err := s.Find(ActionFetch).Run(ctx, &action.Call{Input: tree.Obj(tree.F("url", tree.Str("d"))), Logf: t.Logf})
		if err == nil || !strings.Contains(err.Error(), "somebody stopped it") {
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
		"Plain":    {"as it is", ActionFetchFile, "url: ./d/a\ntargetPath: x/y.sh\n", map[string]string{"x/y.sh*": "${{ values.x }}"}, "", ""},
		"Link":     {"through a link", ActionFetchFile, "url: l\ntargetPath: x\n", map[string]string{"x*": "${{ values.x }}"}, "", ""},
		"Template": {"filled in", ActionTemplateFile, "url: d/a\ntargetPath: x\nvalues: {x: 1}\n", map[string]string{"x*": "1"}, "", ""},
		"Binary":   {"what is no text", ActionTemplateFile, "url: d/b\ntargetPath: x\n", map[string]string{"x": "b\x00"}, "", ""},
		"Kept":     {"one that is there stays", ActionTemplateFile, "url: d/a\ntargetPath: there\nvalues: {x: 1}\n", nil, "", ""},
		"Replaced": {"unless that is wanted", ActionTemplateFile, "url: d/a\ntargetPath: there\nreplace: true\nvalues: {x: 1}\n", map[string]string{"there*": "1"}, "", ""},
		"Folder":   {"a folder is no file", ActionFetchFile, "url: d\ntargetPath: x\n", nil, `cannot fetch "d": it is a folder`, ActionFetch},
		"Itself":   {"a file is no workspace", ActionFetchFile, "url: d/a\ntargetPath: ./\n", nil, "cannot write a file over the workspace", "targetPath"},
		"Out":      {"nothing leaves the workspace", ActionFetchFile, "url: d/a\ntargetPath: ../x\n", nil, `cannot use the path "../x": it leads out of the workspace`, "without .."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := actiontest.New(t, Actions(Options{Fetcher: shelf(from)}))
			s.Write(map[string]string{"there": "old"})
			_, err := s.Run(tc.id, tc.input, nil)
			hold(t, tc.reason, err, tc.err, tc.hint)
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

// TestHandedOn wants the Fetcher to be handed what it needs.
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
		t.Errorf("the token is told: %s", log)
	}
}

// TestWorkspaceLinks writes through links that are in the workspace already.
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
			s := actiontest.New(t, Actions(Options{Fetcher: shelf(files(map[string]string{"d/a": "A"}))}))
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
				t.Errorf("outside there is %v (%v)", left, err)
			}
			if _, err := os.Stat(outside); err != nil {
				t.Error(err)
			}
		})
	}
}
