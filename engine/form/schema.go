package form

import (
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// FieldYAML is the field in which a user writes YAML. Its value is the parsed object, so
// that nothing needs to be parsed later. A portal that does not know the field shows the
// plain editor for the value's type.
const FieldYAML = "YamlText"

// anyType lists the types of a value that may be anything. An editor that supports only
// one type uses the first.
var (
	anyType    = tree.Strs([]string{"object", "array", "string", "number", "boolean", "null"})
	anyButNull = tree.Strs([]string{"object", "array", "string", "number", "boolean"})
)

// schema compiles one schema of the definition into one of the form. key is the
// property's name, or "" for items and map values, which have no titles. It never
// returns nil.
func (c *compiler) schema(s *tree.Node, key string, depth int) *tree.Node {
	// Each keyword becomes at most one; a title may be added.
	out := c.make.Map(len(s.Fields) + 1)
	details := c.caption(out, s, key)
	c.body(out, s, depth)
	c.ui(out, s, details)
	c.widget(out, s, key)
	return out
}

// add appends a field that must not exist yet.
func add(n *tree.Node, key string, value *tree.Node) {
	n.Fields = append(n.Fields, tree.Field{Key: key, Value: value})
}

// caption writes the title and the first sentence of the description, and returns the
// rest of the description.
func (c *compiler) caption(out, s *tree.Node, key string) (details string) {
	if title := titleOf(s, key); title != "" {
		add(out, "title", c.make.Str(title))
	}
	description := s.Get("description")
	first, details := FirstSentence(description.Str())
	if c.untouched > 0 {
		first = withDefault(first, s)
	}
	switch {
	case first == "":
	case description.IsString() && first == description.Text:
		add(out, "description", description)
	default:
		add(out, "description", c.make.Str(first))
	}
	return details
}

// titleOf returns the title of a property: the schema's title, else one derived from its
// key.
func titleOf(s *tree.Node, key string) string {
	if title := strings.TrimSpace(s.Get("title").Str()); title != "" {
		return title
	}
	return Humanise(key)
}

// body writes the type and everything that depends on it.
func (c *compiler) body(out, s *tree.Node, depth int) {
	if s.Get("x-kubernetes-int-or-string").IsTrue() {
		c.intOrString(out, s)
		return
	}
	switch typ := typeOf(s); typ {
	case "object":
		c.object(out, s, depth)
	case "array":
		c.array(out, s, depth)
	case "string", "integer", "number", "boolean":
		c.scalar(out, s, typ)
	default:
		c.untyped(out, s)
	}
}

// typeOf returns the type of a schema, inferred from other keywords if it is missing; ""
// if it cannot be inferred.
func typeOf(s *tree.Node) string {
	switch t := s.Get("type").Str(); t {
	case "object", "array", "string", "integer", "number", "boolean":
		return t
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	}
	switch {
	case s.Get("properties").Len() > 0, s.Get("additionalProperties").IsMap():
		return "object"
	case s.Get("items").IsMap():
		return "array"
	}
	return ""
}

// addType writes the type, plus null if the schema is nullable.
func addType(out, s *tree.Node, typ string) {
	if s.Get("nullable").IsTrue() {
		add(out, "type", tree.Arr(tree.Str(typ), tree.Str("null")))
		return
	}
	add(out, "type", typeNodes[typ])
}

// typeNodes are shared nodes for the type names.
var typeNodes = map[string]*tree.Node{
	"object": tree.Str("object"), "array": tree.Str("array"), "string": tree.Str("string"),
	"integer": tree.Str("integer"), "number": tree.Str("number"), "boolean": tree.Str("boolean"),
}

func (c *compiler) scalar(out, s *tree.Node, typ string) {
	addType(out, s, typ)
	c.choices(out, s)
	if typ == "string" {
		c.text(out, s)
	}
	if typ == "integer" || typ == "number" {
		bounds(out, s)
	}
	c.junctors(out, s, nil)
}

// choices writes enum and default unchanged.
func (c *compiler) choices(out, s *tree.Node) {
	if enum := s.Get("enum"); enum.IsList() && len(enum.Items) > 0 {
		values := enum.Items
		if s.Get("nullable").IsTrue() {
			values = append(slices.Clone(values), tree.Nil())
		}
		add(out, "enum", distinct(values))
	}
	c.fallback(out, s)
}

// distinct returns a list without duplicates: a schema with duplicate enum values is
// invalid.
func distinct(values []*tree.Node) *tree.Node {
	out := &tree.Node{Kind: tree.List, Items: make([]*tree.Node, 0, len(values))}
	const few = 16
	if len(values) <= few {
		for _, v := range values {
			if !slices.ContainsFunc(out.Items, v.Equal) {
				out.Items = append(out.Items, v.Sorted())
			}
		}
		return out
	}
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		key := string(tree.AppendCanonical(nil, v))
		if !seen[key] {
			seen[key] = true
			out.Items = append(out.Items, v.Sorted())
		}
	}
	return out
}

// fallback writes the default. A null means no default unless the field is nullable.
// Inside an object that must not fill itself in (see fillsItself), the default is only
// described; the cluster applies it.
func (c *compiler) fallback(out, s *tree.Node) {
	if c.untouched == 0 && hasOwnDefault(s) {
		add(out, "default", s.Get("default").Sorted())
	}
}

// withDefault adds the default of s to a description.
func withDefault(description string, s *tree.Node) string {
	d := s.Get("default")
	if d.IsNull() || d.IsMap() && len(d.Fields) == 0 {
		return description
	}
	line := "Default: "
	if description != "" {
		line = description + "\n" + line
	}
	switch d.Kind {
	case tree.Bool, tree.Int, tree.Float:
		return line + d.Text
	}
	return line + string(tree.AppendJSON(nil, d.Sorted(), ""))
}

// fillsItself reports whether a browser would create an optional object that the user
// did not touch: it contains a default, or requires an object or a list. An untouched
// optional object must stay absent; the cluster applies the defaults of its fields once
// it exists.
func fillsItself(s *tree.Node) bool {
	if s.Get("required").Len() > maxProperties || s.Get("properties").Len() > maxProperties {
		// The object is too large for a form.
		return false
	}
	if s.Get("default").Len() > 0 {
		// The author gave a default for the whole object.
		return false
	}
	return hasDefault(s) || requiresHolder(s)
}

// hasOwnDefault reports whether a schema has a default for a missing value.
func hasOwnDefault(s *tree.Node) bool {
	d := s.Get("default")
	return d != nil && (d.Kind != tree.Null || s.Get("nullable").IsTrue())
}

// asks reports whether s requires a value for which it has no default.
func asks(s *tree.Node) bool {
	props := s.Get("properties")
	return slices.ContainsFunc(s.Get("required").List(), func(r *tree.Node) bool {
		return r.IsString() && !hasOwnDefault(props.Get(r.Text))
	})
}

// requiresHolder reports whether s requires an object or a list, which a browser creates
// by itself.
func requiresHolder(s *tree.Node) bool {
	props := s.Get("properties")
	return slices.ContainsFunc(s.Get("required").List(), func(r *tree.Node) bool { return complexType(props.Get(r.Str())) })
}

// hasDefault reports whether s contains a default, except in list items and map values,
// which browsers do not create by themselves.
func hasDefault(s *tree.Node) bool {
	props := s.Get("properties")
	if !props.IsMap() {
		return false
	}
	return slices.ContainsFunc(props.Fields, func(f tree.Field) bool {
		return f.Value.Has("default") || hasDefault(f.Value)
	})
}

// text writes the keywords of strings.
func (c *compiler) text(out, s *tree.Node) {
	copyCounts(out, s, "minLength", "maxLength")
	if format := s.Get("format").Str(); browserFormat(format) {
		add(out, "format", s.Get("format"))
	}
	c.pattern(out, s)
}

func (c *compiler) pattern(out, s *tree.Node) {
	p := s.Get("pattern")
	if !p.IsString() || p.Text == "" {
		return
	}
	translated, ok := browserPattern(p.Text)
	if !ok {
		c.note(RulePattern, p.Pos, "pattern "+strconv.Quote(p.Text)+" cannot run in a browser, so the form only describes it",
			"use only features that both RE2 and JavaScript support")
		describe(out, "Must match "+p.Text)
		return
	}
	if translated == p.Text {
		add(out, "pattern", p)
		return
	}
	add(out, "pattern", tree.Str(translated))
}

// describe adds a line to the description.
func describe(out *tree.Node, line string) {
	if d := out.Get("description").Str(); d != "" {
		line = d + "\n" + line
	}
	if out.Has("description") {
		out.Set("description", tree.Str(line))
		return
	}
	// The description follows the title, if there is one.
	at := 0
	if out.Has("title") {
		at = 1
	}
	out.Fields = slices.Insert(out.Fields, at, tree.F("description", tree.Str(line)))
}

// browserFormat reports whether browsers check a format as the cluster does. Other
// formats stay in the API document only; a duration, for example, is 1h30m to a cluster
// and P1DT2H to a browser.
func browserFormat(f string) bool {
	switch f {
	case "date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "byte", "password",
		"int32", "int64", "float", "double":
		return true
	}
	return false
}

// bounds writes the keywords of numbers. Exclusive bounds are flags beside a bound in
// the definition, and bounds themselves in the form.
func bounds(out, s *tree.Node) {
	for _, b := range [...][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		n, exclusive := s.Get(b[0]), s.Get(b[1])
		if !isNumber(n) {
			continue
		}
		if exclusive.IsTrue() {
			add(out, b[1], n)
			continue
		}
		add(out, b[0], n)
	}
	if m := s.Get("multipleOf"); isNumber(m) && m.Text != "0" && m.Text[0] != '-' {
		add(out, "multipleOf", m)
	}
	if format := s.Get("format").Str(); browserFormat(format) {
		add(out, "format", s.Get("format"))
	}
}

func isNumber(n *tree.Node) bool { return n != nil && (n.Kind == tree.Int || n.Kind == tree.Float) }

// copyCounts copies keywords whose value must be a count.
func copyCounts(out, s *tree.Node, keys ...string) {
	for _, k := range keys {
		if n := s.Get(k); n != nil && n.Kind == tree.Int && n.Text[0] != '-' {
			add(out, k, n)
		}
	}
}

func (c *compiler) array(out, s *tree.Node, depth int) {
	items := s.Get("items")
	if !items.IsMap() || depth >= c.maxDepth && complexType(items) {
		c.yamlText(out, s, "array", depth)
		return
	}
	addType(out, s, "array")
	c.fallback(out, s)
	copyCounts(out, s, "minItems", "maxItems")
	// An API server rejects a set with duplicates.
	if s.Get("uniqueItems").IsTrue() || s.Get("x-kubernetes-list-type").Str() == "set" {
		add(out, "uniqueItems", tree.Boolean(true))
	}
	c.path = append(c.path, "[]")
	add(out, "items", c.entry(items, depth))
	c.path = c.path[:len(c.path)-1]
}

// entry compiles the schema of list items or map values. The user adds those, so they
// get defaults even inside an untouched object.
func (c *compiler) entry(s *tree.Node, depth int) *tree.Node {
	outer, room := c.untouched, c.room
	c.untouched, c.room = 0, visibleMost
	out := c.schema(s, "", depth+1)
	c.untouched, c.room = outer, room
	return out
}

func complexType(s *tree.Node) bool {
	t := typeOf(s)
	return t == "object" || t == "array"
}

func (c *compiler) object(out, s *tree.Node, depth int) {
	if depth >= c.maxDepth {
		c.yamlText(out, s, "object", depth)
		return
	}
	if props := s.Get("properties"); props.IsMap() && len(props.Fields) > 0 {
		addType(out, s, "object")
		c.fallback(out, s)
		copyCounts(out, s, "minProperties", "maxProperties")
		c.properties(out, s, c.fields(s, nil), depth)
		if s.Get("x-kubernetes-preserve-unknown-fields").IsTrue() {
			add(out, "additionalProperties", yes)
		}
		return
	}
	values := s.Get("additionalProperties")
	if !values.IsMap() || len(values.Fields) == 0 {
		c.yamlText(out, s, "object", depth)
		return
	}
	addType(out, s, "object")
	c.fallback(out, s)
	copyCounts(out, s, "minProperties", "maxProperties")
	c.path = append(c.path, "*")
	add(out, "additionalProperties", c.entry(values, depth))
	c.path = c.path[:len(c.path)-1]
	c.junctors(out, s, nil)
}

// untyped writes a schema without a type: an enum of values of any kind, or a value that
// may be anything.
func (c *compiler) untyped(out, s *tree.Node) {
	enum := s.Get("enum")
	if !enum.IsList() || len(enum.Items) == 0 {
		c.yamlText(out, s, "", 0)
		c.junctors(out, s, nil)
		return
	}
	if k := enum.Items[0].Kind; k != tree.Null && !slices.ContainsFunc(enum.Items, func(n *tree.Node) bool { return n.Kind != k }) {
		addType(out, s, k.String())
	}
	c.choices(out, s)
}

// yamlText writes a YAML field for a value that has no form.
func (c *compiler) yamlText(out, s *tree.Node, typ string, depth int) {
	if depth >= c.maxDepth && s.Get("properties").Len()+s.Get("items").Len() > 0 {
		c.deep = append(c.deep, c.where())
	}
	if typ == "" {
		add(out, "type", anyType)
	} else {
		addType(out, s, typ)
	}
	c.fallback(out, s)
	if typ == "object" {
		if req := s.Get("required").Strings(); len(req) > 0 {
			add(out, "required", tree.Strs(unique(req)))
		}
		copyCounts(out, s, "minProperties", "maxProperties")
		add(out, "additionalProperties", tree.Boolean(true))
	}
	if typ == "array" {
		copyCounts(out, s, "minItems", "maxItems")
		// Editors cannot show an array without items.
		add(out, "items", tree.Obj())
	}
	add(out, "ui:field", tree.Str(FieldYAML))
}

func (c *compiler) intOrString(out, s *tree.Node) {
	number, text := tree.Obj(tree.F("type", tree.Str("integer"))), tree.Obj(tree.F("type", tree.Str("string")))
	add(number, "title", tree.Str("Number"))
	add(text, "title", tree.Str("Text"))
	bounds(number, s)
	c.text(text, s)
	choices := tree.Arr(number, text)
	if s.Get("nullable").IsTrue() {
		choices.Items = append(choices.Items, tree.Obj(tree.F("type", tree.Str("null")), tree.F("title", tree.Str("None"))))
	}
	c.choices(out, s)
	add(out, "anyOf", choices)
}

// unique removes duplicate strings and keeps the first of each.
func unique(ss []string) []string {
	out := ss[:0:0]
	seen := make(map[string]bool, len(ss))
	for _, s := range ss {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
