package entity

import (
	"fmt"
	"slices"

	"example.dev/ingestor/document/tree"
)

// required lists the spec fields that must be non-empty strings, for each kind whose
// spec has rules.
var required = map[string][]string{
	KindTemplate:  {"type"},
	KindAPI:       {"type", "lifecycle", "owner", "definition"},
	KindResource:  {"type", "owner"},
	KindComponent: {"type", "lifecycle", "owner"},
	KindSystem:    {"owner"},
	KindDomain:    {"owner"},
	KindLocation:  nil,
	KindGroup:     {"type"},
	KindUser:      nil,
}

func (c *checker) spec() {
	e := c.e
	fields, known := required[e.Kind]
	if e.Spec == nil && !known {
		return
	}
	if !e.Spec.IsMap() {
		c.report(RuleSpec, "spec", "spec is not a map", "give the entity a spec")
		return
	}
	if !known {
		return
	}
	for _, key := range fields {
		c.requiredText(key)
	}
	for i := range e.Spec.Fields {
		f := &e.Spec.Fields[i]
		if f.Value.Str() == "" && slices.Contains(fields, f.Key) {
			// Already reported as required.
			continue
		}
		c.specField(f)
	}
	switch e.Kind {
	case KindTemplate:
		c.steps(e.Spec.Get("steps"))
	case KindGroup:
		c.requiredList("children")
	case KindUser:
		c.requiredList("memberOf")
	case KindLocation:
		if e.Spec.Get("target").IsNull() && e.Spec.Get("targets").Len() == 0 {
			c.report(RuleTargets, "spec", "the Location has neither target nor targets", "list the files in spec.targets")
		}
	}
}

// requiredText checks a required string.
func (c *checker) requiredText(key string) {
	n := c.e.Spec.Get(key)
	if n.Str() != "" {
		return
	}
	message := "is missing"
	if n.IsString() {
		message = "is empty"
	}
	if n != nil && !n.IsString() {
		message = fmt.Sprintf("must be a string, found %s", n.Kind)
	}
	path := "spec." + key
	c.report(RuleRequired, path, fmt.Sprintf("%s %s, and kind %s requires it", path, message, c.e.Kind), "set "+path)
}

// requiredList checks that a required list is present; its type is checked with the
// other fields.
func (c *checker) requiredList(key string) {
	if c.e.Spec.Has(key) {
		return
	}
	path := "spec." + key
	c.report(RuleRequired, path, fmt.Sprintf("%s is missing, and kind %s requires it", path, c.e.Kind), "set "+path+", to an empty list if there are none")
}

// specField checks one field of the spec. Fields without rules are not checked.
func (c *checker) specField(f *tree.Field) {
	switch c.e.Kind {
	case KindGroup, KindUser:
		c.orgField(f)
		return
	}
	switch f.Key {
	case "type", "lifecycle":
		c.text(f.Value, field(f.Key))
	case "owner":
		c.ref(f.Value, field(f.Key), KindGroup)
	case "system":
		c.ref(f.Value, field(f.Key), KindSystem)
	case "domain", "subdomainOf":
		c.ref(f.Value, field(f.Key), KindDomain)
	case "subcomponentOf":
		c.ref(f.Value, field(f.Key), KindComponent)
	case "providesApis", "consumesApis", "implementsApi":
		c.refs(f, KindAPI)
	case "dependsOn", "dependencyOf":
		c.refs(f, "")
	}
	switch c.e.Kind {
	case KindTemplate:
		if f.Key == "parameters" {
			c.parameters(f.Value)
		}
	case KindLocation:
		switch f.Key {
		case "target":
			c.text(f.Value, field(f.Key))
		case "targets":
			c.targets(f.Value)
		}
	}
}

// orgField is specField for groups and users, whose specs share no field with the other
// kinds.
func (c *checker) orgField(f *tree.Field) {
	group := c.e.Kind == KindGroup
	switch {
	case group && f.Key == "type":
		c.text(f.Value, field(f.Key))
	case group && f.Key == "parent":
		c.ref(f.Value, field(f.Key), KindGroup)
	case group && f.Key == "children", !group && f.Key == "memberOf":
		c.refs(f, KindGroup)
	case group && f.Key == "members":
		c.refs(f, KindUser)
	}
}

// place is the position of a value in the spec. Its path is built only for a report, so
// that checking a valid value does not allocate.
type place struct {
	key string
	// index is -1 for the field itself.
	index int
}

func field(key string) place { return place{key, -1} }

func (p place) path() string {
	if p.index < 0 {
		return "spec." + p.key
	}
	return itemPath("spec."+p.key, p.index)
}

// text checks that n is a non-empty string.
func (c *checker) text(n *tree.Node, at place) {
	if n.Str() != "" {
		return
	}
	path := at.path()
	message := path + " is empty"
	if !n.IsString() {
		message = fmt.Sprintf("%s must be a string, found %s", path, kindOf(n))
	}
	c.report(RuleType, path, message, "remove it, or make it a non-empty string")
}

// ref checks an entity reference; defaultKind is the kind of a reference without a kind,
// empty if a kind is required.
func (c *checker) ref(n *tree.Node, at place, defaultKind string) {
	if n.Str() == "" {
		c.text(n, at)
		return
	}
	r, why := parseRef(n.Text, defaultKind, c.e.Metadata.Namespace)
	if why != "" {
		form := "[<kind>:][<namespace>/]<name>"
		if defaultKind == "" {
			form = "<kind>:[<namespace>/]<name>"
		}
		c.report(RuleRef, at.path(), fmt.Sprintf("%q is not a reference: %s", n.Text, why), "write it as "+form)
		return
	}
	if !r.canExist() {
		c.report(RuleRefImpossible, at.path(),
			fmt.Sprintf("reference %q cannot match any entity: a part is not a valid name", n.Text),
			"use the name of an entity, not its title")
	}
}

func (c *checker) refs(f *tree.Field, defaultKind string) {
	if !f.Value.IsList() {
		path := field(f.Key).path()
		c.report(RuleType, path, fmt.Sprintf("%s must be a list, found %s", path, kindOf(f.Value)), "make it a list of entity references")
		return
	}
	for i, it := range f.Value.Items {
		c.ref(it, place{f.Key, i}, defaultKind)
	}
}

func (c *checker) targets(n *tree.Node) {
	if !n.IsList() {
		c.report(RuleType, "spec.targets", fmt.Sprintf("spec.targets must be a list, found %s", kindOf(n)), "make it a list of strings, or use spec.target")
		return
	}
	for i, it := range n.Items {
		c.text(it, place{"targets", i})
	}
}

func (c *checker) steps(n *tree.Node) {
	if !n.IsList() || len(n.Items) == 0 {
		c.report(RuleSteps, "spec.steps", "the Template has no list of steps", "add at least one step with an action")
		return
	}
	for i, step := range n.Items {
		if !step.IsMap() {
			c.report(RuleSteps, itemPath("spec.steps", i), fmt.Sprintf("step %d must be a map, found %s", i+1, kindOf(step)), "give it an id, a name, an action and its input")
			continue
		}
		c.step(i, step)
	}
}

func (c *checker) step(i int, step *tree.Node) {
	if step.Get("action").Str() == "" {
		c.report(RuleStepAction, itemPath("spec.steps", i)+".action", fmt.Sprintf("step %d has no action", i+1), "name the action it runs, such as debug:log")
	}
	for _, f := range step.Fields {
		switch f.Key {
		case "id", "name":
			c.stepField(i, f, tree.String)
		case "input":
			c.stepField(i, f, tree.Map)
		}
	}
}

func (c *checker) stepField(i int, f tree.Field, want tree.Kind) {
	if f.Value != nil && f.Value.Kind == want {
		return
	}
	path := itemPath("spec.steps", i) + "." + f.Key
	c.report(RuleType, path, fmt.Sprintf("%s must be of type %s, found %s", path, want, kindOf(f.Value)), "remove it, or give it that type")
}

func (c *checker) parameters(n *tree.Node) {
	const hint = "make it a JSON Schema, or a list of them, one per page"
	if n.IsMap() {
		return
	}
	if !n.IsList() {
		c.report(RuleParameters, "spec.parameters", fmt.Sprintf("spec.parameters must be a map or a list of maps, found %s", kindOf(n)), hint)
		return
	}
	for i, page := range n.Items {
		if page.IsMap() {
			continue
		}
		path := itemPath("spec.parameters", i)
		c.report(RuleParameters, path, fmt.Sprintf("%s must be a map, found %s", path, kindOf(page)), hint)
	}
}

// kindOf returns the name of a value's kind for a message.
func kindOf(n *tree.Node) string {
	if n == nil {
		return "nothing"
	}
	return n.Kind.String()
}
