package transform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/app"
)

// safe is a buffer that is safe for concurrent use.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// call is one run of the program.
type call struct {
	stdin  io.Reader
	stdout io.Writer
	stderr safe
}

func (c *call) run(ctx context.Context, args ...string) int {
	if c.stdin == nil {
		c.stdin = strings.NewReader("")
	}
	if c.stdout == nil {
		c.stdout = io.Discard
	}
	return app.Run(ctx, Name, &app.Env{
		Args: args, Stdin: c.stdin, Stdout: c.stdout, Stderr: &c.stderr,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Unix(0, 0) },
	}, Run)
}

// record returns an extract record of a small definition.
func record(name string) string {
	return fmt.Sprintf(`{"source":"file","timestamp":"2024-01-01T00:00:00Z","xrd":{"apiVersion":"apiextensions.crossplane.io/v2","kind":"CompositeResourceDefinition","metadata":{"name":"%s.example.org"},"spec":{"group":"example.org","names":{"kind":"A","plural":"%s"},"versions":[{"name":"v1","served":true,"referenceable":true,"schema":{"openAPIV3Schema":{"type":"object","description":"An a.","properties":{"spec":{"type":"object"}}}}}]}},"metadata":{"path":"%s.yaml"}}`+"\n", name, name, name)
}

// small is a short template.
const small = `apiVersion: portal.io/v1alpha1
kind: Resource
metadata:
  name: <%= helpers.quote(metadata.name) %>
spec: {type: small, owner: me}
`

// place writes a file.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHelp checks that every command has examples, and that every flag with few
// values completes them.
func TestHelp(t *testing.T) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }}, engine.Extension{})
	few := map[string]bool{"format": true, "output-format": true, "words": true, "on-error": true, "only": true}
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Long == "" || !regexp.MustCompile(`(?m)^  (.*\| )?`+cmd.CommandPath()+`( |$)`).MatchString(cmd.Example) {
			t.Errorf("%s has no help or no example", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, offers := cmd.GetFlagCompletionFunc(f.Name); offers != few[f.Name] {
				t.Errorf("%s --%s completes values: %v, want %v", cmd.CommandPath(), f.Name, offers, few[f.Name])
			}
		})
	}
}

// TestContract compares the flags with the table of the contract.
func TestContract(t *testing.T) {
	root := newCommand(&app.Env{Getenv: func(string) string { return "" }}, engine.Extension{})
	for _, name := range []string{"input", "templates", "template-dir", "output", "watch"} {
		if root.Flag(name) == nil {
			t.Errorf("--%s is missing", name)
		}
	}
	var names []string
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	if diff := cmp.Diff([]string{"debug", "init", "lint", "list", "test"}, names); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestParseSets(t *testing.T) {
	cases := map[string]struct {
		reason string
		sets   []string
		want   string
		fails  bool
	}{
		"None":     {reason: "Without flags there are no values.", want: `{}`},
		"Text":     {reason: "A text is a string.", sets: []string{"region=eu west"}, want: `{"region":"eu west"}`},
		"Empty":    {reason: "A missing value is an empty string.", sets: []string{"a="}, want: `{"a":""}`},
		"Typed":    {reason: "A YAML scalar has its type.", sets: []string{"n=3", "b=true", "f=1.5", `s="3"`}, want: `{"n":3,"b":true,"f":1.5,"s":"3"}`},
		"Flow":     {reason: "Lists and maps are written in brackets.", sets: []string{"l=[a, 1]", "m={a: b}"}, want: `{"l":["a",1],"m":{"a":"b"}}`},
		"Sentence": {reason: "A colon or a dash does not make a map or list of a sentence.", sets: []string{"a=note: this", "b=- no", "c=a=b"}, want: `{"a":"note: this","b":"- no","c":"a=b"}`},
		"NotYAML":  {reason: "A text that is not YAML is a string.", sets: []string{"a=[1", "b=@me", "c=%"}, want: `{"a":"[1","b":"@me","c":"%"}`},
		"Deep":     {reason: "Dots separate nested keys.", sets: []string{"git.host=h", "git.path=p", "git.host=i"}, want: `{"git":{"host":"i","path":"p"}}`},
		"Replaced": {reason: "A map replaces a string.", sets: []string{"a=1", "a.b=2"}, want: `{"a":{"b":2}}`},
		"NoValue":  {reason: "A key needs a value.", sets: []string{"a"}, fails: true},
		"NoKey":    {reason: "A value needs a key.", sets: []string{"=a"}, fails: true},
		"Gap":      {reason: "A key has no empty part.", sets: []string{"a..b=1"}, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseSets(tc.sets)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: error is %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, got, ""))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	values := func(text string) *tree.Node {
		docs, errs := parser.DecodeBytes([]byte(text))
		if len(docs) != 1 || len(errs) > 0 {
			t.Fatalf("%q has no valid document: %v", text, errs)
		}
		return docs[0]
	}
	got, err := tree.From(overlay(values(`{a: {b: 1, c: {d: 2}}, l: [1], x: 1}`), values(`{a: {c: {e: 3}}, l: [2], y: {z: 1}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":{"b":1,"c":{"d":2,"e":3}},"l":[2],"y":{"z":1}}`, string(tree.AppendJSON(nil, got, ""))); diff != "" {
		t.Errorf("merged values (-want +got):\n%s", diff)
	}
}

// TestValuesOf checks that the command line has precedence over the values of a
// test.
func TestValuesOf(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "a", testValues), "git: {host: h, path: p}\nother: 1\n")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // it is only read
	o := &testOptions{}
	if o.values, err = parseSets([]string{"git.host=own"}); err != nil {
		t.Fatal(err)
	}
	got, err := o.valuesOf(root, "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"git":{"host":"own","path":"p"},"other":1}`, string(tree.AppendJSON(nil, got, ""))); diff != "" {
		t.Errorf("merged values (-want +got):\n%s", diff)
	}
}

// TestLintBroken checks that a template that cannot be compiled is not rendered.
func TestLintBroken(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "portal", "broken.eta"), "<%= ( %>")
	c := &call{}
	if code := c.run(t.Context(), "lint", "--templates", dir); code != app.ExitInvalid {
		t.Errorf("exit code is %d", code)
	}
	// There are 3 portal files, 3 wizards, 4 steps and 6 samples.
	if want := "11 templates checked in 216 renders: 1 error, 0 warnings"; !strings.Contains(c.stderr.String(), want) {
		t.Errorf("standard error is %q, want %q", c.stderr.String(), want)
	}
}

// TestSamples checks that the samples are definitions with only the intended
// findings.
func TestSamples(t *testing.T) {
	var names []string
	for _, s := range samples() {
		names = append(names, s.name)
		if s.found.Definition == nil {
			t.Errorf("sample %q is not a definition: %+v", s.name, s.found.Finding)
		}
	}
	if diff := cmp.Diff([]string{"claim", "cluster", "hostile", "namespaced", "noschema", "many"}, names); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

// TestInterrupted checks that an interrupted stream ends with an error record.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, feed := io.Pipe()
	defer feed.Close() //nolint:errcheck // a pipe
	var out safe
	c := &call{stdin: in, stdout: &out}
	done := make(chan int)
	go func() { done <- c.run(ctx, "--format", "ndjson") }()
	if _, err := io.WriteString(feed, record("first")+record("second")); err != nil {
		t.Fatal(err)
	}
	// The first record is written before the next one arrives.
	await(t, "the first record", func() bool { return strings.Contains(out.String(), "first-example-org-xrd") })
	stop()
	select {
	case code := <-done:
		if code != app.ExitFailed {
			t.Errorf("exit code is %d, want %d", code, app.ExitFailed)
		}
	case <-time.After(time.Minute):
		t.Fatal("program did not stop")
	}
	if want := `{"error":{"message":"xrd-transform was interrupted"}}` + "\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("output ends with %q, want %q", out.String()[max(0, len(out.String())-100):], want)
	}
	if want := "xrd-transform: interrupted\n"; c.stderr.String() != want {
		t.Errorf("standard error is %q, want %q", c.stderr.String(), want)
	}
}

// await waits until a condition is true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

// TestFull checks that an output that cannot be written ends the run at once.
func TestFull(t *testing.T) {
	c := &call{stdin: strings.NewReader(record("as")), stdout: full{}}
	if code := c.run(t.Context(), "--quiet"); code != app.ExitFailed {
		t.Errorf("exit code is %d, want %d", code, app.ExitFailed)
	}
	if got, want := c.stderr.String(), "xrd-transform: cannot write entities: no room\n"; got != want {
		t.Errorf("standard error is %q, want %q", got, want)
	}
}
