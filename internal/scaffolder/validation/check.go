package validation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.dev/ingestor/document/tree"
)

// mostDepth is the maximum nesting of a schema and a value.
const mostDepth = 1000

// checker is the state of one Check.
type checker struct {
	root     *tree.Node
	budget   *Budget
	problems []Problem
	// tries is the nesting of alternatives being tried: a mismatch in there is not a
	// problem yet, but sets failed.
	tries  int
	failed bool
	// senselessness is what is wrong with the schema; it ends the check.
	senselessness *Problem
	// ids are the schemas that have an id, collected on first use.
	ids map[string]*tree.Node
	// referred caches the targets of references, by URI.
	referred map[string]*tree.Node
}

// frame is a value to check against a schema.
type frame struct {
	// value is nil if it is missing.
	value, schema *tree.Node
	at            *place
	// base is the URI that a $ref is relative to.
	base  string
	depth int
}

// place is one element of the path to a value; nil is the root.
type place struct {
	parent *place
	key    string
	// index is used instead of key if inList is set.
	index  int
	inList bool
}

func (p *place) path() []any {
	path := []any{}
	for ; p != nil; p = p.parent {
		if p.inList {
			path = append(path, p.index)
			continue
		}
		path = append(path, p.key)
	}
	slices.Reverse(path)
	return path
}

// property formats a path.
func property(path []any) string {
	var b strings.Builder
	b.WriteString("instance")
	for _, step := range path {
		key, ok := step.(string)
		if !ok {
			key = strconv.Itoa(step.(int))
		}
		rest := strings.TrimLeft(key, "0123456789")
		switch {
		case len(rest) == len(key) && !strings.ContainsFunc(key, needsBrackets):
			b.WriteString("." + key)
		case rest == "" && key != "":
			b.WriteString("[" + key + "]")
		default:
			b.WriteString("[" + quote(tree.Str(key)) + "]")
		}
	}
	return b.String()
}

func needsBrackets(r rune) bool {
	return r == '.' || r == '[' || r == ']' || r == 0xFEFF || r != 0x85 && unicode.IsSpace(r)
}

// key returns the frame of a map entry of f.
func (f frame) key(key string, value, schema *tree.Node) frame {
	return frame{value, schema, &place{parent: f.at, key: key}, baseOf(f.base, schema), f.depth + 1}
}

// item returns the frame of a list item of f.
func (f frame) item(i int, value, schema *tree.Node) frame {
	return frame{value, schema, &place{parent: f.at, index: i, inList: true}, baseOf(f.base, schema), f.depth + 1}
}

// with returns f with another schema.
func (f frame) with(schema *tree.Node) frame {
	f.schema = schema
	f.depth++
	return f
}

// fail records that the value of f violates a keyword. The argument is nil if the
// keyword has none. It calls say for the message only if there will be a Problem:
// within an alternative it is enough to know that the value does not match, and a
// message may be as long as the schema.
func (c *checker) fail(f frame, name string, argument *tree.Node, say func() string) {
	if c.tries > 0 {
		c.failed = true
		return
	}
	p := newProblem(f, name, say(), argument)
	c.problems = append(c.problems, p)
	c.budget.found(&p)
}

func newProblem(f frame, name, message string, argument *tree.Node) Problem {
	path := f.at.path()
	p := Problem{Path: path, Property: property(path), Message: message, Instance: f.value, Name: name, Argument: argument}
	if p.Schema = f.schema; truthy(idOf(f.schema)) {
		p.Schema = idOf(f.schema)
	}
	p.Stack = p.Property + " " + message
	return p
}

// senseless ends the check, because the schema cannot be what its author meant.
func (c *checker) senseless(f frame, name, why string) {
	if c.senselessness == nil {
		p := newProblem(f, name, "cannot be checked: "+why+"; tell the author of the template", nil)
		c.senselessness = &p
	}
}

// done reports whether the result is already known.
func (c *checker) done() bool {
	return c.budget.over() || c.senselessness != nil || c.tries > 0 && c.failed
}

// spend counts the cost of a check, in steps of about a quarter of a microsecond.
func (c *checker) spend(f frame, steps int) {
	c.budget.spend(steps)
	if f.depth > mostDepth {
		c.senseless(f, "schema", "the schema is nested too deeply, or refers to itself")
	}
}

// spendText counts the cost of reading a text.
func (c *checker) spendText(f frame, bytes int) {
	const bytesPerStep = 64
	c.spend(f, bytes/bytesPerStep)
}

// fits reports whether the value of f matches; a mismatch is not recorded as a
// problem.
func (c *checker) fits(f frame) bool {
	before := c.failed
	c.tries++
	c.failed = false
	c.check(f)
	ok := !c.failed
	c.tries--
	c.failed = before
	return ok
}

// check checks a value against a schema.
func (c *checker) check(f frame) {
	// Unknown keywords are iterated over, too.
	if c.spend(f, 1+f.schema.Len()+len(f.base)/bytesPerKept); c.done() {
		return
	}
	switch {
	case f.schema != nil && f.schema.Kind == tree.Bool:
		if f.schema.IsTrue() {
			return
		}
		f.schema = nothing
	case !truthy(f.schema):
		c.senseless(f, "schema", "the schema is missing")
		return
	case f.schema.IsString():
		c.refer(f, f.schema.Text)
		return
	case !f.schema.IsMap():
		return
	}
	if truthy(f.schema.Get("extends")) {
		c.senseless(f, "extends", "extends is not supported, use allOf")
		return
	}
	if ref := f.schema.Get("$ref").Str(); ref != "" {
		c.refer(f, ref)
		return
	}
	for _, word := range ordered(f.schema) {
		if c.done() {
			return
		}
		c.keyword(f, word.Key, word.Value)
	}
}

// nothing is the schema that false is equivalent to.
var nothing = tree.Obj(tree.F("type", tree.Arr()))

// keyword checks one keyword of a schema. Unknown keywords are ignored.
func (c *checker) keyword(f frame, key string, word *tree.Node) {
	switch key {
	case "required":
		c.required(f, word)
		return
	case "properties", "propertyNames", "patternProperties", "additionalProperties", "minProperties", "maxProperties", "dependencies":
		if f.value.IsMap() {
			c.object(f, key, word)
		}
		return
	case "items", "contains", "minItems", "maxItems", "uniqueItems":
		if f.value.IsList() {
			c.list(f, key, word)
		}
		return
	case "minLength", "maxLength", "pattern", "format":
		if f.value.IsString() {
			c.string(f, key, word)
		}
		return
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "divisibleBy":
		if c.spend(f, numberSteps); isNumber(f.value) {
			c.number(f, key, word)
		}
		return
	}
	if f.value == nil {
		return
	}
	switch key {
	case "type":
		c.types(f, word)
	case "enum":
		c.enum(f, word)
	case "const":
		if !c.equal(f, word, f.value) {
			c.fail(f, key, word, func() string { return "does not exactly match expected constant: " + text(word) })
		}
	case "anyOf", "allOf", "oneOf":
		c.several(f, key, word)
	case "not", "disallow":
		c.not(f)
	case "if":
		c.condition(f, word)
	}
}
