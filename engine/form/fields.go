package form

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/tree"
)

// field is one property on its way into the form.
type field struct {
	key    string
	schema *tree.Node
	// param is the name in the form; the same as key but on the page itself.
	param    string
	required bool
	advanced bool
	ordered  bool
	order    int64
}

// fields returns the properties of s in the order of the form: by x-ui-order,
// then required ones, then by name; advanced ones last. skip names those that
// are left out.
func (c *compiler) fields(s *tree.Node, skip func(string) bool) []field {
	props := s.Get("properties")
	if !props.IsMap() {
		return nil
	}
	required := s.Get("required").List()
	out := make([]field, 0, len(props.Fields))
	for i := range props.Fields {
		p := &props.Fields[i]
		if skip != nil && skip(p.Key) {
			continue
		}
		f := field{key: p.Key, param: p.Key, schema: p.Value}
		if !p.Value.IsMap() {
			f.schema = tree.Obj()
		}
		for _, r := range required {
			if r.Kind == tree.String && r.Text == p.Key {
				f.required = true
			}
		}
		for j := range f.schema.Fields {
			switch x := &f.schema.Fields[j]; x.Key {
			case "x-ui-order":
				n, err := strconv.ParseInt(x.Value.Scalar(), 10, 64)
				f.ordered, f.order = err == nil, n
			case "x-ui-advanced":
				f.advanced = x.Value.IsTrue()
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, compareFields)
	return out
}

func compareFields(a, b field) int {
	return cmp.Or(
		compareBool(b.advanced, a.advanced),
		compareBool(a.ordered, b.ordered),
		cmp.Compare(a.order, b.order),
		compareBool(a.required, b.required),
		strings.Compare(a.key, b.key),
	)
}

// compareBool puts true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// properties writes fields, the required ones among them, and the conditions
// between them, into the object out.
func (c *compiler) properties(out, s *tree.Node, fields []field, depth int) {
	props := &tree.Node{Kind: tree.Map, Fields: make([]tree.Field, 0, len(fields))}
	var required []*tree.Node
	for i := range fields {
		f := &fields[i]
		c.path = append(c.path, f.key)
		add(props, f.param, c.schema(f.schema, f.key, depth+1))
		c.path = c.path[:len(c.path)-1]
		if !f.required {
			continue
		}
		required = append(required, tree.Str(f.param))
		if f.schema.Get("x-ui-hidden").IsTrue() && !f.schema.Has("default") {
			c.note(RuleHidden, f.schema.Pos, "field "+strconv.Quote(f.key)+" is required and hidden, but has no default, so the form cannot be submitted",
				"give it a default, or show it")
		}
	}
	if len(required) > 0 {
		add(out, "required", tree.Arr(required...))
	}
	add(out, "properties", props)
	c.junctors(out, s, fields)
}

// junctors writes oneOf, anyOf, allOf and not. A oneOf whose branches only
// name required fields becomes a choice between those fields. fields are
// those of the object the junctors stand in; nil for anything else.
func (c *compiler) junctors(out, s *tree.Node, fields []field) {
	for _, key := range [...]string{"oneOf", "anyOf", "allOf"} {
		branches := s.Get(key)
		if !branches.IsList() || len(branches.Items) == 0 {
			continue
		}
		if key != "allOf" && fields != nil && requiredGroups(branches) {
			c.choice(out, key, branches, fields)
			continue
		}
		if compiled := c.conditions(branches, fields); compiled != nil {
			out.Set(key, compiled)
		}
	}
	if not := s.Get("not"); not.IsMap() {
		out.Set("not", c.condition(not, fields))
	}
}

// requiredGroups reports whether every branch says only which fields are
// required, and perhaps a title.
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

// choice writes branches that name required fields. Where exactly one may
// hold, each branch brings its own fields, so that only those are shown.
func (c *compiler) choice(out *tree.Node, key string, branches *tree.Node, fields []field) {
	move := key == "oneOf" && disjoint(branches, fields)
	props := out.Get("properties")
	choices := tree.Arr()
	for _, b := range branches.Items {
		var titles []string
		own := tree.Obj()
		var required []string
		for _, name := range unique(b.Get("required").Strings()) {
			i := slices.IndexFunc(fields, func(f field) bool { return f.key == name })
			if i < 0 {
				// Not in the form; whoever fills it cannot choose it.
				continue
			}
			param := fields[i].param
			schema := props.Get(param)
			titles = append(titles, schema.Get("title").Str())
			required = append(required, param)
			if move {
				add(own, param, schema)
			}
		}
		branch := tree.Obj(tree.F("title", tree.Str(branchTitle(b, titles))), tree.F("required", tree.Strs(required)))
		if move {
			add(branch, "properties", own)
		}
		choices.Items = append(choices.Items, branch)
	}
	if move {
		for _, b := range choices.Items {
			for _, f := range b.Get("properties").Fields {
				props.Delete(f.Key)
			}
		}
	}
	out.Set(key, choices)
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

// disjoint reports whether no field stands in two branches, every named field
// is in the form, and none is required anyway.
func disjoint(branches *tree.Node, fields []field) bool {
	seen := map[string]bool{}
	for _, b := range branches.Items {
		for _, name := range unique(b.Get("required").Strings()) {
			i := slices.IndexFunc(fields, func(f field) bool { return f.key == name })
			if i < 0 || fields[i].required || seen[name] {
				return false
			}
			seen[name] = true
		}
	}
	return len(seen) > 0
}

// conditions compiles the branches of a junctor; nil if there is none.
func (c *compiler) conditions(branches *tree.Node, fields []field) *tree.Node {
	if !branches.IsList() || len(branches.Items) == 0 {
		return nil
	}
	out := tree.Arr()
	for _, b := range branches.Items {
		if !b.IsMap() {
			return nil
		}
		out.Items = append(out.Items, c.condition(b, fields))
	}
	return out
}

// condition compiles a schema that only restricts: no titles, no help, no
// widgets, and the names of the form where it speaks of fields on the page.
func (c *compiler) condition(s *tree.Node, fields []field) *tree.Node {
	name := func(key string) string {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return key
		}
		return fields[i].param
	}
	out := tree.Obj()
	if t := typeOf(s); t != "" && s.Has("type") {
		addType(out, s, t)
	}
	if enum := s.Get("enum"); enum.IsList() && len(enum.Items) > 0 {
		add(out, "enum", enum.Sorted())
	}
	copyCounts(out, s, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
	bounds(out, s)
	if p := s.Get("pattern"); p.IsString() {
		if translated, ok := browserPattern(p.Text); ok {
			add(out, "pattern", tree.Str(translated))
		}
	}
	if req := unique(s.Get("required").Strings()); len(req) > 0 {
		for i := range req {
			req[i] = name(req[i])
		}
		add(out, "required", tree.Strs(req))
	}
	if props := s.Get("properties"); props.IsMap() {
		inner := tree.Obj()
		for _, p := range props.Fields {
			if p.Value.IsMap() {
				inner.Set(name(p.Key), c.condition(p.Value, nil))
			}
		}
		inner.SortKeys()
		add(out, "properties", inner)
	}
	if items := s.Get("items"); items.IsMap() {
		add(out, "items", c.condition(items, nil))
	}
	if values := s.Get("additionalProperties"); values.IsMap() {
		add(out, "additionalProperties", c.condition(values, nil))
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if branches := c.conditions(s.Get(key), fields); branches != nil {
			add(out, key, branches)
		}
	}
	if not := s.Get("not"); not.IsMap() {
		add(out, "not", c.condition(not, fields))
	}
	return out
}
