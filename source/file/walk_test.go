package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/xrd"
)

// walk returns what a walk yields, and its errors.
func walk(ctx context.Context, s *Source, stop int) (got []string, errs []string) {
	err := s.Walk(ctx, func(f xrd.Found) bool {
		switch {
		case f.Definition != nil:
			got = append(got, f.Definition.Origin.File)
		case f.Finding != nil:
			got = append(got, f.Finding.Where()+" "+f.Finding.Rule)
		}
		return len(got) != stop
	})
	if err != nil {
		errs = strings.Split(err.Error(), "\n")
	}
	return got, errs
}

func TestWalk(t *testing.T) {
	createFiles(t, "a.yaml", "b.txt", "d/a.yaml", "d/b.json", "d/c.md", "d/.h.yaml", "d/e/f.yml", "d/e/g.ndjson", "t/one/xrds/o.yaml", "t/two/xrds/p.yaml", "t/two/q.yaml",
		"l.yaml -> a.yaml", "t/three -> two", "[x].yaml", "dir.yaml/in.yaml", "void -> nowhere")
	if err := os.WriteFile("[x].yaml", []byte(definition("x")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bad.yaml", []byte("a: [\n---\n"+definition("x")), 0o600); err != nil {
		t.Fatal(err)
	}
	patterns := Options{Patterns: true}
	cases := map[string]struct {
		reason string
		paths  []string
		opts   Options
		stop   int
		want   []string
		errs   []string
	}{
		"Files":     {reason: "Files are walked in order, each once.", paths: []string{"d", "a.yaml", "./a.yaml", "l.yaml"}, want: []string{"./a.yaml", "d/a.yaml", "d/b.json"}},
		"Missing":   {reason: "A path that cannot be read does not affect the others.", paths: []string{"a.yaml", "gone", "d", "lost"}, want: []string{"a.yaml", "d/a.yaml", "d/b.json"}, errs: []string{`cannot read "gone": no such file or directory`, `cannot read "lost": no such file or directory`}},
		"Bad":       {reason: "A document that cannot be parsed does not affect the others.", paths: []string{"bad.yaml", "a.yaml"}, want: []string{"a.yaml", "bad.yaml:2:1 XRD001", "bad.yaml"}},
		"Stop":      {reason: "The walk ends when the callback stops it.", paths: []string{"a.yaml", "d"}, stop: 1, want: []string{"a.yaml"}},
		"Star":      {reason: "A star matches within one folder.", paths: []string{"d/*.yaml"}, opts: patterns, want: []string{"d/a.yaml"}},
		"AnyName":   {reason: "A pattern without an extension matches the files that a folder would.", paths: []string{"d/*"}, opts: patterns, want: []string{"d/a.yaml", "d/b.json", "d/e/f.yml"}},
		"OtherName": {reason: "A pattern with an extension matches all files that have it.", paths: []string{"*.txt", "d/e/*.ndjson"}, opts: patterns, want: []string{"b.txt", "d/e/g.ndjson"}},
		"Deep":      {reason: "Two stars match at any depth, except for links and hidden folders.", paths: []string{"**/*.yaml"}, opts: patterns, want: []string{"[x].yaml", "a.yaml", "bad.yaml:2:1 XRD001", "bad.yaml", "d/a.yaml", "dir.yaml/in.yaml", "t/one/xrds/o.yaml", "t/two/q.yaml", "t/two/xrds/p.yaml"}},
		"All":       {reason: "Two stars at the end match everything below.", paths: []string{"d/**"}, opts: patterns, want: []string{"d/a.yaml", "d/b.json", "d/e/f.yml"}},
		"Folders":   {reason: "Matching folders are read; links to them are not read twice.", paths: []string{"t/*/xrds"}, opts: patterns, want: []string{"t/one/xrds/o.yaml", "t/three/xrds/p.yaml"}},
		"Exists":    {reason: "An existing file with the name of a pattern is read.", paths: []string{"[x].yaml"}, opts: patterns, want: []string{"[x].yaml"}},
		"NoMatch":   {reason: "A pattern without matches is reported.", paths: []string{"q/*.yaml", "*.md", "a.yaml"}, opts: patterns, want: []string{"a.yaml"}, errs: []string{`cannot read "*.md": no file matches the pattern`, `cannot read "q/*.yaml": no file matches the pattern`}},
		"Broken":    {reason: "A pattern with a syntax error is reported.", paths: []string{"[a"}, opts: patterns, errs: []string{`cannot read "[a": unclosed bracket, or trailing backslash`}},
		"NoPattern": {reason: "Patterns are literal names by default.", paths: []string{"d/*.yaml"}, errs: []string{`cannot read "d/*.yaml": no such file or directory`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, errs := walk(t.Context(), New(tc.paths, tc.opts), tc.stop)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s\nerrors (-want +got):\n%s", tc.reason, diff)
			}
			// Reading everything at once gives the same result.
			if tc.stop == 0 {
				set, err := New(tc.paths, tc.opts).Read(t.Context())
				want := len(tc.want)
				if n := len(set.Definitions) + len(set.Findings); n != want || (err != nil) != (tc.errs != nil) {
					t.Errorf("%s\nRead returned %d, error %v", tc.reason, n, err)
				}
			}
		})
	}
}

// TestWalkStdin reads standard input: complete, broken, and in small pieces.
func TestWalkStdin(t *testing.T) {
	text := definition("a") + "---\n" + definition("b")
	for reason, in := range map[string]io.Reader{"whole": strings.NewReader(text), "in pieces": iotest.OneByteReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text))} {
		if got, errs := walk(t.Context(), New([]string{Stdin}, Options{Stdin: in}), 0); len(got) != 2 || errs != nil {
			t.Errorf("%s\n%v, %v", reason, got, errs)
		}
	}
	broken := io.MultiReader(strings.NewReader(text+"---\n"), iotest.ErrReader(errors.New("it is broken")))
	got, errs := walk(t.Context(), New([]string{Stdin}, Options{Stdin: broken}), 0)
	if diff := cmp.Diff([]string{`cannot read "<stdin>": it is broken`}, errs); diff != "" || len(got) != 2 {
		t.Errorf("%v, errors (-want +got):\n%s", got, diff)
	}
}

// TestWalkWaits checks that a walk that waits for its input ends with its
// context.
func TestWalkWaits(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // it cannot fail
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []string)
	go func() {
		_, errs := walk(ctx, New([]string{Stdin}, Options{Stdin: r}), 0)
		done <- errs
	}()
	if _, err := fmt.Fprint(w, definition("a")+"---\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case errs := <-done:
		if diff := cmp.Diff([]string{"cannot read all files: context canceled"}, errs); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("walk did not return")
	}
}
