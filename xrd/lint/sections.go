package lint

import (
	"slices"

	"example.dev/ingestor/document/tree"
)

// given are the fields that Crossplane itself adds to spec or status.
type given struct {
	// always are replaced wherever the definition declares them.
	always []string
	// partly are replaced in the composite or in the claim, not in both.
	partly []string
}

func (g *given) has(name string) bool {
	return g != nil && (slices.Contains(g.always, name) || slices.Contains(g.partly, name))
}

var (
	legacySpec = &given{
		always: []string{
			"compositionRef", "compositionSelector", "compositionRevisionRef", "compositionRevisionSelector",
			"compositionUpdatePolicy", "writeConnectionSecretToRef",
		},
		partly: []string{"compositeDeletePolicy", "claimRef", "resourceRefs", "resourceRef", "publishConnectionDetailsTo"},
	}
	modernSpec   = &given{always: []string{"crossplane"}}
	legacyStatus = &given{always: []string{"conditions", "connectionDetails", "claimConditionTypes"}}
	modernStatus = &given{always: []string{"conditions"}}
)

func (l *linter) given(inSpec bool) *given {
	switch {
	case inSpec && l.modern:
		return modernSpec
	case inSpec:
		return legacySpec
	case l.modern:
		return modernStatus
	}
	return legacyStatus
}

// root checks the schema of a version. Crossplane does not use it as it is: it builds
// its own and copies the contents of spec and status, so the rules differ from those
// further inside.
func (l *linter) root(f *tree.Field, first bool) {
	n := f.Value
	l.form = form{}
	l.keywords(n, "")
	l.section(f, ofRoot, "the schema")
	l.validations(n)
	props := n.Get("properties")
	spec := props.Get("spec")
	if first && missing(n.Get("description")) && missing(spec.Get("description")) {
		l.report(RuleNoDescription, "description", f.Pos, "describe in one sentence what a developer gets", "the schema of the first version has no description")
	}
	l.push("properties")
	if spec.IsNull() {
		l.report(RuleNoSpecSchema, "spec", fieldPosOr(props.Field("spec"), fieldPosOr(n.Field("properties"), f.Pos)),
			"describe the fields of spec under properties.spec", "the schema does not describe spec, so the form has no fields")
	}
	if props.IsMap() {
		for i := range props.Fields {
			l.topLevel(&props.Fields[i])
		}
	}
	l.pop()
	l.formSummary()
}

// topLevel checks one top-level property of the object.
func (l *linter) topLevel(f *tree.Field) {
	l.push(f.Key)
	defer l.pop()
	if !f.Value.IsMap() {
		if f.Key != "spec" || !f.Value.IsNull() {
			l.notSchema(f.Value, f.Pos)
		}
		return
	}
	switch f.Key {
	case "spec":
		l.rebuilt(f, ofSpec)
	case "status":
		l.rebuilt(f, ofStatus)
	case "apiVersion", "kind":
	case "metadata":
		if f.Value.Get("properties").Len() > 0 {
			l.report(RuleIgnoredMetadata, "", f.Pos, "remove it, or check it with an x-kubernetes-validations rule",
				"metadata is described, but Crossplane only uses the maxLength of its name")
		}
	default:
		l.report(RuleIgnoredProperty, "", f.Pos, "move it into spec", "%s is beside spec, where Crossplane drops it", shorten(f.Key))
	}
}

// rebuilt checks spec or status.
func (l *linter) rebuilt(f *tree.Field, s section) {
	n, inSpec := f.Value, s == ofSpec
	given := l.given(inSpec)
	p := place{inSpec: inSpec, given: given}
	about := l.keywords(n, "")
	l.section(f, s, f.Key)
	l.validations(n)
	l.members(n, f.Pos, p, about)
	props := n.Get("properties")
	if inSpec && props.Len() == 0 && !n.Get(extPreserve).IsTrue() {
		l.report(RuleEmptySpec, "", f.Pos, "ignore this if there is nothing to configure", "spec has no properties, so the form has no fields")
	}
	l.children(n, p, about)
}

// section checks what applies to the schema itself, spec and status: the type is fixed,
// and some keywords are lost.
func (l *linter) section(f *tree.Field, s section, name string) {
	n := f.Value
	switch t := n.Get("type"); {
	case missing(t):
		l.report(RuleSectionType, "type", fieldPosOr(n.Field("type"), f.Pos), "write type: object", "%s has no type; Crossplane assumes object", name)
	case t.IsString() && t.Text != typeObject:
		l.report(RuleSectionTypeWrong, "type", t.At(), "write type: object", "%s is of type %q, but must be an object", name, shorten(t.Text))
	}
	for i := range n.Fields {
		k := &n.Fields[i]
		if keywords[k.Key].lost&s != 0 && !idleValue(k.Value) {
			l.report(RuleIgnoredKeyword, k.Key, k.Pos, "move it to a property inside, write an x-kubernetes-validations rule, or remove it",
				"Crossplane ignores %s on %s", k.Key, name)
		}
	}
}

// children checks the schemas inside n.
func (l *linter) children(n *tree.Node, p place, about group) {
	if about&aboutMembers != 0 {
		if props := n.Get("properties"); props.IsMap() {
			l.push("properties")
			l.properties(n, props, p)
			l.pop()
		}
		if more := n.Field("additionalProperties"); more != nil && more.Value.IsMap() {
			l.child(more, p, nil)
		}
	}
	if about&aboutItems != 0 {
		if items := n.Field("items"); items.Value.IsMap() {
			l.child(items, p, p.outer.Get("items"))
		}
	}
	if about&aboutBranches != 0 {
		l.branches(n, p)
	}
}

// child checks the schema of a keyword such as items.
func (l *linter) child(f *tree.Field, p place, outer *tree.Node) {
	p.outer, p.given = outer, nil
	l.push(f.Key)
	l.schema(f.Value, f.Pos, p)
	l.pop()
}

// properties checks the properties of n.
func (l *linter) properties(n, props *tree.Node, p place) {
	inner := p
	inner.given = nil
	outer := l.keysOf(p.outer.Get("properties"))
	var required keys
	for i := range props.Fields {
		f := &props.Fields[i]
		l.push(f.Key)
		if p.branch {
			inner.outer = outer.get(f.Key)
			switch {
			case f.Key == "metadata":
				l.report(RuleBranchKeyword, "", f.Pos, "write an x-kubernetes-validations rule", "metadata is not allowed inside oneOf, anyOf, allOf or not")
			case inner.outer == nil && !p.given.has(f.Key):
				l.report(RuleBranchProperty, "", f.Pos, "declare it in the outer properties as well, with its type",
					"%s is declared only inside oneOf, anyOf, allOf or not, so Kubernetes drops it", shorten(f.Key))
			}
		} else if p.given.has(f.Key) {
			l.report(RuleInjected, "", f.Pos, "remove it", "Crossplane adds %s itself and replaces this declaration", f.Key)
			if slices.Contains(p.given.always, f.Key) {
				l.pop()
				continue
			}
		} else if p.inSpec {
			l.formField(f)
		}
		if f.Value.Get("x-ui-hidden").IsTrue() && !f.Value.Has("default") {
			if required.n == nil {
				required = itemsOf(n.Get("required"))
			}
			if required.has(f.Key) {
				l.report(RuleUIHidden, "x-ui-hidden", f.Value.Field("x-ui-hidden").Pos, "give it a default, or show it",
					"%s is required, has no default and is hidden, so the form cannot be submitted", shorten(f.Key))
			}
		}
		l.schema(f.Value, f.Pos, inner)
		l.pop()
	}
}

// formField counts a property of the form.
func (l *linter) formField(f *tree.Field) {
	l.form.properties++
	if missing(f.Value.Get("description")) {
		if l.form.undescribed++; l.form.undescribed == 1 {
			l.form.first, l.form.firstPos = l.fieldPath(), f.Pos
		}
	}
}

// formSummary reports the counts of a whole version, as one finding each: a finding per
// property would hide the others.
func (l *linter) formSummary() {
	c := &l.form
	if c.undescribed > 0 {
		l.report(RuleUndescribed, "", c.firstPos, "describe each property; the form shows the description as help",
			"%d of %d properties have no description; the first is %s", c.undescribed, c.properties, c.first)
	}
}

// fieldPath returns the current path as a path of values, such as spec.nodes.size: the
// schema path without its keywords.
func (l *linter) fieldPath() string {
	var fields []step
	start := slices.IndexFunc(l.path, func(s step) bool { return s.key == "openAPIV3Schema" })
	for i := start + 1; i < len(l.path); i++ {
		switch l.path[i].key {
		case "properties":
			if i++; i < len(l.path) {
				fields = append(fields, l.path[i])
			}
		case "items":
			fields = append(fields, step{key: "[]", index: -1})
		default:
			fields = append(fields, step{key: "*", index: -1})
		}
	}
	return fieldsText(fields)
}
