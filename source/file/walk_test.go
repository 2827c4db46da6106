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

// walk says what a walk hands out, and what it could not.
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
	plant(t, "a.yaml", "b.txt", "d/a.yaml", "d/b.json", "d/c.md", "d/.h.yaml", "d/e/f.yml", "d/e/g.ndjson", "t/one/xrds/o.yaml", "t/two/xrds/p.yaml", "t/two/q.yaml",
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
		"Files":     {reason: "files in order, each once", paths: []string{"d", "a.yaml", "./a.yaml", "l.yaml"}, want: []string{"./a.yaml", "d/a.yaml", "d/b.json"}},
		"Missing":   {reason: "what cannot be read costs no other its place", paths: []string{"a.yaml", "gone", "d", "lost"}, want: []string{"a.yaml", "d/a.yaml", "d/b.json"}, errs: []string{`cannot read "gone": no such file or directory`, `cannot read "lost": no such file or directory`}},
		"Bad":       {reason: "a document that is none does not either", paths: []string{"bad.yaml", "a.yaml"}, want: []string{"a.yaml", "bad.yaml:2:1 XRD001", "bad.yaml"}},
		"Stop":      {reason: "no more than is wanted", paths: []string{"a.yaml", "d"}, stop: 1, want: []string{"a.yaml"}},
		"Star":      {reason: "a pattern stays in its folder", paths: []string{"d/*.yaml"}, opts: patterns, want: []string{"d/a.yaml"}},
		"AnyName":   {reason: "one that does not say how names end is as a folder", paths: []string{"d/*"}, opts: patterns, want: []string{"d/a.yaml", "d/b.json", "d/e/f.yml"}},
		"OtherName": {reason: "one that does is believed", paths: []string{"*.txt", "d/e/*.ndjson"}, opts: patterns, want: []string{"b.txt", "d/e/g.ndjson"}},
		"Deep":      {reason: "at any depth, not through links and dots", paths: []string{"**/*.yaml"}, opts: patterns, want: []string{"[x].yaml", "a.yaml", "bad.yaml:2:1 XRD001", "bad.yaml", "d/a.yaml", "dir.yaml/in.yaml", "t/one/xrds/o.yaml", "t/two/q.yaml", "t/two/xrds/p.yaml"}},
		"All":       {reason: "everything there is below", paths: []string{"d/**"}, opts: patterns, want: []string{"d/a.yaml", "d/b.json", "d/e/f.yml"}},
		"Folders":   {reason: "folders that match are read, links to them are the same", paths: []string{"t/*/xrds"}, opts: patterns, want: []string{"t/one/xrds/o.yaml", "t/three/xrds/p.yaml"}},
		"Exists":    {reason: "a file of that name goes before", paths: []string{"[x].yaml"}, opts: patterns, want: []string{"[x].yaml"}},
		"NoMatch":   {reason: "a pattern that chooses nothing is told", paths: []string{"q/*.yaml", "*.md", "a.yaml"}, opts: patterns, want: []string{"a.yaml"}, errs: []string{`cannot read "*.md": nothing matches the pattern`, `cannot read "q/*.yaml": nothing matches the pattern`}},
		"Broken":    {reason: "so is one that is none", paths: []string{"[a"}, opts: patterns, errs: []string{`cannot read "[a": a bracket is not closed, or nothing follows a backslash`}},
		"NoPattern": {reason: "nothing is a pattern unless that is asked for", paths: []string{"d/*.yaml"}, errs: []string{`cannot read "d/*.yaml": no such file or directory`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, errs := walk(t.Context(), New(tc.paths, tc.opts), tc.stop)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s: errors (-want +got):\n%s", tc.reason, diff)
			}
			// Whoever reads all at once reads the same.
			if tc.stop == 0 {
				set, err := New(tc.paths, tc.opts).Read(t.Context())
				want := len(tc.want)
				if n := len(set.Definitions) + len(set.Findings); n != want || (err != nil) != (tc.errs != nil) {
					t.Errorf("%s: Read has %d, error %v", tc.reason, n, err)
				}
			}
		})
	}
}

// TestWalkStdin reads standard input, whole, broken, and in small pieces.
func TestWalkStdin(t *testing.T) {
	text := definition("a") + "---\n" + definition("b")
	for reason, in := range map[string]io.Reader{"whole": strings.NewReader(text), "in pieces": iotest.OneByteReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text))} {
		if got, errs := walk(t.Context(), New([]string{Stdin}, Options{Stdin: in}), 0); len(got) != 2 || errs != nil {
			t.Errorf("%s: %v, %v", reason, got, errs)
		}
	}
	broken := io.MultiReader(strings.NewReader(text+"---\n"), iotest.ErrReader(errors.New("it is broken")))
	got, errs := walk(t.Context(), New([]string{Stdin}, Options{Stdin: broken}), 0)
	if diff := cmp.Diff([]string{`cannot read "<stdin>": it is broken`}, errs); diff != "" || len(got) != 2 {
		t.Errorf("%v, errors (-want +got):\n%s", got, diff)
	}
}

// TestWalkWaits wants a walk that waits for its input to end with its context.
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
		t.Fatal("it does not return")
	}
}
