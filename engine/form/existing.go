package form

import (
	"slices"

	"example.dev/ingestor/document/tree"
)

// The parameters of a delete form besides those that identify the resource.
const (
	ParamConfirm     = "confirm"
	ParamPropagation = "propagation"
)

// Existing describes forms for an existing resource. They are derived from its create
// form, regardless of who made that form.
type Existing struct {
	// Kind is the kind of the resource.
	Kind string
	// Pages are the pages of the create form; Manifest is the manifest of that form.
	Pages, Manifest *tree.Node
	// Fixed is true if nothing in the spec can be changed.
	Fixed bool
}

// Update returns the pages for updating the resource. A field that is left empty stays
// unchanged. Therefore only the fields that identify the resource are required, and
// there are no defaults. Immutable fields are read-only.
func (x Existing) Update() *tree.Node {
	out := tree.Arr()
	where := x.property(ParamCluster)
	for _, page := range x.Pages.List() {
		if page.Get("properties").Has(ParamDelivery) {
			out.Items = append(out.Items, page)
			continue
		}
		if page = x.updatePage(page); page != nil {
			out.Items = append(out.Items, page)
		}
	}
	if len(out.Items) == 0 || out.Items[0].Get("properties").Has(ParamDelivery) {
		out.Items = slices.Insert(out.Items, 0, tree.Obj(tree.F("title", tree.Str(x.Kind)), tree.F("properties", tree.Obj())))
	}
	first := out.Items[0]
	props := first.Get("properties")
	if where != nil {
		props.Set(ParamCluster, x.locating(ParamCluster, where))
		first.Set("required", tree.Strs(append(first.Get("required").Strings(), ParamCluster)))
	}
	props.Set(ParamObserved, tree.Obj(
		tree.F("title", tree.Str("Observed state")),
		tree.F("description", tree.Str("The state of the "+x.Kind+" that this form was filled from")),
		tree.F("type", typeNodes["string"]),
		tree.F("ui:widget", tree.Str("hidden")),
	))
	return out
}

// updatePage returns a page for updating the fields of page; nil if no fields remain.
func (x Existing) updatePage(page *tree.Node) *tree.Node {
	names := x.naming()
	props, required := tree.Obj(), []string(nil)
	lift(page, func(name string, schema *tree.Node) {
		switch {
		case name == ParamCluster || props.Has(name):
		case slices.Contains(names, name):
			required = append(required, name)
			props.Set(name, x.locating(name, schema))
		default:
			schema = changeable(schema)
			if x.Fixed && x.inSpec(name) {
				schema = shown(schema)
			}
			props.Set(name, schema)
		}
	})
	if len(props.Fields) == 0 && page.Get("properties").Len() > 0 {
		return nil
	}
	out := tree.Obj(tree.F("title", page.Get("title")), tree.F("description", page.Get("description")))
	if len(required) > 0 {
		add(out, "required", tree.Strs(required))
	}
	add(out, "properties", props)
	return out
}

// Delete returns the pages for deleting the resource.
func (x Existing) Delete() *tree.Node {
	props, required := tree.Obj(), []string(nil)
	for _, name := range append(x.naming(), ParamCluster) {
		if schema := x.property(name); schema != nil {
			required = append(required, name)
			props.Set(name, x.locating(name, schema))
		}
	}
	props.Set(ParamConfirm, tree.Obj(
		tree.F("title", tree.Str("I understand that all objects it composes are deleted too")),
		tree.F("type", typeNodes["boolean"]),
		tree.F("const", yes),
	))
	props.Set(ParamPropagation, tree.Obj(
		tree.F("title", tree.Str("Propagation")),
		tree.F("description", tree.Str("When the objects that the "+x.Kind+" composes are deleted")),
		tree.F("type", typeNodes["string"]),
		tree.F("enum", tree.Strs([]string{"background", "foreground", "orphan"})),
		tree.F("enumNames", tree.Strs([]string{"Background: after the resource", "Foreground: before the resource", "Orphan: not at all"})),
		tree.F("default", tree.Str("background")),
	))
	out := tree.Arr(tree.Obj(
		tree.F("title", tree.Str("Delete "+x.Kind)),
		tree.F("required", tree.Strs(append(required, ParamConfirm))),
		tree.F("properties", props),
	))
	for _, page := range x.Pages.List() {
		if page.Get("properties").Has(ParamDelivery) {
			out.Items = append(out.Items, page)
		}
	}
	return out
}

// naming returns the parameters that identify the resource.
func (x Existing) naming() []string {
	var out []string
	for _, key := range []string{"name", "namespace"} {
		for _, name := range parametersIn(x.Manifest.Get("metadata", key).Str()) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// inSpec reports whether a parameter is used in the spec.
func (x Existing) inSpec(param string) bool {
	var within func(n *tree.Node) bool
	within = func(n *tree.Node) bool {
		switch {
		case n.IsString():
			return slices.Contains(parametersIn(n.Text), param)
		case n.IsMap():
			return slices.ContainsFunc(n.Fields, func(f tree.Field) bool { return within(f.Value) })
		}
		return slices.ContainsFunc(n.List(), within)
	}
	return within(x.Manifest.Get("spec"))
}

// property returns the schema of a parameter; nil if no page has it.
func (x Existing) property(name string) *tree.Node {
	var found *tree.Node
	for _, page := range x.Pages.List() {
		lift(page, func(n string, schema *tree.Node) {
			if n == name && found == nil {
				found = schema
			}
		})
	}
	return found
}

// locating returns the schema of a parameter that identifies the resource: without a
// default, and described as the location of an existing resource.
func (x Existing) locating(name string, schema *tree.Node) *tree.Node {
	out := without(schema, "default")
	switch name {
	case paramNamespace:
		out.Set("description", tree.Str("Namespace the "+x.Kind+" is in"))
	case ParamCluster:
		out.Set("description", tree.Str("Cluster the "+x.Kind+" is in"))
	}
	return out
}

// lift calls yield for each parameter of a page, including conditional ones.
func lift(page *tree.Node, yield func(name string, schema *tree.Node)) {
	if !page.IsMap() {
		return
	}
	if props := page.Get("properties"); props.IsMap() {
		for _, f := range props.Fields {
			yield(f.Key, f.Value)
		}
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range page.Get(key).List() {
			lift(branch, yield)
		}
	}
	for _, key := range [...]string{"then", "else"} {
		lift(page.Get(key), yield)
	}
	if dependencies := page.Get("dependencies"); dependencies.IsMap() {
		for _, f := range dependencies.Fields {
			lift(f.Value, yield)
		}
	}
}

// changeable returns a schema for a value that may be left unchanged: without defaults,
// and read-only if immutable. Items of lists and values of maps are new when the user
// adds them, so their schemas stay as they are.
func changeable(s *tree.Node) *tree.Node {
	if !s.IsMap() {
		return s
	}
	// Empty means unchanged here, not what it means for a new resource.
	out := without(s, "default", "ui:placeholder")
	if s.Get("ui:options", "immutable").IsTrue() {
		return shown(out)
	}
	props := s.Get("properties")
	if !props.IsMap() {
		return out
	}
	out.Set("properties", changeableAll(props))
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		branches := s.Get(key)
		if !branches.IsList() {
			continue
		}
		all := tree.Arr()
		for _, b := range branches.Items {
			// The required list of a branch distinguishes it from the others, so keep it.
			if own := b.Get("properties"); own.IsMap() {
				b = without(b)
				b.Set("properties", changeableAll(own))
			}
			all.Items = append(all.Items, b)
		}
		out.Set(key, all)
	}
	out.Delete("required")
	var required, conditional []string
	for _, name := range s.Get("required").Strings() {
		switch p := props.Get(name); {
		case p.Has("default"):
			// The cluster applies the default.
		case typeOf(p) == "object":
			// A browser would create the object by itself.
			conditional = append(conditional, name)
		default:
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		out.Set("required", tree.Strs(required))
	}
	touched(out, props, conditional)
	return out
}

func changeableAll(props *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range props.Fields {
		out.Fields = append(out.Fields, tree.F(f.Key, changeable(f.Value)))
	}
	return out
}

// touched requires the conditional fields of an object as soon as any other field is
// present.
func touched(out, props *tree.Node, conditional []string) {
	if len(conditional) == 0 {
		return
	}
	all := make([]field, 0, len(props.Fields))
	for _, f := range props.Fields {
		all = append(all, field{param: f.Key})
	}
	more := onceTouched(all, conditional)
	if more == nil {
		return
	}
	conditions := without(out.Get("dependencies"))
	for _, f := range more.Fields {
		switch there := conditions.Get(f.Key); {
		case there == nil:
			conditions.Set(f.Key, f.Value)
		case there.IsList():
			conditions.Set(f.Key, tree.Strs(unique(append(there.Strings(), f.Value.Strings()...))))
		}
	}
	out.Set("dependencies", conditions)
}

// shown returns a read-only copy of a schema.
func shown(s *tree.Node) *tree.Node {
	out := without(s)
	out.Set("readOnly", yes)
	out.Set("ui:readonly", yes)
	return out
}

// without returns a shallow copy of an object without some keys.
func without(n *tree.Node, keys ...string) *tree.Node {
	out := tree.Obj()
	if n == nil {
		return out
	}
	for _, f := range n.Fields {
		if !slices.Contains(keys, f.Key) {
			out.Fields = append(out.Fields, tree.F(f.Key, f.Value))
		}
	}
	return out
}
