package scaffolder

import (
	"slices"
	"strings"

	"example.dev/ingestor/action/publish"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/git/fetch"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/template/expression"
	"example.dev/ingestor/words"
)

// repositoriesOf returns the repositories that a Template itself names, as
// host/owner/name, and also as host/owner/name@branch if a step names the branch it
// writes to. Form fields count with their defaults: if a user enters another
// repository, that is the choice of the user, not of the Template.
func repositoriesOf(t *tree.Node, env *expression.Env) []string {
	given := tree.Obj()
	for _, page := range validation.Pages(t.Get("spec", "parameters")) {
		proposed(page, given, 0)
	}
	scope := expression.Scope{"parameters": given}
	var all []string
	if base := fetch.Repository(task.Base(t, false)); base != "" {
		all = append(all, base)
	}
	for _, step := range t.Get("spec", "steps").List() {
		input, err := expression.Evaluate(step.Get("input"), scope, env)
		if err != nil {
			continue
		}
		switch id := words.In(words.Action, step.Get("action").Str()); {
		case id == words.ActionChangeRequest, id == publish.ActionCommit:
			if name, branch, ok := publish.Target(input); ok {
				all = append(all, name)
				if branch != "" && id == publish.ActionCommit {
					all = append(all, name+"@"+branch)
				}
			}
		case strings.HasPrefix(id, "fetch:"):
			if name := fetch.Repository(input.Get("url").Str()); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// proposed adds the defaults of a schema's properties, including those under
// conditions.
func proposed(schema, to *tree.Node, depth int) {
	if !schema.IsMap() || depth > maxDepth {
		return
	}
	if properties := schema.Get("properties"); properties.IsMap() {
		for _, f := range properties.Fields {
			for _, key := range []string{"const", "default"} {
				if v := f.Value.Get(key); v != nil && !to.Has(f.Key) {
					to.Set(f.Key, v)
				}
			}
		}
	}
	for _, key := range []string{"then", "else"} {
		proposed(schema.Get(key), to, depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range schema.Get(key).List() {
			proposed(part, to, depth+1)
		}
	}
	if dependencies := schema.Get("dependencies"); dependencies.IsMap() {
		for _, f := range dependencies.Fields {
			proposed(f.Value, to, depth+1)
		}
	}
}
