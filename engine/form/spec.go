package form

import (
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// specPage compiles the fields of spec. It returns the page, nil if there is nothing to
// ask, and the manifest's spec.
func (c *compiler) specPage() (page, manifest *tree.Node) {
	spec := c.version.Spec()
	page = tree.Obj(tree.F("title", tree.Str(c.target.Kind)))
	props := spec.Get("properties")
	if !props.IsMap() || len(props.Fields) == 0 {
		return c.openSpec(page, spec)
	}
	if len(props.Fields) > maxProperties {
		c.deep = append(c.deep, c.where())
		return c.textSpec(page, spec)
	}
	c.settleDepth(spec)
	c.large, c.room = isLarge(spec), visibleMost
	fields := c.fields(spec, c.injected)
	if spec.Get("x-kubernetes-preserve-unknown-fields").IsTrue() {
		c.note(RuleOpen, spec.Pos, "spec accepts undeclared fields; the form has a YAML field for those", "declare the fields that developers should fill in")
		return c.objectSpec(page, spec, fields)
	}
	if len(fields) == 0 {
		c.state(page, spec)
		if !page.Has("description") {
			return nil, tree.Obj()
		}
		add(page, "properties", tree.Obj())
		return page, tree.Obj()
	}
	for _, r := range spec.Get("required").List() {
		if r.IsString() && c.injected(r.Text) {
			c.note(RuleMachinery, r.Pos, "field "+strconv.Quote(r.Text)+" is required, but Crossplane sets it and the form has no field for it", "do not require it")
		}
	}
	manifest = tree.Obj()
	inner, prefix, holder, quiet := manifest, []string(nil), spec, false
	if wrapper := loneWrapper(fields); wrapper != nil {
		holder = wrapper.schema
		c.path = append(c.path, wrapper.key)
		// A wrapper without required answers is as optional as its schema says.
		quiet = !wrapper.required && !asks(holder)
		fields = c.fields(holder, nil)
		inner, prefix = tree.Obj(), []string{wrapper.key}
		add(manifest, wrapper.key, inner)
	}
	c.rename(fields)
	c.state(page, spec, holder)
	if quiet {
		c.untouched++
	}
	c.properties(page, holder, fields, len(prefix))
	if len(prefix) > 0 {
		c.rules(page, spec.Get("x-kubernetes-validations"), prefix, fields)
	}
	c.rules(page, c.version.Schema.Get("x-kubernetes-validations"), append([]string{"spec"}, prefix...), fields)
	for _, f := range sortedByKey(fields) {
		add(inner, f.key, c.make.Str(expression(f.param)))
		c.out.Bindings = append(c.out.Bindings, Binding{Param: f.param, Path: append(slices.Clone(prefix), f.key)})
	}
	c.path, c.untouched = nil, 0
	return page, manifest
}

// openSpec returns the page for a schema that declares no fields: YAML text.
func (c *compiler) openSpec(page, spec *tree.Node) (*tree.Node, *tree.Node) {
	if spec != nil && spec.Get("additionalProperties").Len() == 0 && !spec.Get("x-kubernetes-preserve-unknown-fields").IsTrue() &&
		!c.version.Schema.Get("x-kubernetes-preserve-unknown-fields").IsTrue() && spec.Get("properties").IsMap() {
		// The author declared that there are no fields.
		return nil, tree.Obj()
	}
	at := c.version.Node.At()
	if spec != nil {
		at = spec.Pos
	}
	c.note(RuleNoSpec, at, "the schema of version "+c.version.Name+" declares no fields under spec, so the form has a single YAML field",
		"declare the fields under schema.openAPIV3Schema.properties.spec.properties")
	return c.textSpec(page, spec)
}

// textSpec returns the page on which the whole of spec is YAML text.
func (c *compiler) textSpec(page, spec *tree.Node) (*tree.Node, *tree.Node) {
	return c.objectSpec(page, spec, nil)
}

// objectSpec returns the page of a spec that accepts undeclared fields. One parameter is
// the whole of spec, so that declared fields, YAML text and Crossplane settings are one
// object.
func (c *compiler) objectSpec(page, spec *tree.Node, fields []field) (*tree.Node, *tree.Node) {
	field := tree.Obj(
		tree.F("title", tree.Str("Spec")),
		tree.F("description", tree.Str("The spec of the "+c.target.Kind)),
		tree.F("type", typeNodes["object"]),
	)
	if len(fields) > 0 {
		c.properties(field, spec, fields, 1)
	}
	if len(fields) == 0 {
		field.Set("description", tree.Str("The spec of the "+c.target.Kind+", as YAML"))
		add(field, "properties", tree.Obj())
	}
	c.nested(field)
	bare := field.Get("properties").Len() == 0
	if bare {
		field.Delete("properties")
	}
	add(field, "default", tree.Obj())
	add(field, "additionalProperties", yes)
	if bare {
		add(field, "ui:field", tree.Str(FieldYAML))
	}
	c.state(page, spec)
	// The API server would reject a resource without a spec, and browsers do not send an
	// empty object that is not required.
	add(page, "required", tree.Strs([]string{paramSpec}))
	add(page, "properties", tree.Obj(tree.F(paramSpec, field)))
	c.out.Bindings = append(c.out.Bindings, Binding{Param: paramSpec})
	return page, tree.Str(expression(paramSpec))
}

// state writes the page's description: the description of spec or of the wrapper in it,
// the messages of their validation rules, and an enforced Composition.
func (c *compiler) state(page *tree.Node, schemas ...*tree.Node) {
	var about string
	var lines []string
	for i, s := range slices.Compact(append([]*tree.Node{c.version.Schema}, schemas...)) {
		// The description of the whole schema is the Template's description.
		if first, _ := FirstSentence(s.Get("description").Str()); first != "" && i > 0 {
			about = first
		}
		if rules := s.Get("x-kubernetes-validations"); rules.IsList() {
			help, immutable := validations(rules)
			if help != "" {
				lines = append(lines, help)
			}
			c.out.Fixed = c.out.Fixed || immutable
		}
	}
	if about != "" {
		lines = slices.Insert(lines, 0, about)
	}
	if c.def.EnforcedComposition != "" && !c.opts.CompositionDetails {
		lines = append(lines, c.enforced())
	}
	if len(lines) > 0 {
		add(page, "description", tree.Str(strings.Join(lines, "\n")))
	}
}

// loneWrapper returns the only field of spec if it merely wraps the real fields.
func loneWrapper(fields []field) *field {
	if len(fields) != 1 {
		return nil
	}
	f := &fields[0]
	s := f.schema
	if props := s.Get("properties"); typeOf(s) != "object" || !props.IsMap() || len(props.Fields) == 0 || len(props.Fields) > maxProperties {
		return nil
	}
	if s.Get("nullable").IsTrue() || s.Get("x-kubernetes-preserve-unknown-fields").IsTrue() || s.Has("x-ui-field") || s.Get("x-ui-hidden").IsTrue() {
		return nil
	}
	if strings.HasSuffix(f.key, "Ref") || s.Get("default").Len() > 0 {
		// A reference is a single unit, and a default of the whole object applies to the
		// whole: both are absent if not set, which an empty object is not.
		return nil
	}
	return f
}

// rename assigns parameters their names in the form.
func (c *compiler) rename(fields []field) {
	taken := map[string]bool{}
	for i := range fields {
		taken[fields[i].key] = true
	}
	for i := range fields {
		f := &fields[i]
		for slices.Contains(ownParams, f.param) || f.param != f.key && taken[f.param] {
			f.param = "spec_" + f.param
		}
		if f.param == f.key {
			continue
		}
		taken[f.param] = true
		c.note(RuleRenamed, f.schema.Pos, "field "+strconv.Quote(f.key)+" is named "+strconv.Quote(f.param)+" in the form, because the form has its own field of that name", "")
	}
}

// sortedByKey returns fields in the order of the manifest, which is the order a cluster
// would show.
func sortedByKey(fields []field) []field {
	out := slices.Clone(fields)
	slices.SortFunc(out, func(a, b field) int { return strings.Compare(a.key, b.key) })
	return out
}
