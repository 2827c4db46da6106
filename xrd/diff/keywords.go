package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// patterns compares pattern and format.
func (w *walk) patterns(o, n *extv1.JSONSchemaProps, p place) {
	if o.Pattern != n.Pattern {
		ch := Change{Old: o.Pattern, New: n.Pattern}
		switch {
		case n.Pattern == "":
			ch.Message = "pattern removed"
			w.tell(RuleLoosened, false, p, "pattern", ch)
		case o.Pattern == "":
			ch.Message = fmt.Sprintf("pattern %s added", n.Pattern)
			w.tell(RulePattern, true, p, "pattern", ch)
		default:
			ch.Message = fmt.Sprintf("pattern changed from %s to %s", o.Pattern, n.Pattern)
			w.tell(RulePattern, true, p, "pattern", ch)
		}
	}
	if o.Format == n.Format {
		return
	}
	ch := Change{Message: fmt.Sprintf("format changed from %s to %s", orNone(o.Format), orNone(n.Format)), Old: o.Format, New: n.Format}
	if after := checkedFormat(n); after == "" || after == checkedFormat(o) {
		w.tell(RuleLoosened, n.Format != "", p, "format", ch)
		return
	}
	w.tell(RulePattern, true, p, "format", ch)
}

// checkedFormat returns the format of a schema if an API server checks it.
func checkedFormat(s *extv1.JSONSchemaProps) string {
	checked := spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format}}
	if s.Type != "" {
		checked.Type = spec.StringOrArray{s.Type}
	}
	if err := validation.StripUnsupportedFormatsPostProcess(&checked); err != nil || checked.Format == "password" {
		return ""
	}
	return checked.Format
}

// validations compares validation rules. A rule is known by its expression.
func (w *walk) validations(o, n *extv1.JSONSchemaProps, p place) {
	const key = "x-kubernetes-validations"
	find := func(in extv1.ValidationRules, rule string) *extv1.ValidationRule {
		i := slices.IndexFunc(in, func(r extv1.ValidationRule) bool { return strings.TrimSpace(r.Rule) == strings.TrimSpace(rule) })
		if i < 0 {
			return nil
		}
		return &in[i]
	}
	for i := range n.XValidations {
		after := &n.XValidations[i]
		before := find(o.XValidations, after.Rule)
		switch {
		case before == nil && updatesOnly(after):
			w.tell(RuleUpdates, true, p, key, Change{Message: "validation rule may refuse updates: " + short([]byte(cmp.Or(after.Message, after.Rule))), New: short([]byte(after.Rule))})
		case before == nil:
			w.tell(RuleValidation, true, p, key, Change{Message: "validation rule may refuse objects: " + short([]byte(cmp.Or(after.Message, after.Rule))), New: short([]byte(after.Rule))})
		case updatesOnly(before) && !updatesOnly(after):
			w.tell(RuleValidation, true, p, key, Change{Message: "validation rule applied to updates only, and now may refuse objects: " + short([]byte(after.Rule)), New: short([]byte(after.Rule))})
		case !updatesOnly(before) && updatesOnly(after):
			w.tell(RuleLoosened, true, p, key, Change{Message: "validation rule applies to updates only: " + short([]byte(after.Rule)), New: short([]byte(after.Rule))})
		case !equality.Semantic.DeepEqual(before, after):
			w.tell(RuleText, true, p, key, Change{Message: "text of a validation rule changed", Old: short([]byte(before.Message)), New: short([]byte(after.Message))})
		}
	}
	for i := range o.XValidations {
		if before := &o.XValidations[i]; find(n.XValidations, before.Rule) == nil {
			w.tell(RuleLoosened, false, p, key, Change{Message: "validation rule removed: " + short([]byte(cmp.Or(before.Message, before.Rule))), Old: short([]byte(before.Rule))})
		}
	}
}

// rulesParser parses validation rules. It expands no macros: their arguments are parsed.
var rulesParser = func() *parser.Parser {
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true))
	if err != nil {
		// The options have no input: they work always, or never.
		panic(fmt.Sprintf("cannot create a parser of validation rules: %v", err))
	}
	return p
}()

// updatesOnly reports whether an API server evaluates a rule only when an object is updated:
// it reads the old value, which need not be there otherwise.
func updatesOnly(r *extv1.ValidationRule) bool {
	const old = "oldSelf"
	if r.OptionalOldSelf != nil && *r.OptionalOldSelf || !strings.Contains(r.Rule, old) {
		return false
	}
	parsed, errs := rulesParser.Parse(common.NewTextSource(r.Rule))
	if len(errs.GetErrors()) > 0 {
		return false
	}
	found := false
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == old
	}))
	return found
}

// branches compares oneOf, anyOf, allOf and not.
func (w *walk) branches(o, n *extv1.JSONSchemaProps, p place) {
	for _, x := range []struct {
		name          string
		before, after any
		none, all     bool
	}{
		{"allOf", o.AllOf, n.AllOf, len(n.AllOf) == 0, len(o.AllOf) == 0},
		{"anyOf", o.AnyOf, n.AnyOf, len(n.AnyOf) == 0, len(o.AnyOf) == 0},
		{"oneOf", o.OneOf, n.OneOf, len(n.OneOf) == 0, len(o.OneOf) == 0},
		{"not", o.Not, n.Not, n.Not == nil, o.Not == nil},
	} {
		if x.none && x.all || equality.Semantic.DeepEqual(x.before, x.after) {
			continue
		}
		ch := Change{Old: shortValue(x.before), New: shortValue(x.after)}
		switch {
		case x.none:
			ch.Message = x.name + " removed"
			w.tell(RuleLoosened, false, p, x.name, ch)
		case x.all:
			ch.Message = x.name + " added: it may refuse objects"
			w.tell(RuleBranches, true, p, x.name, ch)
		default:
			ch.Message = x.name + " changed: it may refuse objects"
			w.tell(RuleBranches, true, p, x.name, ch)
		}
	}
}

func shortValue(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return short(raw)
}

// lists compares how entries of lists and maps are identified and merged.
func (w *walk) lists(o, n *extv1.JSONSchemaProps, p place) {
	before, after := listType(o), listType(n)
	ch := Change{Message: fmt.Sprintf("list type changed from %s to %s", before, after), Old: before, New: after}
	switch {
	case before == after:
	case after == atomic || after == granular:
		w.tell(RuleMerge, true, p, "x-kubernetes-list-type", ch)
	default:
		w.tell(RuleListType, true, p, "x-kubernetes-list-type", ch)
	}
	before, after = mapType(o), mapType(n)
	if before != after {
		w.tell(RuleMerge, true, p, "x-kubernetes-map-type", Change{Message: fmt.Sprintf("map type changed from %s to %s", before, after), Old: before, New: after})
	}
}

// The ways in which lists and maps are merged by default.
const (
	atomic   = "atomic"
	granular = "granular"
)

// listType returns how entries of a list are identified; for a map, with its keys.
func listType(s *extv1.JSONSchemaProps) string {
	if s.XListType == nil {
		return atomic
	}
	if *s.XListType != "map" {
		return *s.XListType
	}
	return "map by " + strings.Join(slices.Sorted(slices.Values(s.XListMapKeys)), ", ")
}

func mapType(s *extv1.JSONSchemaProps) string {
	if s.XMapType == nil {
		return granular
	}
	return *s.XMapType
}

// nulls compares nullable.
func (w *walk) nulls(o, n *extv1.JSONSchemaProps, p place) {
	switch {
	case o.Nullable && !n.Nullable:
		w.tell(RuleNull, false, p, "nullable", Change{Message: "null is no longer accepted"})
	case !o.Nullable && n.Nullable:
		w.tell(RuleLoosened, true, p, "nullable", Change{Message: "null is accepted"})
	}
}

// unknown compares whether fields without a schema are kept.
func (w *walk) unknown(o, n *extv1.JSONSchemaProps, p place) {
	const key = "x-kubernetes-preserve-unknown-fields"
	switch {
	case keepsUnknown(o) && !keepsUnknown(n) && n.AdditionalProperties != nil:
		w.tell(RuleUnknown, true, p, "additionalProperties", Change{Message: "fields of any type were kept, and now must have the schema of additionalProperties"})
	case keepsUnknown(o) && !keepsUnknown(n):
		w.tell(RuleUnknown, false, p, key, Change{Message: "unknown fields are no longer kept"})
	case !keepsUnknown(o) && keepsUnknown(n):
		w.tell(RuleLoosened, true, p, key, Change{Message: "unknown fields are kept"})
	}
	switch {
	case entries(o) != nil && n.AdditionalProperties == nil && !keepsUnknown(n):
		w.tell(RuleUnknown, false, p, "additionalProperties", Change{Message: "entries with any name are no longer kept"})
	case o.AdditionalProperties == nil && !keepsUnknown(o) && n.AdditionalProperties != nil:
		w.tell(RuleLoosened, true, p, "additionalProperties", Change{Message: "entries with any name are kept"})
	}
}

// acceptsAll reports whether a schema accepts and keeps any value.
func acceptsAll(s *extv1.JSONSchemaProps) bool {
	rest := own(s)
	rest.Title, rest.Description, rest.Default, rest.Example, rest.ExternalDocs, rest.Nullable, rest.XPreserveUnknownFields = "", "", nil, nil, nil, false, nil
	return keepsUnknown(s) && len(s.Properties) == 0 && s.Items == nil && equality.Semantic.DeepEqual(rest, &extv1.JSONSchemaProps{})
}

// keepsUnknown reports whether fields without a schema are kept and not checked.
func keepsUnknown(s *extv1.JSONSchemaProps) bool {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		return true
	}
	return s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Allows
}
