// Package validation validates form values against the schemas of the pages of the
// form, and reports problems in the same format as Backstage's scaffolder
// ("upstream"), whose clients find the field in it.
//
// It has its own interpreter because the exact response is the contract, not only
// whether values are valid: which problems, in which order, with which messages (is
// not exactly one from "Small",[subschema 1]) and with which part of the schema. A
// validator that follows the JSON Schema drafts finds other problems in another order,
// and also accepts other values: upstream supports the keywords up to draft 7, treats
// an unknown type as matched, and supports required: true.
//
// # Differences from upstream
//
//	upstream                                   here
//	an invalid schema, or a $ref to nothing    a Problem that says so: such a form cannot be
//	or to itself, is an error 500              filled in, and its author can be told
//	numbers above 2^53 are rounded before      they are compared, and written, unchanged
//	they are compared
//	extends (draft 3) merges schemas           a schema with it is invalid
//	the argument of allOf has a third entry,   it has id and length
//	valid, with all problems once more
//	schema and instance are in every Problem   they are omitted from the later ones when
//	                                           there are so many that the response gets large
//	an empty list and an empty map are equal   they differ
//	in enum, const and uniqueItems
//	two schemas with one id are an error       the first one wins
//	properties named as methods of objects     they are properties like others
//	(toString) are treated as present
//	a pattern may run forever                  it is stopped, which is a Problem
//	a schema may take forever                  the form is refused, see Budget
//
// It is one package because the keywords of a JSON Schema contain each other.
package validation

import (
	"encoding/json"

	"example.dev/ingestor/document/tree"
)

// Problem is a value that does not match its schema.
type Problem struct {
	// Path leads to the value: strings for keys, ints for list indexes.
	Path []any `json:"path"`
	// Property is Path as a string: instance.nodes[0].name.
	Property string `json:"property"`
	Message  string `json:"message"`
	// Schema is the violated part of the schema, or its id if it has one.
	Schema *tree.Node `json:"schema,omitempty"`
	// Instance is the value; nil if it is missing.
	Instance *tree.Node `json:"instance,omitempty"`
	// Name is the violated keyword, Argument its value.
	Name     string     `json:"name"`
	Argument *tree.Node `json:"argument,omitempty"`
	// Stack is Property and Message.
	Stack string `json:"stack"`
}

// MarshalJSON writes p with its keys in the order of upstream.
func (p Problem) MarshalJSON() ([]byte, error) {
	path := tree.Arr()
	for _, step := range p.Path {
		n, err := tree.From(step)
		if err != nil {
			return nil, err
		}
		path.Items = append(path.Items, n)
	}
	return tree.AppendJSON(nil, tree.Obj(
		tree.F("path", path),
		tree.F("property", tree.Str(p.Property)),
		tree.F("message", tree.Str(p.Message)),
		tree.F("schema", p.Schema),
		tree.F("instance", p.Instance),
		tree.F("name", tree.Str(p.Name)),
		tree.F("argument", p.Argument),
		tree.F("stack", tree.Str(p.Stack)),
	), ""), nil
}

var _ json.Marshaler = Problem{}

// Pages returns the pages of a form: parameters is a single page or a list.
func Pages(parameters *tree.Node) []*tree.Node {
	if parameters.IsNull() {
		return nil
	}
	if parameters.IsList() {
		return parameters.Items
	}
	return []*tree.Node{parameters}
}

// Check returns the problems with values according to the schema of one page. Null
// values are those of an empty form. Checks of one request share a budget; a nil
// budget is a new one. After a thousand problems the checks of a budget stop. The
// error is ErrTooManySteps if the budget is used up: then the values are not known to
// be valid.
func Check(schema, values *tree.Node, budget *Budget) ([]Problem, error) {
	if budget == nil {
		budget = NewBudget()
	}
	if values.IsNull() {
		values = tree.Obj()
	}
	c := &checker{root: schema, budget: budget}
	f := frame{value: values, schema: schema, base: baseOf("", schema)}
	if !schema.IsMap() && (schema == nil || schema.Kind != tree.Bool) {
		c.senseless(f, "schema", "the page is not a schema")
	}
	c.check(f)
	if budget.exhausted() {
		return nil, ErrTooManySteps
	}
	if c.senselessness != nil {
		c.problems = append(c.problems, *c.senselessness)
	}
	budget.shorten(c.problems)
	return c.problems, nil
}
