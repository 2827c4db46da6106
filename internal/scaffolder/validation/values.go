// Package validation checks what a form was filled with against the schemas of its
// pages, and says what is wrong the way the real scaffolder does, whose clients
// look for the field in it.
//
// It is an interpreter of its own because the answer is the contract, not only
// the verdict: which problems, in which order, under which words (is not exactly
// one from "Small",[subschema 1]), with which part of the schema. A validator
// that follows the JSON Schema drafts finds other problems in another order,
// and differs in verdicts too: the real one knows the keywords up to draft 7,
// takes a type it does not know for fulfilled, and counts required: true.
//
// # Differences from upstream
//
//	upstream                                   here
//	a schema that makes no sense, a $ref to    a Problem that says so: nobody can fill in such
//	nowhere or to itself ends in an error 500  a form, and whoever wrote it can be told
//	numbers above 2^53 are rounded before      they are compared, and written, as they are
//	they are compared
//	extends (draft 3) merges schemas           a schema with it makes no sense
//	the argument of allOf has a third entry,   it has id and length
//	valid, with all problems once more
//	schema and instance are in every Problem   they are left out of the later ones when
//	                                           there are so many that the answer grows large
//	an empty list and an empty map are the     they differ
//	same in enum, const and uniqueItems
//	two schemas with one id are an error       the first counts
//	properties named as methods of objects     they are properties like others
//	(toString) are taken for present
//	a pattern may run for ever                 it is given up, which is a Problem
//	a schema may take for ever                 the form is refused, see Budget
package validation

import (
	"encoding/json"

	"example.dev/ingestor/document/tree"
)

// Problem is a value that does not fit its schema.
type Problem struct {
	// Path leads to the value: strings for keys, ints for places in lists.
	Path []any `json:"path"`
	// Property is Path as a text: instance.nodes[0].name.
	Property string `json:"property"`
	Message  string `json:"message"`
	// Schema is the part that was broken, or its id if it has one.
	Schema *tree.Node `json:"schema,omitempty"`
	// Instance is the value; nil if it is missing.
	Instance *tree.Node `json:"instance,omitempty"`
	// Name is the keyword that was broken, Argument what it asks for.
	Name     string     `json:"name"`
	Argument *tree.Node `json:"argument,omitempty"`
	// Stack is Property and Message.
	Stack string `json:"stack"`
}

// MarshalJSON writes p with its keys in the order of the real one.
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

// Pages returns the pages of a form: parameters is one of them, or a list.
func Pages(parameters *tree.Node) []*tree.Node {
	if parameters.IsNull() {
		return nil
	}
	if parameters.IsList() {
		return parameters.Items
	}
	return []*tree.Node{parameters}
}

// Check returns what is wrong with values, by the schema of one page. Values
// that are absent are those of a form in which nothing was filled in. Checks of
// one request share a budget; with nil a check has one of its own. Beyond a
// thousand problems the checks of a budget look no further. The error is
// ErrTooManySteps when the budget is used up: the values are not known to fit
// then.
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
