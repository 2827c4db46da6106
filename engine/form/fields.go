package form

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// field is one property of a schema that is being compiled into the form.
type field struct {
	key    string
	schema *tree.Node
	// param is the name in the form. It differs from key only on the page itself.
	param    string
	required bool
	advanced bool
	ordered  bool
	order    int64
	// group is the group of the field on a large page.
	group int
}

// fields returns the properties of s in form order: by x-ui-order, then required ones,
// then, on a large page, by group, then by name; advanced ones last. skip reports which
// to leave out.
func (c *compiler) fields(s *tree.Node, skip func(string) bool) []field {
	props := s.Get("properties")
	if !props.IsMap() {
		return nil
	}
	required := members(s.Get("required"))
	out := make([]field, 0, len(props.Fields))
	for i := range props.Fields {
		p := &props.Fields[i]
		if skip != nil && skip(p.Key) {
			continue
		}
		f := field{key: p.Key, param: p.Key, schema: p.Value, required: required.has(p.Key)}
		if !p.Value.IsMap() {
			f.schema = tree.Obj()
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
		if c.large {
			f.group = groupOf(f.key, f.schema)
		}
		out = append(out, f)
	}
	sortFields(out)
	return out
}

// sortFields sorts fields in form order. Nearly all objects have few fields, for which
// an insertion sort is used.
func sortFields(all []field) {
	const few = 32
	if len(all) > few {
		slices.SortFunc(all, func(a, b field) int { return compareFields(&a, &b) })
		return
	}
	for i := 1; i < len(all); i++ {
		f, j := all[i], i
		for ; j > 0 && compareFields(&f, &all[j-1]) < 0; j-- {
			all[j] = all[j-1]
		}
		all[j] = f
	}
}

// set is a set of strings: a slice for short lists, a map for long ones, which only a
// hostile document has.
type set struct {
	few  []*tree.Node
	many map[string]bool
}

func members(list *tree.Node) set {
	items := list.List()
	if len(items) <= 64 {
		return set{few: items}
	}
	many := make(map[string]bool, len(items))
	for _, it := range items {
		if it.IsString() {
			many[it.Text] = true
		}
	}
	return set{many: many}
}

func (s set) has(word string) bool {
	for _, it := range s.few {
		if it.Kind == tree.String && it.Text == word {
			return true
		}
	}
	return s.many[word]
}

func compareFields(a, b *field) int {
	switch {
	case a.advanced != b.advanced:
		return compareBool(b.advanced, a.advanced)
	case a.ordered != b.ordered:
		return compareBool(a.ordered, b.ordered)
	case a.order != b.order:
		return cmp.Compare(a.order, b.order)
	case a.required != b.required:
		return compareBool(a.required, b.required)
	case a.group != b.group:
		return cmp.Compare(a.group, b.group)
	}
	return strings.Compare(a.key, b.key)
}

// compareBool orders true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// properties writes the fields, the list of required fields, and the conditions between
// fields into the object out.
func (c *compiler) properties(out, s *tree.Node, fields []field, depth int) {
	props := c.make.Map(len(fields))
	page := c.begin(fields)
	var required []*tree.Node
	var conditional []string
	for i := range fields {
		f := &fields[i]
		c.path = append(c.path, f.key)
		quiet := !f.required && fillsItself(f.schema)
		if quiet {
			c.untouched++
		}
		add(props, f.param, page.field(f, func() *tree.Node { return c.schema(f.schema, f.key, depth+1) }))
		if quiet {
			c.untouched--
		}
		c.path = c.path[:len(c.path)-1]
		switch {
		case !f.required:
		case hasOwnDefault(f.schema):
			// A cluster applies the default before it validates, so the field is optional.
		case c.untouched > 0 && complexType(f.schema):
			conditional = append(conditional, f.param)
		default:
			required = append(required, c.make.Str(f.param))
		}
	}
	tellApart(props, fields)
	if len(required) > 0 {
		add(out, "required", tree.Arr(required...))
	}
	add(out, "properties", props)
	if conditions := onceTouched(fields, conditional); conditions != nil {
		add(out, "dependencies", conditions)
	}
	c.junctors(out, s, fields)
	c.rules(out, s.Get("x-kubernetes-validations"), nil, fields)
}

// tellApart adds the key to titles that two fields of one object share.
func tellApart(props *tree.Node, fields []field) {
	if len(fields) < 2 {
		return
	}
	first := make(map[string]int, len(fields))
	for i, f := range props.Fields {
		title := f.Value.Get("title").Str()
		at, taken := first[title]
		if !taken {
			first[title] = i
			continue
		}
		for _, j := range [...]int{at, i} {
			// The first one may have been renamed already.
			if p := props.Fields[j].Value; p.Get("title").Str() == title {
				p.Set("title", tree.Str(title+" ("+fields[j].key+")"))
			}
		}
	}
}

// onceTouched requires fields as soon as any other field is present. A browser creates a
// required object or list by itself, and with it the optional object around it; it does
// not create one that is required conditionally.
func onceTouched(fields []field, conditional []string) *tree.Node {
	if len(conditional) == 0 {
		return nil
	}
	out := tree.Obj()
	for _, f := range fields {
		others := slices.DeleteFunc(slices.Clone(conditional), func(p string) bool { return p == f.param })
		if len(others) > 0 {
			add(out, f.param, tree.Strs(others))
		}
	}
	if len(out.Fields) == 0 {
		return nil
	}
	return out
}
