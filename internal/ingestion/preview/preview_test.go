package preview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

const someConfig = `
composerIngestor:
  defaultOwner: storage-team
  sources: [{name: files, type: file, path: .}]
  xrdFilters: {groups: [storage.example.org]}
`

// load reads a configuration.
func load(t testing.TB, text string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, findings := config.Load([]string{path}, config.Options{})
	if finding.Count(findings, finding.Error) > 0 {
		t.Fatalf("configuration of the test is invalid: %v", findings)
	}
	return c
}

// previewOf requests the preview of a text.
func previewOf(t *testing.T, p *Previewer, query, text string) (*Preview, error) {
	t.Helper()
	w := httptest.NewRecorder()
	if err := p.preview(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/preview?"+query, strings.NewReader(text))); err != nil {
		return nil, err
	}
	out := &Preview{}
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		t.Fatalf("cannot read %s: %v", w.Body, err)
	}
	return out, nil
}

// aBucket returns a definition with a name and group, and additional spec
// fields.
func aBucket(plural, group, label, schema string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.composer.io/v2
kind: CompositeResourceDefinition
metadata: {name: %[1]s.%[2]s, labels: {%[3]s}}
spec:
  group: %[2]s
  names: {kind: Bucket, plural: %[1]s}
  scope: Namespaced
  versions:
    - {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%[4]s}}}}}}
`, plural, group, label, schema)
}

const taken = `example.dev/ingest: "true"`

// previewSummary is a summary of a preview.
type previewSummary struct {
	Names, Kinds, Rules, Passed []string
	Refused                     string
	Loose                       []string
}

func summarizePreview(p *Preview) previewSummary {
	var out previewSummary
	for _, d := range p.Definitions {
		out.Names = append(out.Names, d.Name)
		out.Refused += d.Refused
		for _, e := range d.Entities {
			var head struct{ Kind string }
			_ = json.Unmarshal(e, &head)
			out.Kinds = append(out.Kinds, head.Kind)
		}
		for _, f := range d.Findings {
			if f.Severity == "error" {
				out.Rules = append(out.Rules, fmt.Sprintf("%s %d", f.Rule, f.Line))
			}
		}
	}
	for _, f := range p.Findings {
		out.Loose = append(out.Loose, fmt.Sprintf("%s %d:%d", f.Rule, f.Line, f.Column))
	}
	for _, x := range p.Passed {
		out.Passed = append(out.Passed, x.Kind)
	}
	slices.Sort(out.Rules)
	return out
}

func TestPreview(t *testing.T) {
	t.Parallel()
	p := New(load(t, someConfig), engine.Extension{})
	good := aBucket("buckets", "storage.example.org", taken, "size: {type: integer, description: How much.}")
	three := []string{"Template", "API", "Resource"}
	for name, tc := range map[string]struct {
		reason, query, text string
		want                previewSummary
	}{
		"Good":        {"The preview is what the service would write.", "", good, previewSummary{Names: []string{"buckets.storage.example.org"}, Kinds: three}},
		"Nothing":     {"An empty text has an empty preview.", "", "", previewSummary{}},
		"NotYAML":     {"A syntax error has its position for the editor.", "", "a: [1\nb: 2\n", previewSummary{Loose: []string{"XRD001 2:1"}}},
		"OtherKind":   {"An object that is not a definition is reported as skipped.", "", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", previewSummary{Passed: []string{"Secret"}}},
		"NotAnObject": {"A text that is not an object is a finding.", "", "just text", previewSummary{Loose: []string{"XRD002 1:1"}}},
		"OneIsBroken": {"A broken document does not hide a valid one.", "", good + "---\na: [1\n", previewSummary{Names: []string{"buckets.storage.example.org"}, Kinds: three, Loose: []string{"XRD001 11:1"}}},
		"NoLabel": {"A definition that is not selected has a preview with the reason.", "", aBucket("buckets", "storage.example.org", "", "size: {type: integer}"), previewSummary{
			Names: []string{"buckets.storage.example.org"}, Kinds: three, Refused: `label example.dev/ingest: "true" is missing`,
		}},
		"OtherGroup": {"A definition that the configuration filters out has a preview with the reason.", "", aBucket("buckets", "other.example.org", taken, "size: {type: integer}"), previewSummary{
			Names: []string{"buckets.other.example.org"}, Kinds: three, Refused: `group "other.example.org" is not "storage.example.org"`,
		}},
		"OtherProfile": {"The cli profile needs no label.", "profile=cli", aBucket("buckets", "other.example.org", "", "size: {type: integer}"), previewSummary{
			Names: []string{"buckets.other.example.org"}, Kinds: three,
		}},
		"JSON": {"JSON is accepted.", "", `{"apiVersion":"apiextensions.composer.io/v2","kind":"CompositeResourceDefinition","metadata":{"name":"x"}}`, previewSummary{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := previewOf(t, p, tc.query, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if name == "JSON" {
				// It has several findings.
				if len(got.Definitions) != 1 || len(got.Definitions[0].Findings) == 0 {
					t.Errorf("preview is %+v, want one definition with findings: %s", got, tc.reason)
				}
				return
			}
			if diff := cmp.Diff(tc.want, summarizePreview(got)); diff != "" {
				t.Errorf("%s: preview differs: %s", tc.reason, diff)
			}
		})
	}
}

// TestPreviewDetails checks that a preview uses the options of the configuration
// and the requested vocabulary, and has a command that is safe to copy.
func TestPreviewDetails(t *testing.T) {
	t.Parallel()
	p := New(load(t, someConfig), engine.Extension{})
	got, err := previewOf(t, p, "words=upstream", aBucket("buckets", "storage.example.org", taken, "size: {type: strin}"))
	if err != nil {
		t.Fatal(err)
	}
	d := got.Definitions[0]
	for _, want := range []string{"owner: storage-team", "backstage.io/", "file:definition.yaml"} {
		if !strings.Contains(d.YAML, want) {
			t.Errorf("entities lack %q:\n%s", want, d.YAML)
		}
	}
	if want := "ingestor-cli definition.yaml --config app-config.yaml --profile composerIngestor --words upstream --stdout"; d.Command != want {
		t.Errorf("command is %q, want %q", d.Command, want)
	}
	if !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Line == 9 && f.Column > 1 && f.Severity == "error" }) {
		t.Errorf("findings have no error at the wrong type: %+v", d.Findings)
	}
	two := aBucket("buckets", "storage.example.org", taken, "") + "---\n" +
		strings.Replace(aBucket("jars", "storage.example.org", taken, ""), "name: jars.storage.example.org", `name: "$(reboot)'; x"`, 1)
	if got, err = previewOf(t, p, "", two); err != nil || len(got.Definitions) != 2 {
		t.Fatalf("preview is %+v, %v; want two definitions", got, err)
	}
	for _, d := range got.Definitions {
		if strings.Contains(d.Command, "reboot") || strings.Contains(d.Command, ";") {
			t.Errorf("command contains words of the text: %s", d.Command)
		}
		if d.Name == "buckets.storage.example.org" && !strings.Contains(d.Command, `--name-pattern '^buckets\.storage\.example\.org$'`) {
			t.Errorf("command does not select its definition: %s", d.Command)
		}
	}
}

// TestPreviewOrder checks that the Template that creates something comes first,
// and that documents are in the same order as in all other outputs.
func TestPreviewOrder(t *testing.T) {
	t.Parallel()
	p := New(load(t, "composerIngestor: {generateDayTwoTemplates: true, sources: [{name: files, type: file, path: .}]}"), engine.Extension{})
	got, err := previewOf(t, p, "", aBucket("buckets", "storage.example.org", taken, ""))
	if err != nil {
		t.Fatal(err)
	}
	d := got.Definitions[0]
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^kind: Template\nmetadata:\n  name: (.*)$`).FindAllStringSubmatch(d.YAML, -1) {
		named = append(named, m[1])
	}
	if len(named) != 3 || !slices.IsSorted(named) {
		t.Errorf("documents have the Templates %q, want three sorted by name", named)
	}
	if first := string(d.Entities[0]); !strings.Contains(first, `template-purpose":"create"`) {
		t.Errorf("first Template creates nothing: %s", first)
	}
}

// TestPreviewExamples checks that all examples have a preview without errors.
func TestPreviewExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples were found: %v", err)
	}
	p := New(load(t, "composerIngestor: {sources: [{name: files, type: file, path: .}]}"), engine.Extension{})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := previewOf(t, p, "profile=cli", string(text))
		if err != nil {
			t.Fatalf("preview of %s returned the error %v", file, err)
		}
		if len(got.Definitions) == 0 || len(got.Definitions[0].Entities) == 0 {
			t.Errorf("preview of %s has no entities", file)
		}
	}
}

// TestPreviewBounds checks that requests above the limits are refused.
func TestPreviewBounds(t *testing.T) {
	t.Parallel()
	p := New(load(t, someConfig), engine.Extension{})
	var many strings.Builder
	for i := range mostDefinitions + 1 {
		many.WriteString("---\n" + aBucket(fmt.Sprintf("b%d", i), "storage.example.org", taken, ""))
	}
	for name, tc := range map[string]struct {
		reason, query, text string
		status              int
	}{
		"Profile":     {"An unknown profile is refused.", "profile=concept", "", http.StatusBadRequest},
		"Words":       {"An unknown vocabulary is refused.", "words=french", "", http.StatusBadRequest},
		"Definitions": {"The number of definitions is limited.", "", many.String(), http.StatusRequestEntityTooLarge},
		"Documents":   {"Empty documents count.", "", strings.Repeat("---\n", mostDocuments+1), http.StatusRequestEntityTooLarge},
		"Texts":       {"Skipped documents count.", "", strings.Repeat("--- a\n", mostDocuments+1), http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := previewOf(t, p, tc.query, tc.text)
			if f, ok := errors.AsType[*rest.Fault](err); !ok || f.Status != tc.status {
				t.Errorf("preview returned %v, want status %d: %s", err, tc.status, tc.reason)
			}
		})
	}
}

// hostile returns the most expensive texts.
func hostile() map[string]string {
	deep := strings.Repeat("a: {type: object, properties: {", 40) + strings.Repeat("}}", 40)
	var wide, versions strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&wide, "p%d: {type: string, pattern: '^(a+)+$'}, ", i)
	}
	for i := range 400 {
		fmt.Fprintf(&versions, "    - {name: v%d, served: true, referenceable: true, schema: *s}\n", i+2)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%[1]c: &%[1]c [*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c,*%[2]c]\n", c, c-1)
	}
	aliased := strings.Replace(aBucket("buckets", "storage.example.org", taken, strings.Join(strings.SplitAfter(wide.String(), ", p")[:50], "")+"q: {type: string}"), "schema: {", "schema: &s {", 1)
	return map[string]string{
		"Deep":     aBucket("buckets", "storage.example.org", taken, deep),
		"Wide":     aBucket("buckets", "storage.example.org", taken, wide.String()),
		"Bomb":     bomb,
		"Nested":   strings.Repeat("[", 500_000),
		"Empty":    strings.Repeat("---\n", mostBytes/4),
		"Comments": strings.Repeat("#\n", mostBytes/2),
		"Nulls":    strings.Repeat("--- !!null\n", mostBytes/11),
		"Versions": aliased + versions.String(),
		"Branches": aBucket("buckets", "storage.example.org", taken, "x: {"+strings.Repeat("oneOf: [{properties: {a: {", 20)+strings.Repeat("}}}]", 20)+"}"),
	}
}

// TestPreviewHostile checks that size and time of a response are bounded for any
// text.
func TestPreviewHostile(t *testing.T) {
	t.Parallel()
	for name, text := range hostile() {
		for _, query := range []string{"", "profile=clusterIngestor"} {
			t.Run(name+" "+query, func(t *testing.T) {
				p := New(load(t, someConfig), engine.Extension{})
				// The machine may be busy.
				p.limit = time.Minute
				if len(text) > mostBytes {
					t.Fatalf("text has %d bytes, want it below the limit", len(text))
				}
				got, err := previewOf(t, p, query, text)
				if f, ok := errors.AsType[*rest.Fault](err); err != nil && (!ok || f.Status != http.StatusRequestEntityTooLarge) {
					t.Fatal(err)
				}
				if got == nil {
					return
				}
				size := 0
				for _, d := range got.Definitions {
					size += len(d.YAML)
				}
				if size > mostAnswer {
					t.Errorf("response has %d bytes, want it below the limit", size)
				}
			})
		}
	}
}

// TestPreviewTurns checks that few previews are built concurrently, that the
// wait for a slot is short, and that a slot is held as long as its work runs.
func TestPreviewTurns(t *testing.T) {
	t.Parallel()
	p := New(load(t, someConfig), engine.Extension{})
	p.limit = 20 * time.Millisecond
	release, ended := make(chan struct{}), make(chan error, atOnce)
	for range atOnce {
		go func() {
			_, err := p.bounded(t.Context(), func(context.Context) (*Preview, error) {
				<-release
				return &Preview{}, nil
			})
			ended <- err
		}()
	}
	unavailable := func(err error, says string) {
		t.Helper()
		if f, ok := errors.AsType[*rest.Fault](err); !ok || f.Status != http.StatusServiceUnavailable || f.RetryAfter <= 0 || !strings.Contains(f.Message, says) {
			t.Errorf("preview returned %v, want 503 with %q", err, says)
		}
	}
	for range atOnce {
		unavailable(<-ended, "timed out after")
	}
	quick := func(context.Context) (*Preview, error) { return &Preview{}, nil }
	_, err := p.bounded(t.Context(), quick)
	unavailable(err, "Too many previews")
	close(release)
	for {
		// Slots are released soon.
		if _, err := p.bounded(t.Context(), quick); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("slot was not released")
		}
		time.Sleep(time.Millisecond)
	}
	p.limit = time.Minute
	if _, err := p.bounded(t.Context(), func(context.Context) (*Preview, error) { panic("no") }); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("panic was returned as %v", err)
	}
}

// FuzzPreview builds previews of any text: none may panic, and each finding is
// complete.
func FuzzPreview(f *testing.F) {
	f.Add([]byte(aBucket("buckets", "storage.example.org", taken, "size: {type: integer}")), "profile=cli")
	f.Add([]byte(`{"apiVersion":"apiextensions.composer.io/v1","kind":"CompositeResourceDefinition","spec":{"versions":[{"name":"v1","served":true,"schema":[]}]}}`), "")
	f.Add([]byte("apiVersion: apiextensions.composer.io/v1\nkind: Composition\nspec: {compositeTypeRef: {kind: Bucket}}\n---\n- &a [*a]"), "profile=clusterIngestor&words=upstream")
	p := &Previewer{config: load(f, someConfig)}
	f.Fuzz(func(t *testing.T, text []byte, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		how, err := p.how(q)
		if err != nil {
			return
		}
		// A separate goroutine would hide a panic.
		got, err := how.make(t.Context(), text)
		if err != nil {
			if _, ok := errors.AsType[*rest.Fault](err); !ok {
				t.Fatal(err)
			}
			return
		}
		all := got.Findings
		for _, d := range got.Definitions {
			all = append(all, d.Findings...)
			for _, e := range d.Entities {
				if !json.Valid(e) {
					t.Errorf("entity is not JSON: %s", e)
				}
			}
		}
		for _, x := range all {
			if x.Rule == "" || x.Message == "" || x.Severity == "" {
				t.Errorf("finding is incomplete: %+v", x)
			}
			if x.Rule == "ENG000" {
				t.Errorf("engine failed: %s", x.Message)
			}
		}
	})
}
