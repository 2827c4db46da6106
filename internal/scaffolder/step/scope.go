package step

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/internal/text"
	"example.dev/ingestor/template/expression"
)

// Functions with which the if of a step queries the status of the task.
const (
	always  = "always"
	failing = "failure"
)

// knowing returns env with the functions that report the status of the task.
func knowing(env *expression.Env, failed bool) *expression.Env {
	c := *env
	c.Globals = maps.Clone(env.Globals)
	if c.Globals == nil {
		c.Globals = map[string]expression.Func{}
	}
	tell := func(b bool) expression.Func {
		return func([]*tree.Node) (*tree.Node, error) { return tree.Boolean(b), nil }
	}
	c.Globals[always], c.Globals[failing] = tell(true), tell(failed)
	return &c
}

// asks matches calls of these functions in an expression.
var asks = regexp.MustCompile(`\b(` + always + `|` + failing + `)\s*\(`)

// minds reports whether a condition queries the status: after a failure, only steps
// with such a condition run.
func minds(condition *tree.Node) bool { return asks.MatchString(condition.Str()) }

func (c *call) env() *expression.Env {
	if c.s.Failure != nil {
		return c.r.failed
	}
	return c.r.env
}

// scope returns the variables of expressions. Secrets are visible only to inputs: the
// results of other expressions are shown to users.
func (c *call) scope(secrets bool) expression.Scope {
	s := scope(c.t, c.s)
	if !secrets || c.t.DryRun {
		return s
	}
	s["secrets"] = tree.Obj()
	for _, name := range slices.Sorted(maps.Keys(c.t.Secrets)) {
		s["secrets"].Set(name, tree.Str(c.t.Secrets[name].Reveal()))
	}
	return s
}

func scope(t *Task, s *State) expression.Scope {
	steps := tree.Obj()
	for _, at := range t.Steps()[:s.Next] {
		id := at.Get("id").Scalar()
		if output := s.Outputs[id]; output != nil {
			steps.Set(id, tree.Obj(tree.F("output", output)))
		}
	}
	return expression.Scope{
		"parameters": t.Spec.Get("parameters"),
		"steps":      steps,
		"user":       t.Spec.Get("user"),
		"context":    tree.Obj(tree.F("task", tree.Obj(tree.F("id", tree.Str(t.ID))))),
	}
}

// wanted evaluates the if condition of a step.
func (c *call) wanted(scope expression.Scope) (bool, error) {
	v, err := expression.Evaluate(c.at.Get("if"), scope, c.env())
	if err != nil {
		return false, c.field("if", err)
	}
	return expression.Truthy(v), nil
}

// input evaluates the input of a step.
func (c *call) input(scope expression.Scope) (*tree.Node, error) {
	in, err := expression.Evaluate(c.at.Get("input"), scope, c.env())
	if err != nil {
		return nil, c.field("input", err)
	}
	if in.IsNull() {
		in = tree.Obj()
	}
	return in, nil
}

// announce logs the input with which an action is dry-run.
func (c *call) announce() error {
	scope := c.scope(false)
	scope["secrets"] = tree.Obj()
	for _, name := range slices.Sorted(maps.Keys(c.t.Secrets)) {
		scope["secrets"].Set(name, tree.Str("***"))
	}
	if each := c.at.Get("each"); !each.IsNull() {
		// The value of each item is logged when it is processed.
		scope["each"] = tree.Obj(tree.F("key", tree.Str("<key>")), tree.F("value", tree.Str("<value>")))
	}
	in, err := c.input(scope)
	if err != nil {
		return err
	}
	c.logf("Running %s in dry-run mode with inputs (secrets redacted): %s", c.action.ID, tree.AppendJSON(nil, in, "  "))
	return nil
}

// example returns an output that fits a schema, for the steps after one that was only
// dry-run.
func example(schema *tree.Node) *tree.Node {
	if schema == nil {
		return tree.Obj()
	}
	return sample(schema, 0)
}

func sample(schema *tree.Node, depth int) *tree.Node {
	const deepest = 20
	if examples := schema.Get("examples"); examples.IsList() && examples.Len() > 0 {
		return examples.Items[0]
	}
	if depth > deepest {
		return tree.Str("<unknown>")
	}
	switch schema.Get("type").Str() {
	case "object":
		out := tree.Obj()
		properties := schema.Get("properties")
		if properties.IsMap() {
			for _, f := range properties.Fields {
				out.Set(f.Key, sample(f.Value, depth+1))
			}
		}
		return out
	case "array":
		items := schema.Get("items")
		if items.IsList() && items.Len() > 0 {
			items = items.Items[0]
		}
		if !items.IsMap() {
			return tree.Arr()
		}
		return tree.Arr(sample(items, depth+1))
	case "string":
		return tree.Str("<example>")
	case "number", "integer":
		return tree.Number(0)
	case "boolean":
		return tree.Boolean(false)
	}
	return tree.Str("<unknown>")
}

// check validates an input against the schema of its action. Problems name the field
// but not its value, which may be a secret.
func check(name string, schema, input *tree.Node) error {
	if schema == nil {
		return nil
	}
	problems, err := validation.Check(schema, input, nil)
	if err != nil {
		return &wrong{"cannot validate the input of action " + name + ": " + err.Error()}
	}
	var all []string
	for _, p := range problems {
		field := strings.TrimPrefix(strings.TrimPrefix(p.Property, "instance"), ".")
		if field == "" {
			field = "input"
		}
		all = append(all, field+" "+p.Message)
	}
	if len(all) == 0 {
		return nil
	}
	return &wrong{"Invalid input passed to action " + name + ": " + strings.Join(all, ", ")}
}

// unknown returns messages about inputs that the schema of the action does not have:
// otherwise a typo would silently have no effect.
func unknown(a *action.Action, input *tree.Node) []string {
	properties := a.Input.Get("properties")
	if !properties.IsMap() || a.Input.Has("additionalProperties") || a.Input.Has("patternProperties") || !input.IsMap() {
		return nil
	}
	var lines []string
	for _, f := range input.Fields {
		if properties.Has(f.Key) {
			continue
		}
		line := "unknown input " + f.Key + " of " + a.ID
		for _, p := range properties.Fields {
			if text.Distance(strings.ToLower(f.Key), strings.ToLower(p.Key)) <= 2 {
				line += "; did you mean " + p.Key + "?"
				break
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// wrong is a mistake in the Template.
type wrong struct{ msg string }

func (e *wrong) Error() string { return e.msg }

// strange is the error for an action that does not exist.
type strange struct{ name, near string }

func (e *strange) Error() string { return "Template action with ID '" + e.name + "' is not registered" }

// field returns an error that names the field of the step whose expression is wrong.
func (c *call) field(name string, err error) error {
	e, ok := errors.AsType[*expression.Error](err)
	if !ok {
		return &action.Error{Err: &wrong{"cannot evaluate the " + name + " of step " + c.id + ": " + err.Error()}}
	}
	return &action.Error{Err: &wrong{"cannot read the " + name + " of step " + c.id + ": " + e.Error()}, Hint: e.Hint}
}

// failure converts an error to a Failure for clients.
func failure(err error) *Failure {
	f := &Failure{Name: "Error", Message: err.Error()}
	if e, ok := errors.AsType[*action.Error](err); ok {
		f.Hint = e.Hint
	}
	if _, ok := errors.AsType[*wrong](err); ok {
		f.Name = "InputError"
	}
	if e, ok := errors.AsType[*strange](err); ok {
		f.Name, f.Hint = "NotFoundError", e.near
	}
	return f
}

// near returns a hint with the actions whose names are similar to the missing one.
func (r *Runner) near(name string) string {
	const most = 3
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for other := range r.byName {
		far := text.Distance(strings.ToLower(name), strings.ToLower(other))
		if far <= max(2, len(name)/3) || last(other) == last(name) {
			found = append(found, candidate{other, far})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, f := range found[:min(most, len(found))] {
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return "see GET /api/scaffolder/v2/actions for the available actions"
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// last returns the part of a name after the last colon.
func last(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
