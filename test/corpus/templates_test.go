package corpus

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	tmpl "example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// chosen is a template folder on top of the built-in one that selects files of
// it, and sets all values that they use.
const chosen = `
defaults: {portal: %s, wizard: %s, steps: %s}
values:
  clusters: [staging, {name: eu-1, title: "Frankfurt: \"main\""}]
  gitops: {repository: github.com/acme/live, path: clusters/live, branch: main}
  links:
  - {url: "https://docs.example.com", title: Documentation}
`

// TestTemplates renders definitions with the built-in templates: all of them
// with the default files, which must give the same entities as the engine
// without templates, and every tenth with all combinations of the others. All
// entities must be valid by our rules and by the catalog's.
func TestTemplates(t *testing.T) {
	t.Parallel()
	defs := definitions(t, documents(t, folder(t, "xrds")))
	if len(defs) != wantDefinitions {
		t.Fatalf("found %d definitions, want %d; is this another corpus?", len(defs), wantDefinitions)
	}
	upstream := words.Upstream
	plain := engine.New(engine.Concept, engine.Options{Words: words.Choice{Fixed: &upstream}}, engine.Hooks{})
	shipped, err := tmpl.Open(builtin.Files())
	if err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer
	made := rendered(t, "default", plain.Templated(shipped, engine.TemplateOptions{}), defs)
	for i, own := range rendered(t, "without templates", plain, defs) {
		if diff := cmp.Diff(string(entity.YAMLDocuments(own)), string(entity.YAMLDocuments(made[i]))); diff != "" {
			t.Errorf("%s differs (-engine +default template):\n%s", defs[i].Name, first(diff, 20))
		}
	}
	bare := 0
	for _, es := range made {
		bare += 1 - lines(&out, es)
	}
	if bare > withoutTemplate {
		t.Errorf("%d definitions got no Template, want at most %d", bare, withoutTemplate)
	}

	var sample []*xrd.Definition
	for i := 0; i < len(defs); i += 10 {
		sample = append(sample, defs[i])
	}
	ways := 0
	for _, portal := range shipped.In(tmpl.Portal) {
		for _, wizard := range shipped.In(tmpl.Wizard) {
			for _, steps := range shipped.In(tmpl.Steps) {
				ways++
				way := fmt.Sprintf("%s, %s, %s", portal.Path, wizard.Path, steps.Path)
				over := fstest.MapFS{"metadata.yaml": {Data: fmt.Appendf(nil, chosen, portal.Name, wizard.Name, steps.Name)}}
				f, err := tmpl.Open(builtin.Files(), over)
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				for _, es := range rendered(t, way, plain.Templated(f, engine.TemplateOptions{}), sample) {
					lines(&out, es)
				}
			}
		}
	}
	if ways != 3*3*4 {
		t.Errorf("%d combinations of the built-in files, want 36", ways)
	}
	ask(t, oracle(t), fmt.Sprintf("%d definitions, and %d of them in %d ways", len(defs), len(sample), ways), out.String())
}

// definitions reads the definitions of files.
func definitions(t *testing.T, paths []string) []*xrd.Definition {
	t.Helper()
	var out []*xrd.Definition
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		err = xrd.Each(bytes.NewReader(data), xrd.Origin{Source: xrd.SourceFile, File: filepath.Base(path)}, func(f xrd.Found) bool {
			if f.Definition != nil {
				out = append(out, f.Definition)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// rendered returns the entities of each definition, and reports those that
// violate our rules.
func rendered(t *testing.T, way string, tr engine.Transformer, defs []*xrd.Definition) [][]*entity.Entity {
	t.Helper()
	out := make([][]*entity.Entity, len(defs))
	each(len(defs), func(i int) {
		res, err := tr.Transform(engine.Input{Definition: defs[i]})
		if err != nil {
			t.Errorf("%s: %s: %v", way, defs[i].Name, err)
			return
		}
		for _, f := range append(entity.CheckAll(res.Entities), res.Findings...) {
			if f.Severity == finding.Error {
				t.Errorf("%s: %s: %s [%s]", way, defs[i].Name, f.Message, f.Rule)
			}
		}
		out[i] = res.Entities
	})
	return out
}

// lines appends entities, one per line, and returns the number of Templates
// among them.
func lines(out *bytes.Buffer, es []*entity.Entity) (templates int) {
	for _, e := range es {
		out.Write(append(tree.AppendJSON(nil, e.Node(), ""), '\n'))
		if e.Kind == entity.KindTemplate {
			templates++
		}
	}
	return templates
}
