package corpus

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster"
	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
	tmpl "example.dev/ingestor/engine/folder"
	"example.dev/ingestor/entity"
	source "example.dev/ingestor/source/cluster"
	"example.dev/ingestor/template/builtin"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// TestSteps checks every step that the engine and the built-in templates make
// against the actions that run them. With plausible values, and with only the
// required ones, the input of each step must be complete, contain no unknown
// keys, and no undefined.
func TestSteps(t *testing.T) {
	t.Parallel()
	defs := definitions(t, documents(t, filepath.Join("..", "..", "examples")))
	if len(defs) < 10 {
		t.Fatalf("found %d example definitions, want at least 10", len(defs))
	}
	t.Run("Examples", func(t *testing.T) {
		t.Parallel()
		stepsOf(t, defs, 1)
	})
	t.Run("Corpus", func(t *testing.T) {
		t.Parallel()
		stepsOf(t, definitions(t, documents(t, folder(t, "xrds"))), 25)
	})
}

// stepsOf tests definitions in all variants, and every nth with the built-in
// templates.
func stepsOf(t *testing.T, defs []*xrd.Definition, nth int) {
	a := known(t)
	profiles := []engine.Profile{engine.CLI, engine.Concept, unlabelled(engine.ComposerIngestor), unlabelled(engine.ClusterIngestor)}
	upstream := words.Upstream
	options := []engine.Options{
		{DayTwo: true},
		{DayTwo: true, GitOps: true},
		{DayTwo: true, GitOps: true, Clusters: []string{"a", "b"}, Words: words.Choice{Fixed: &upstream}},
		{NoCompositionDetails: true, Clusters: []string{"a", "b"}},
	}
	for _, p := range profiles {
		for _, o := range options {
			a.all(t, engine.New(p, o, engine.Hooks{}), defs)
		}
	}
	var some []*xrd.Definition
	for i := 0; i < len(defs); i += nth {
		some = append(some, defs[i])
	}
	shipped, err := tmpl.Open(builtin.Files())
	if err != nil {
		t.Fatal(err)
	}
	plain := engine.New(engine.Concept, engine.Options{DayTwo: true}, engine.Hooks{})
	for _, portal := range shipped.In(tmpl.Portal) {
		for _, wizard := range shipped.In(tmpl.Wizard) {
			for _, steps := range shipped.In(tmpl.Steps) {
				over := fstest.MapFS{"metadata.yaml": {Data: fmt.Appendf(nil, chosen, portal.Name, wizard.Name, steps.Name)}}
				f, err := tmpl.Open(builtin.Files(), over)
				if err != nil {
					t.Fatal(err)
				}
				a.all(t, plain.Templated(f, engine.TemplateOptions{}), some)
			}
		}
	}
	for id := range a.inputs {
		if a.ran[id] == 0 && id == words.In(words.Action, id) && !strings.HasPrefix(id, "git:") {
			t.Errorf("no step uses %s", id)
		}
	}
	t.Logf("steps: %v", a.ran)
}

// actions has the input schemas of actions, by all their names.
type actions struct {
	inputs map[string]*jsonschema.Schema
	ran    map[string]int
}

// known returns the actions that generated steps may use.
func known(t *testing.T) *actions {
	t.Helper()
	a := &actions{inputs: map[string]*jsonschema.Schema{}, ran: map[string]int{}}
	for _, x := range slices.Concat(cluster.Actions(cluster.NewFleet(nil, source.Options{}), cluster.Options{}), publish.Actions(publish.Options{})) {
		for _, id := range append(slices.Clone(x.Aliases), x.ID) {
			a.inputs[id] = compiled(t, x)
		}
	}
	return a
}

// compiled returns the schema of an action's input, without additional keys.
func compiled(t *testing.T, x action.Action) *jsonschema.Schema {
	t.Helper()
	n := x.Input.Clone()
	n.Set("additionalProperties", tree.Boolean(false))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, n, "")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("input.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("input.json")
	if err != nil {
		t.Fatalf("%s: %v", x.ID, err)
	}
	return s
}

// all tests the Templates of definitions.
func (a *actions) all(t *testing.T, tr engine.Transformer, defs []*xrd.Definition) {
	t.Helper()
	for _, d := range defs {
		res, err := tr.Transform(engine.Input{Definition: d})
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		for _, e := range res.Entities {
			if e.Kind != entity.KindTemplate {
				continue
			}
			for _, delivery := range []string{"apply", "change-request"} {
				for _, more := range []bool{true, false} {
					a.try(t, d.Origin.File+" "+e.Metadata.Name, e.Spec, answers(e.Spec.Get("parameters"), delivery, more))
				}
			}
		}
	}
}

// try evaluates the steps of a Template like a task.
func (a *actions) try(t *testing.T, name string, spec, values *tree.Node) {
	t.Helper()
	scope := expression.Scope{"parameters": values, "steps": tree.Obj(), "user": tree.Obj(), "secrets": tree.Obj()}
	ran := 0
	for _, step := range spec.Get("steps").List() {
		if on := step.Get("if"); on != nil {
			if v, err := expression.Evaluate(on, scope, nil); err != nil || !v.IsTrue() {
				continue
			}
		}
		ran++
		id := step.Get("action").Str()
		schema := a.inputs[id]
		if schema == nil {
			t.Errorf("%s: action %q does not exist", name, id)
			continue
		}
		a.ran[words.In(words.Action, id)]++
		input, err := expression.Evaluate(step.Get("input"), scope, nil)
		if err != nil {
			t.Errorf("%s, step %s: %v", name, step.Get("id").Str(), err)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tree.AppendJSON(nil, input, "")))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s, step %s: %v\n%s", name, step.Get("id").Str(), err, tree.AppendYAML(nil, input))
		}
		checkInput(t, name, id, input)
	}
	if ran == 0 {
		t.Errorf("%s: no step runs with %s", name, tree.AppendJSON(nil, values, ""))
	}
}

// checkInput checks an input for invalid or missing values that its schema does
// not cover.
func checkInput(t *testing.T, name, id string, input *tree.Node) {
	t.Helper()
	text := string(tree.AppendJSON(nil, input, ""))
	if strings.Contains(text, "undefined") || strings.Contains(text, "${{") {
		t.Errorf("%s: input of %s is %s", name, id, text)
	}
	manifest := input
	if words.In(words.Action, id) != words.ActionDelete {
		manifest = input.Get("manifest")
		if manifest.Get("metadata", "name").Str() == "" {
			t.Errorf("%s: input of %s has no name: %s", name, id, text)
		}
	}
	if manifest.Get("apiVersion").Str() == "" || manifest.Get("kind").Str() == "" {
		t.Errorf("%s: input of %s has no kind: %s", name, id, text)
	}
	if words.In(words.Action, id) != words.ActionChangeRequest {
		return
	}
	for _, key := range []string{"host", "repository", "path", "branch", "title"} {
		if input.Get(key).Str() == "" {
			t.Errorf("%s: input of %s has no %s: %s", name, id, key, text)
		}
	}
}

// answers returns plausible values for pages: all fields, or only the required
// ones.
func answers(pages *tree.Node, delivery string, all bool) *tree.Node {
	out := tree.Obj()
	for _, page := range pages.List() {
		fillIn(out, page, all)
		if page.Get("properties").Has("delivery") {
			out.Set("delivery", tree.Str(delivery))
			for _, branch := range page.Get("dependencies", "delivery", "oneOf").List() {
				if slices.Contains(branch.Get("properties", "delivery", "enum").Strings(), delivery) {
					branch = branch.Clone()
					branch.Get("properties").Delete("delivery")
					fillIn(out, branch, all)
				}
			}
		}
	}
	return out
}

func fillIn(out, object *tree.Node, all bool) {
	required := object.Get("required").Strings()
	if object.Get("properties") == nil {
		return
	}
	for _, f := range object.Get("properties").Fields {
		if all || f.Value.Has("default") || slices.Contains(required, f.Key) {
			out.Set(f.Key, answer(f.Value, all))
		}
	}
}

// answer returns a plausible value.
func answer(s *tree.Node, all bool) *tree.Node {
	for _, key := range []string{"default", "const"} {
		if v := s.Get(key); v != nil {
			return v
		}
	}
	if enum := s.Get("enum").List(); len(enum) > 0 {
		return enum[0]
	}
	typ := s.Get("type").Str()
	if list := s.Get("type").Strings(); len(list) > 0 {
		typ = list[0]
	}
	switch typ {
	case "object":
		out := tree.Obj()
		fillIn(out, s, all)
		return out
	case "array":
		out := tree.Arr()
		if items := s.Get("items"); items.Len() > 0 {
			out.Items = append(out.Items, answer(items, all))
		}
		return out
	case "integer", "number":
		return tree.Number(3)
	case "boolean":
		return tree.Boolean(false)
	}
	return tree.Str("some-text")
}
