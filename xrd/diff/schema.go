package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.dev/ingestor/document/finding"
)

// walk compares the schemas of one version.
type walk struct {
	*comparison
	version string
	// older and newer are the indexes of the version in the definitions.
	older, newer int
	// unserved reports that the old definition does not serve the version, so that no
	// accepted object can be refused.
	unserved bool
}

// place is a place in a schema.
type place struct {
	// field is the path in objects, and steps the path in the schema.
	field string
	steps []string
	// required reports whether the field is required in the new schema.
	required bool
}

func (p place) property(name string, required bool) place {
	field := name
	switch {
	case strings.ContainsAny(name, ".[]"):
		field = p.field + "[" + name + "]"
	case p.field != "":
		field = p.field + "." + name
	}
	return place{field: field, steps: p.to("properties", name), required: required}
}

func (p place) inside(key string) place {
	return place{field: p.field + "[" + anyKey + "]", steps: p.to(key)}
}

// to returns the steps to a part of the schema at p.
func (p place) to(more ...string) []string { return append(slices.Clone(p.steps), more...) }

// tell reports a change of a keyword of the schema at p.
func (w *walk) tell(rule string, inNew bool, p place, keyword string, ch Change) {
	index := w.older
	if inNew {
		index = w.newer
	}
	steps := step(index, append([]string{"schema", "openAPIV3Schema"}, p.steps...)...)
	if keyword != "" {
		steps = append(steps, keyword)
	}
	ch.Version, ch.Field = w.version, p.field
	if w.unserved && rules[rule].Severity > finding.Info {
		rule = unservedRule(rule)
	}
	w.report(rule, w.either(inNew), steps, ch)
}

// unservedRule returns the rule for a change of a version that was not served. Only what the
// schema drops concerns objects: those that are stored in the version.
func unservedRule(rule string) string {
	if rule == RuleNoField || rule == RuleUnknown {
		return RuleUnservedField
	}
	return RuleUnservedSchema
}

// schema compares two schemas and those inside them.
func (w *walk) schema(o, n *extv1.JSONSchemaProps, p place) {
	if equality.Semantic.DeepEqual(o, n) {
		return
	}
	oldOwn, newOwn := own(o), own(n)
	broken := judge(oldOwn, newOwn)
	typed := w.types(o, n, broken[crdifyType], p)
	w.enum(o, n, broken[crdifyEnum], p)
	w.bounds(o, n, broken, p)
	w.required(o, n, broken[crdifyRequired], p)
	w.defaults(o, n, broken[crdifyDefault], p)
	w.patterns(o, n, p)
	w.validations(o, n, p)
	w.branches(o, n, p)
	w.lists(o, n, p)
	w.nulls(o, n, p)
	w.unhandled(oldOwn, newOwn, p)
	if !typed {
		// The schemas inside of another type are not comparable.
		return
	}
	w.unknown(o, n, p)
	w.properties(o, n, p)
	if o.Items != nil && n.Items != nil && o.Items.Schema != nil && n.Items.Schema != nil {
		w.schema(o.Items.Schema, n.Items.Schema, p.inside("items"))
	}
	if entries(o) != nil && entries(n) != nil {
		w.schema(entries(o), entries(n), p.inside("additionalProperties"))
	}
}

// own returns a copy of a schema without the schemas inside it.
func own(s *extv1.JSONSchemaProps) *extv1.JSONSchemaProps {
	c := *s
	c.Properties, c.Items, c.AdditionalProperties = nil, nil, nil
	return c.DeepCopy()
}

// entries returns the schema of the entries of a map, nil if there is none.
func entries(s *extv1.JSONSchemaProps) *extv1.JSONSchemaProps {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// types compares types, and reports whether the schemas inside are comparable.
func (w *walk) types(o, n *extv1.JSONSchemaProps, broken bool, p place) bool {
	before, after := typeOf(o), typeOf(n)
	if before == after {
		return true
	}
	ch := Change{Message: fmt.Sprintf("type changed from %s to %s", before, after), Old: before, New: after}
	wider := after == anything || before == "integer" && (after == "number" || after == intOrString) || before == "string" && after == intOrString
	switch {
	case wider:
		w.tell(RuleLoosened, true, p, "type", ch)
	case broken || o.XIntOrString != n.XIntOrString:
		w.tell(RuleType, true, p, "type", ch)
	}
	return false
}

// The names of types that are not written as one.
const (
	anything    = "anything"
	intOrString = "integer or string"
)

func typeOf(s *extv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return intOrString
	case s.Type == "":
		return anything
	}
	return s.Type
}

// bound is a bound of a schema: more is stricter for a minimum, less for a maximum.
type bound struct {
	name   string
	o, n   *float64
	lowest bool
}

func boundsOf(o, n *extv1.JSONSchemaProps) []bound {
	whole := func(i *int64) *float64 {
		if i == nil {
			return nil
		}
		return new(float64(*i))
	}
	return []bound{
		{"maximum", o.Maximum, n.Maximum, false}, {"minimum", o.Minimum, n.Minimum, true},
		{"maxLength", whole(o.MaxLength), whole(n.MaxLength), false}, {"minLength", whole(o.MinLength), whole(n.MinLength), true},
		{"maxItems", whole(o.MaxItems), whole(n.MaxItems), false}, {"minItems", whole(o.MinItems), whole(n.MinItems), true},
		{"maxProperties", whole(o.MaxProperties), whole(n.MaxProperties), false}, {"minProperties", whole(o.MinProperties), whole(n.MinProperties), true},
	}
}

func (w *walk) bounds(o, n *extv1.JSONSchemaProps, broken map[string]bool, p place) {
	for _, b := range boundsOf(o, n) {
		ch := Change{Old: number(b.o), New: number(b.n), Message: fmt.Sprintf("%s changed from %s to %s", b.name, orNone(number(b.o)), orNone(number(b.n)))}
		switch {
		case broken[b.name] && b.lowest && *b.n == 0 && b.name != "minimum":
			// No length is below zero.
		case broken[b.name]:
			w.tell(RuleBounds, true, p, b.name, ch)
		case ch.Old != ch.New:
			w.tell(RuleLoosened, b.n != nil, p, b.name, ch)
		}
	}
	for _, x := range []struct {
		name  string
		o, n  bool
		bound *float64
		// same reports whether the bound is the same: a change of it is reported already.
		same bool
	}{
		{"exclusiveMaximum", o.ExclusiveMaximum && o.Maximum != nil, n.ExclusiveMaximum && n.Maximum != nil, o.Maximum, number(o.Maximum) == number(n.Maximum)},
		{"exclusiveMinimum", o.ExclusiveMinimum && o.Minimum != nil, n.ExclusiveMinimum && n.Minimum != nil, o.Minimum, number(o.Minimum) == number(n.Minimum)},
	} {
		switch {
		case x.n && !x.o && x.same:
			w.tell(RuleBounds, true, p, x.name, Change{Message: fmt.Sprintf("%s: %s is no longer accepted", x.name, number(x.bound))})
		case x.o && !x.n:
			w.tell(RuleLoosened, false, p, x.name, Change{Message: x.name + " removed"})
		}
	}
	if before, after := number(o.MultipleOf), number(n.MultipleOf); before != after {
		ch := Change{Old: before, New: after, Message: fmt.Sprintf("multipleOf changed from %s to %s", orNone(before), orNone(after))}
		if n.MultipleOf == nil {
			w.tell(RuleLoosened, false, p, "multipleOf", ch)
		} else {
			w.tell(RuleBounds, true, p, "multipleOf", ch)
		}
	}
	if n.UniqueItems && !o.UniqueItems {
		w.tell(RuleListType, true, p, "uniqueItems", Change{Message: "entries must be unique"})
	}
}

func number(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

func (w *walk) required(o, n *extv1.JSONSchemaProps, broken bool, p place) {
	before, after := setOf(o.Required), setOf(n.Required)
	if broken {
		for _, name := range n.Required {
			if before[name] {
				continue
			}
			at, child := p.property(name, true), n.Properties[name]
			if child.Default != nil {
				w.tell(RuleRequiredSet, true, at, "", Change{Message: fmt.Sprintf("newly required; the default %s fills it in", short(child.Default.Raw)), New: short(child.Default.Raw)})
				continue
			}
			w.tell(RuleRequired, true, at, "", Change{Message: "newly required, without a default"})
		}
	}
	for _, name := range o.Required {
		if _, ok := n.Properties[name]; ok && !after[name] {
			w.tell(RuleLoosened, true, p.property(name, false), "", Change{Message: "no longer required"})
		}
	}
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func (w *walk) defaults(o, n *extv1.JSONSchemaProps, broken bool, p place) {
	if !broken || sameJSON(o.Default, n.Default) {
		return
	}
	switch {
	case o.Default == nil:
		w.tell(RuleDefaultAdded, true, p, "default", Change{Message: fmt.Sprintf("default %s added", short(n.Default.Raw)), New: short(n.Default.Raw)})
	case n.Default != nil:
		w.tell(RuleDefault, true, p, "default", Change{Message: fmt.Sprintf("default changed from %s to %s", short(o.Default.Raw), short(n.Default.Raw)), Old: short(o.Default.Raw), New: short(n.Default.Raw)})
	case p.required:
		w.tell(RuleRequired, false, p, "default", Change{Message: fmt.Sprintf("required, and its default %s is removed", short(o.Default.Raw)), Old: short(o.Default.Raw)})
	default:
		w.tell(RuleDefaultRemoved, false, p, "default", Change{Message: fmt.Sprintf("default %s removed", short(o.Default.Raw)), Old: short(o.Default.Raw)})
	}
}

// unhandled reports changes of keywords that no rule is about. Both schemas are without
// what the rules of crdify are about.
func (w *walk) unhandled(o, n *extv1.JSONSchemaProps, p place) {
	for _, s := range []*extv1.JSONSchemaProps{o, n} {
		s.Title, s.Example, s.ExternalDocs, s.Format, s.Pattern, s.Nullable, s.UniqueItems = "", nil, nil, "", "", false, false
		s.ExclusiveMaximum, s.ExclusiveMinimum, s.MultipleOf = false, false, nil
		s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil
		s.XIntOrString, s.XPreserveUnknownFields, s.XValidations = false, nil, nil
		s.XListType, s.XListMapKeys, s.XMapType = nil, nil, nil
	}
	if !equality.Semantic.DeepEqual(o, n) {
		w.tell(RuleOther, true, p, "", Change{Message: fmt.Sprintf("changed from %s to %s", shortSchema(o), shortSchema(n)), Old: shortSchema(o), New: shortSchema(n)})
	}
}

func shortSchema(s *extv1.JSONSchemaProps) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return "an invalid schema"
	}
	return short(raw)
}

// properties compares the fields of an object.
func (w *walk) properties(o, n *extv1.JSONSchemaProps, p place) {
	required := setOf(n.Required)
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		before := o.Properties[name]
		at := p.property(name, required[name])
		after, ok := n.Properties[name]
		switch {
		case ok:
			w.schema(&before, &after, at)
		case entries(n) != nil:
			w.schema(&before, entries(n), at)
		case keepsUnknown(n):
			w.tell(RuleFieldLoose, false, at, "", Change{Message: "field removed; its values are kept, but no longer checked", Old: typeOf(&before)})
		default:
			w.tell(RuleNoField, false, at, "", Change{Message: "field removed", Old: typeOf(&before)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if _, ok := o.Properties[name]; ok {
			continue
		}
		after := n.Properties[name]
		at := p.property(name, required[name])
		switch {
		case entries(o) != nil:
			w.schema(entries(o), &after, at)
		case keepsUnknown(o) && !acceptsAll(&after):
			w.tell(RuleFieldChecked, true, at, "", Change{Message: "field added where any value was kept", New: typeOf(&after)})
		case !at.required:
			w.tell(RuleFieldAdded, true, at, "", Change{Message: "optional field added", New: typeOf(&after)})
		}
		if after.Default != nil {
			w.tell(RuleDefaultAdded, true, at, "default", Change{Message: fmt.Sprintf("field added with default %s", short(after.Default.Raw)), New: short(after.Default.Raw)})
		}
	}
}
