package engine_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/test/sample"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// open opens the built-in folder overlaid with others.
func open(tb testing.TB, over ...fs.FS) *folder.Folder {
	tb.Helper()
	f, err := folder.Open(append([]fs.FS{builtin.Files()}, over...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// files returns a folder of texts.
func files(pairs ...string) fs.FS {
	out := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// definitions reads all definitions below a folder, and returns its
// Compositions.
func definitions(tb testing.TB, dir string) ([]*xrd.Definition, []*xrd.Composition) {
	tb.Helper()
	var set xrd.Set
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return set.Read(bytes.NewReader(text), xrd.Origin{File: path})
	})
	if err != nil {
		tb.Fatal(err)
	}
	if len(set.Definitions) == 0 {
		tb.Fatalf("no definition in %s", dir)
	}
	return set.Definitions, set.Compositions
}

// everything returns all available definitions: the examples, the sample, and
// the corpus if it is configured.
func everything(tb testing.TB) []engine.Input {
	tb.Helper()
	var out []engine.Input
	add := func(dir string) {
		defs, comps := definitions(tb, dir)
		for _, d := range defs {
			out = append(out, engine.Input{Definition: d, Compositions: comps, Clusters: []string{"a"}})
		}
	}
	add(filepath.Join("..", "examples"))
	if corpus := os.Getenv("INGESTOR_CORPUS"); corpus != "" {
		add(filepath.Join(corpus, "xrds"))
	}
	return append(out, engine.Input{Definition: definition(tb, sample.Definition(0))})
}

// TestDefaultTemplate compares the built-in default with the entities of the
// engine, for all available definitions.
func TestDefaultTemplate(t *testing.T) {
	for _, opts := range []engine.Options{{}, {GitOps: true, Owner: "group:a/b", Namespace: "shop", Tags: []string{"x"}, NoAPI: true}} {
		e := engine.New(engine.Concept, opts, engine.Hooks{})
		templated := e.Templated(open(t), engine.TemplateOptions{})
		for _, in := range everything(t) {
			want, err := e.Transform(in)
			if err != nil {
				t.Fatal(err)
			}
			// The default applies, regardless of what a definition asks for.
			d := *in.Definition
			d.Annotations = nil
			for k, v := range in.Definition.Annotations {
				if k != words.AnnotationTemplate && k != words.AnnotationWizard && k != words.AnnotationSteps {
					annotate(&d, k, v)
				}
			}
			in.Definition = &d
			got, err := templated.Transform(in)
			if err != nil {
				t.Errorf("%s: %v", d.Label(), err)
				continue
			}
			if diff := cmp.Diff(yamls(want.Entities), yamls(got.Entities)); diff != "" {
				t.Errorf("%s: -engine +template\n%s", d.Label(), diff)
			}
			if diff := cmp.Diff(want.Findings, got.Findings); diff != "" {
				t.Errorf("%s: findings: -engine +template\n%s", d.Label(), diff)
			}
		}
	}
}

func annotate(d *xrd.Definition, key, value string) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[key] = value
}

func yamls(es []*entity.Entity) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = string(entity.AppendYAML(nil, e))
	}
	return out
}

// combinations calls try for each combination of built-in files.
func combinations(tb testing.TB, try func(name string, tr *engine.Templated)) {
	tb.Helper()
	f := open(tb)
	for _, p := range f.In(folder.Portal) {
		for _, w := range f.In(folder.Wizard) {
			for _, s := range f.In(folder.Steps) {
				over := files("metadata.yaml", "defaults: {portal: "+p.Name+", wizard: "+w.Name+", steps: "+s.Name+"}\n")
				values := map[string]any{
					"clusters": []any{"a", map[string]any{"name": "b", "title": "B: \"the\" second"}},
					"gitops":   map[string]any{"repository": "github.com/acme/live", "path": "clusters/live"},
					"links":    []any{map[string]any{"url": "https://docs.example.com", "title": "Docs"}},
				}
				e := engine.New(engine.Concept, engine.Options{}, engine.Hooks{})
				try(p.Name+"-"+w.Name+"-"+s.Name, e.Templated(open(tb, over), engine.TemplateOptions{Values: values}))
			}
		}
	}
}

// TestBuiltIn checks that every built-in file makes valid entities of every
// definition.
func TestBuiltIn(t *testing.T) {
	all := everything(t)
	combinations(t, func(name string, tr *engine.Templated) {
		for i, in := range all {
			if !strings.HasSuffix(name, "default-default") && i%25 != 0 {
				continue // Combinations of files are tried on some definitions only.
			}
			res, err := tr.Transform(in)
			if err != nil {
				t.Errorf("%s: %s: %v", name, in.Definition.Label(), err)
				continue
			}
			for _, f := range res.Findings {
				if f.Severity == finding.Error || strings.HasPrefix(f.Rule, "TPL") {
					t.Errorf("%s: %s: %s %s", name, in.Definition.Label(), f.Rule, f.Message)
				}
			}
			for _, e := range res.Entities {
				for _, f := range entity.Check(e) {
					t.Errorf("%s: %s: %s %s", name, in.Definition.Label(), f.Rule, f.Message)
				}
			}
		}
	})
}

// hostile are texts that break out of YAML which is concatenated by hand.
var hostile = []string{
	`"`, `'`, `a "b" 'c' \ d`, `\`, `\n`, "a: b", "a:\n  b: c", "x\nkind: Smuggled", "x\r\nkind: Smuggled", "\n", "# not a comment", "a # b",
	"${{ secrets.token }}", "<%= 1 %>", "<% throw 1 %>", "%>", "\ttab\t", "a\u2028b\u2029c\u0085d", " leading", "trailing ", "---", "--- a", "...", "- a", "? a", "* a", "& a", "! a",
	"yes", "no", "0x1", "1e3", "~", "null", "true", "12", "1.5", "2001-01-01", "{", "}", "[a]", "{a: b}", `{"a":1}`, "|", ">-", "@", "`", "%", "=", "<<", "\u0001\u007f", "\ufeff",
	"\uE0A00\uE0A1", "é\u00a0ü", "𝄞", strings.Repeat("long ", 2000), "\"\nspec: {}", "]}", "}]\"", `"]}`, "${", "$'", "$&", "`${1}`",
}

// TestHostileTemplates puts such texts into every text of a definition, and
// checks that each built-in file keeps them exactly.
func TestHostileTemplates(t *testing.T) {
	combinations(t, func(name string, tr *engine.Templated) {
		for i, text := range hostile {
			if !strings.HasSuffix(name, "default-default") && i%5 != 0 {
				continue
			}
			schema := object{
				"type": "object", "description": text, "required": []any{"size", text},
				"properties": object{
					"size": object{"type": "string", "title": text, "description": "Size. " + text, "enum": []any{text, "other"}, "default": text, "x-ui-placeholder": text},
					text:   object{"type": "string", "description": text},
				},
			}
			if strings.HasPrefix(name, "simple") {
				// Fields with a default are not required, and are left out there.
				delete(schema["properties"].(object)["size"].(object), "default")
			}
			d := define(t, words.Portal, annotated(words.AnnotationTitle, text), annotated(words.AnnotationDescription, text),
				annotated(words.AnnotationGitOpsRepo, "https://git.example.com/a/b"), annotated(words.AnnotationGitOpsPath, "c/d"),
				versions(version("v1", schemaOf(schema, "properties", "spec"))))
			in := engine.Input{Definition: d}
			want := engine.New(engine.Concept, engine.Options{}, engine.Hooks{})
			own, err := want.Transform(in)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tr.Transform(in)
			if err != nil {
				t.Errorf("%s: %q: %v", name, text, err)
				continue
			}
			tmpl, plain := res.Entities[0], own.Entities[0]
			if got, want := tmpl.Metadata.Title, plain.Metadata.Title; got != want {
				t.Errorf("%s: %q: title %q, want %q", name, text, got, want)
			}
			if got, want := tmpl.Metadata.Description, plain.Metadata.Description; got != want {
				t.Errorf("%s: %q: description %q, want %q", name, text, got, want)
			}
			if diff := cmp.Diff(page(plain, 1), page(tmpl, 1)); diff != "" {
				t.Errorf("%s: %q: page: -engine +template\n%s", name, text, diff)
			}
			if diff := cmp.Diff(plain.Spec.Get("steps").Items[0].Get("input", "manifest"), tmpl.Spec.Get("steps").Items[0].Get("input", "manifest")); diff != "" {
				t.Errorf("%s: %q: manifest: -engine +template\n%s", name, text, diff)
			}
			refusedNone(t, res.Entities)
		}
	})
}

// TestTemplateSpeaks checks that entities have the vocabulary of the
// definition.
func TestTemplateSpeaks(t *testing.T) {
	d := define(t, words.Upstream, annotated("portal.io/template", "simple"))
	res, err := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(t), engine.TemplateOptions{}).Transform(engine.Input{Definition: d})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Entities) != 1 {
		t.Fatalf("entities %q, want a Template alone", list(res.Entities))
	}
	e := res.Entities[0]
	if e.APIVersion != "scaffolder.backstage.io/v1beta3" || e.Spec.Get("steps").Items[0].Get("action").Str() != "kubernetes:apply" ||
		e.Metadata.Annotations["backstage.io/managed-by-location"] == "" || e.Metadata.Annotations["scaffolder.backstage.io/template-version"] == "" {
		t.Errorf("entity is not in the upstream vocabulary, or is incomplete:\n%s", entity.AppendYAML(nil, e))
	}
	if e.Metadata.Namespace != "default" {
		t.Errorf("namespace is %q, want the default", e.Metadata.Namespace)
	}
}

// BenchmarkDefaultTemplate transforms one definition with 61 leaf fields
// through the built-in default, including validation; the relevant figure is
// definitions per second of CPU time.
func BenchmarkDefaultTemplate(b *testing.B) {
	d := definition(b, sample.Definition(0))
	tr := engine.New(engine.Concept, engine.Options{}, engine.Hooks{}).Templated(open(b), engine.TemplateOptions{})
	b.ReportAllocs()
	before := cpuSeconds(b)
	for b.Loop() {
		res, err := tr.TransformContext(context.Background(), engine.Input{Definition: d})
		if err != nil || len(res.Entities) != 3 || len(res.Findings) > 0 {
			b.Fatalf("%d entities, findings %v, error %v", len(res.Entities), res.Findings, err)
		}
	}
	b.ReportMetric(float64(b.N)/(cpuSeconds(b)-before), "XRDs/cpu-s")
}
