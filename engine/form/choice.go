package form

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// junctors writes oneOf, anyOf, allOf and not. A oneOf whose branches only list required
// fields becomes a choice between those fields. fields are the fields of the object that
// contains the junctors; nil for any other type.
func (c *compiler) junctors(out, s *tree.Node, fields []field) {
	if !slices.ContainsFunc(s.Fields, isJunctor) {
		return
	}
	var by map[string]*field
	for _, key := range [...]string{"oneOf", "anyOf", "allOf", "not"} {
		if by == nil && s.Has(key) {
			by = make(map[string]*field, len(fields))
			for i := range fields {
				by[fields[i].key] = &fields[i]
			}
		}
	}
	for _, key := range [...]string{"oneOf", "anyOf", "allOf"} {
		branches := s.Get(key)
		if !branches.IsList() || len(branches.Items) == 0 {
			continue
		}
		if key != "allOf" && fields != nil && requiredGroups(branches) {
			if choices := c.choice(out, key, branches, by); choices != nil {
				out.Set(key, orNull(s, key, choices))
			}
			continue
		}
		if compiled, _ := c.conditions(key, branches, by); compiled != nil {
			out.Set(key, orNull(s, key, compiled))
		}
	}
	if not := s.Get("not"); not.IsMap() {
		if compiled, exact := c.condition(not, by); exact && len(compiled.Fields) > 0 {
			out.Set("not", orNull(s, "not", tree.Arr(compiled)).Items[0])
		}
	}
}

// isJunctor reports whether a keyword combines schemas, which is rare.
func isJunctor(f tree.Field) bool {
	switch f.Key {
	case "oneOf", "anyOf", "allOf", "not":
		return true
	}
	return false
}

// orNull lets null pass the branches of a junctor if s is nullable, as a cluster does.
func orNull(s *tree.Node, key string, branches *tree.Node) *tree.Node {
	if !s.Get("nullable").IsTrue() {
		return branches
	}
	null := tree.Obj(tree.F("title", tree.Str("None")), tree.F("type", tree.Str("null")))
	for i, b := range branches.Items {
		switch {
		case key == "allOf":
			branches.Items[i] = tree.Obj(tree.F("anyOf", tree.Arr(b, null)))
		case !b.Has("type"):
			typ := anyButNull
			if t := typeOf(s); t != "" {
				typ = typeNodes[t]
			}
			add(b, "type", typ)
		}
	}
	if key == "oneOf" || key == "anyOf" {
		branches.Items = append(branches.Items, null)
	}
	return branches
}

// requiredGroups reports whether every branch lists only required fields, and perhaps a
// title and a description.
func requiredGroups(branches *tree.Node) bool {
	for _, b := range branches.Items {
		if !b.IsMap() || !b.Get("required").IsList() {
			return false
		}
		for i := range b.Fields {
			switch b.Fields[i].Key {
			case "required", "title", "description":
			default:
				return false
			}
		}
	}
	return true
}

// choice compiles branches that list required fields; nil if no branch can be selected.
// If exactly one branch may hold, each branch takes its own fields from out, so that
// only those are shown.
func (c *compiler) choice(out *tree.Node, key string, branches *tree.Node, fields map[string]*field) *tree.Node {
	move := key == "oneOf" && disjoint(branches, fields)
	props := out.Get("properties")
	choices := tree.Arr()
	for _, b := range branches.Items {
		var titles, required []string
		own := tree.Obj()
		absent := false
		for _, name := range unique(b.Get("required").Strings()) {
			f := fields[name]
			if f == nil {
				absent = true
				continue
			}
			titles = append(titles, titleOf(f.schema, name))
			required = append(required, f.param)
			if move {
				add(own, f.param, props.Get(f.param))
			}
		}
		if absent {
			// This branch can never be selected.
			continue
		}
		branch := tree.Obj(tree.F("title", tree.Str(branchTitle(b, titles))), tree.F("required", tree.Strs(required)))
		if move {
			add(branch, "properties", own)
		}
		choices.Items = append(choices.Items, branch)
	}
	if len(choices.Items) == 0 {
		return nil
	}
	if move {
		for _, b := range choices.Items {
			for _, f := range b.Get("properties").Fields {
				props.Delete(f.Key)
			}
		}
	}
	return choices
}

func branchTitle(b *tree.Node, titles []string) string {
	if t := b.Get("title").Str(); t != "" {
		return t
	}
	if len(titles) == 0 {
		return "None of these"
	}
	return strings.Join(titles, " and ")
}

// disjoint reports whether no field is in two branches, every named field is in the
// form, and none is required anyway.
func disjoint(branches *tree.Node, fields map[string]*field) bool {
	seen := map[string]bool{}
	for _, b := range branches.Items {
		for _, name := range unique(b.Get("required").Strings()) {
			if f := fields[name]; f == nil || f.required || seen[name] {
				return false
			}
			seen[name] = true
		}
	}
	return len(seen) > 0
}

// conditions compiles the branches of a junctor; nil if there are none, or none that can
// be kept. It reports whether the result is equivalent.
func (c *compiler) conditions(key string, branches *tree.Node, fields map[string]*field) (*tree.Node, bool) {
	if !branches.IsList() || len(branches.Items) == 0 {
		return nil, branches == nil
	}
	out, exact := tree.Arr(), true
	for _, b := range branches.Items {
		if !b.IsMap() {
			return nil, false
		}
		compiled, same := c.condition(b, fields)
		exact = exact && same
		out.Items = append(out.Items, compiled)
	}
	empty := func(n *tree.Node) bool { return len(n.Fields) == 0 }
	switch {
	case key == "oneOf" && !exact:
		// A branch that accepts too much would make the oneOf fail for valid values.
		return nil, false
	case key == "anyOf" && slices.ContainsFunc(out.Items, empty):
		// A branch that accepts anything makes the anyOf redundant.
		return nil, exact
	case key == "allOf":
		out.Items = slices.DeleteFunc(out.Items, empty)
	}
	if len(out.Items) == 0 {
		return nil, exact
	}
	return out, exact
}

// condition compiles a schema that only restricts: without titles, help and widgets, and
// with the form's names for fields on the page. It reports false if the result accepts
// more than the schema does, because a browser cannot check all of it.
func (c *compiler) condition(s *tree.Node, fields map[string]*field) (*tree.Node, bool) {
	name := func(key string) string {
		if f := fields[key]; f != nil {
			return f.param
		}
		return key
	}
	out, exact := tree.Obj(), !slices.ContainsFunc(s.Fields, unchecked)
	also := func(key string, n *tree.Node, same bool) {
		exact = exact && same
		if n != nil {
			add(out, key, n)
		}
	}
	if t := typeOf(s); t != "" && s.Has("type") {
		addType(out, s, t)
	}
	if enum := s.Get("enum"); enum.IsList() && len(enum.Items) > 0 {
		add(out, "enum", distinct(enum.Items))
	}
	copyCounts(out, s, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
	bounds(out, s)
	if p := s.Get("pattern"); p.IsString() {
		translated, ok := browserPattern(p.Text)
		also("pattern", tree.OptStr(translated), ok)
	}
	if req := s.Get("required").Strings(); len(req) > 0 {
		for i := range req {
			req[i] = name(req[i])
		}
		add(out, "required", tree.Strs(unique(req)))
	}
	if props := s.Get("properties"); props.IsMap() {
		inner := tree.Obj()
		for _, p := range props.Fields {
			if p.Value.IsMap() {
				compiled, same := c.condition(p.Value, nil)
				exact = exact && same
				add(inner, name(p.Key), compiled)
			}
		}
		inner.SortKeys()
		inner.Fields = slices.CompactFunc(inner.Fields, func(a, b tree.Field) bool { return a.Key == b.Key })
		add(out, "properties", inner)
	}
	for _, key := range [...]string{"items", "additionalProperties"} {
		if inner := s.Get(key); inner.IsMap() {
			compiled, same := c.condition(inner, nil)
			also(key, compiled, same)
		}
	}
	for _, key := range [...]string{"oneOf", "anyOf", "allOf"} {
		compiled, same := c.conditions(key, s.Get(key), fields)
		also(key, compiled, same)
	}
	if not := s.Get("not"); not.IsMap() {
		compiled, same := c.condition(not, fields)
		if !same || len(compiled.Fields) == 0 {
			compiled = nil
		}
		also("not", compiled, compiled != nil)
	}
	return out, exact
}

// unchecked reports whether a keyword is a restriction that condition leaves out.
func unchecked(f tree.Field) bool {
	switch f.Key {
	case "type":
		return typeNodes[f.Value.Str()] == nil
	case "format":
		return !browserFormat(f.Value.Str())
	case "title", "description", "default", "example", "nullable", "enum", "pattern", "required", "properties",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "oneOf", "anyOf", "allOf", "not":
		return false
	case "items", "additionalProperties":
		return !f.Value.IsMap()
	}
	return true
}
