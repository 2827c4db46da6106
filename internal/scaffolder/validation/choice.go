package validation

import (
	"strconv"

	"example.dev/ingestor/document/tree"
)

// types checks the keyword type.
func (c *checker) types(f frame, word *tree.Node) {
	types := []*tree.Node{word}
	if word.IsList() {
		types = word.Items
	}
	c.spend(f, len(types))
	for _, t := range types {
		if c.isType(f, t, "type") || c.done() {
			return
		}
	}
	names := tree.Arr()
	if c.tries == 0 {
		names = typeNames(types)
	}
	c.fail(f, "type", names, func() string { return "is not of a type(s) " + text(names) })
}

// typeNames returns the names of types in messages.
func typeNames(types []*tree.Node) *tree.Node {
	names := tree.Arr()
	for _, t := range types {
		switch {
		case !truthy(t):
			names.Items = append(names.Items, tree.Nil())
		case truthy(idOf(t)):
			names.Items = append(names.Items, tree.Str("<"+text(idOf(t))+">"))
		default:
			names.Items = append(names.Items, tree.Str(text(t)))
		}
	}
	return names
}

// isType reports whether the value has a type, which is a name or, in old schemas, a
// schema. An unknown type matches every value.
func (c *checker) isType(f frame, t *tree.Node, name string) bool {
	if t.IsNull() {
		c.senseless(f, name, "null is not a type, use \"null\"")
		return true
	}
	if t.IsMap() || t.IsList() {
		return c.fits(f.with(t))
	}
	if !t.IsString() {
		return true
	}
	switch t.Text {
	case "string":
		return f.value.IsString()
	case "number":
		return isNumber(f.value)
	case "integer":
		return isWhole(f.value)
	case "boolean":
		return f.value.Kind == tree.Bool
	case "array":
		return f.value.IsList()
	case "null":
		return f.value.Kind == tree.Null
	case "object":
		return f.value.IsMap()
	case "date":
		return false
	}
	return true
}

// enum checks the keyword enum.
func (c *checker) enum(f frame, word *tree.Node) {
	if !word.IsList() {
		c.senseless(f, "enum", "enum is not a list")
		return
	}
	for _, it := range word.Items {
		if c.equal(f, it, f.value) || c.done() {
			return
		}
	}
	c.fail(f, "enum", word, func() string { return "is not one of enum values: " + texts(word.Items) })
}

// several checks the keywords that have a list of schemas.
func (c *checker) several(f frame, key string, word *tree.Node) {
	if !word.IsList() {
		c.senseless(f, key, key+" is not a list")
		return
	}
	if key == "allOf" {
		for i, schema := range word.Items {
			if c.done() {
				return
			}
			c.all(f, schema, i)
		}
		return
	}
	matches := 0
	for _, schema := range word.Items {
		if !c.fits(f.with(schema)) {
			continue
		}
		if matches++; key == "anyOf" || c.done() {
			return
		}
	}
	if matches == 1 || c.done() {
		return
	}
	names := tree.Arr()
	if c.tries == 0 {
		for i, schema := range word.Items {
			names.Items = append(names.Items, nameOf(schema, i, key == "anyOf"))
		}
	}
	message := "is not exactly one from "
	if key == "anyOf" {
		message = "is not any of "
	}
	c.fail(f, key, names, func() string { return message + text(names) })
}

// all checks one schema of an allOf: its problems follow one that counts them.
func (c *checker) all(f frame, schema *tree.Node, i int) {
	before := len(c.problems)
	c.check(f.with(schema))
	count := len(c.problems) - before
	if count == 0 {
		return
	}
	name := nameOf(schema, i, false)
	c.fail(f, "allOf", tree.Obj(tree.F("id", name), tree.F("length", tree.Number(int64(count)))), func() string {
		return "does not match allOf schema " + text(name) + " with " + strconv.Itoa(count) + " error[s]:"
	})
	c.lead(before)
}

// lead moves the last problem before those found after the first since problems.
func (c *checker) lead(since int) {
	last := len(c.problems) - 1
	p := c.problems[last]
	copy(c.problems[since+1:], c.problems[since:last])
	c.problems[since] = p
}

// nameOf returns the name of an alternative in messages.
func nameOf(schema *tree.Node, i int, angled bool) *tree.Node {
	id := idOf(schema)
	switch {
	case truthy(id) && angled:
		return tree.Str("<" + text(id) + ">")
	case truthy(id):
		return id
	case truthy(schema.Get("title")):
		return tree.Str(quote(schema.Get("title")))
	case truthy(schema.Get("$ref")):
		return tree.Str("<" + text(schema.Get("$ref")) + ">")
	}
	return tree.Str("[subschema " + strconv.Itoa(i) + "]")
}

// not checks the keyword not, and disallow, its former name.
func (c *checker) not(f frame) {
	word := f.schema.Get("not")
	if !truthy(word) {
		word = f.schema.Get("disallow")
	}
	if !truthy(word) {
		return
	}
	types := []*tree.Node{word}
	if word.IsList() {
		types = word.Items
	}
	c.spend(f, len(types))
	for _, t := range types {
		if c.done() {
			return
		}
		if !c.isType(f, t, "not") || c.done() {
			continue
		}
		argument := t
		if truthy(idOf(t)) {
			argument = idOf(t)
		}
		c.fail(f, "not", argument, func() string { return "is of prohibited type " + text(argument) })
	}
}

// condition checks the keyword if, with then and else.
func (c *checker) condition(f frame, word *tree.Node) {
	if !isSchema(word) {
		c.senseless(f, "if", "if is not a schema")
		return
	}
	branch := "else"
	if c.fits(f.with(word)) {
		branch = "then"
	}
	schema := f.schema.Get(branch)
	if schema == nil {
		return
	}
	if !isSchema(schema) {
		c.senseless(f, "if", branch+" is not a schema")
		return
	}
	f.base = baseOf(f.base, schema)
	c.check(f.with(schema))
}

func isSchema(n *tree.Node) bool {
	return n.IsMap() || n.IsList() || n != nil && n.Kind == tree.Bool
}
