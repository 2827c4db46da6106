package lint

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// branches checks the schemas inside oneOf, anyOf, allOf and not of n.
func (l *linter) branches(n *tree.Node, p place) {
	inner := p
	inner.branch = true
	if !p.branch {
		inner.outer = n
	}
	for _, junctor := range []string{"oneOf", "anyOf", "allOf"} {
		list := n.Get(junctor)
		if !list.IsList() || junctor == "anyOf" && isIntOrString(list) {
			continue
		}
		l.push(junctor)
		for i, it := range list.Items {
			l.pushIndex(i)
			if it.IsNull() {
				l.report(RuleKeywordNull, "", it.At(), "fill it in or remove it", "an entry of %s is empty", junctor)
			} else {
				l.schema(it, it.At(), inner)
			}
			l.pop()
		}
		l.pop()
	}
	if not := n.Field("not"); not != nil && not.Value.IsMap() {
		inner.negated = true
		l.push("not")
		l.schema(not.Value, not.Pos, inner)
		l.pop()
	}
}

// isIntOrString reports whether an anyOf is the only one in which Kubernetes allows
// types: integer or string.
func isIntOrString(anyOf *tree.Node) bool {
	return len(anyOf.Items) == 2 && anyOf.Items[0].Get("type").Str() == typeInteger && anyOf.Items[1].Get("type").Str() == typeString
}

// notInBranch are the keywords that describe a value rather than check it.
var notInBranch = []string{
	"type", "description", "title", "default", "nullable", "externalDocs", "additionalProperties",
	extPreserve, extIntOrString, extEmbedded, extListType, extListMapKeys, extMapType, extValidations,
}

func (l *linter) branchKeywords(n *tree.Node) {
	for i := range n.Fields {
		f := &n.Fields[i]
		if slices.Contains(notInBranch, f.Key) && !idleValue(f.Value) {
			l.report(RuleBranchKeyword, f.Key, f.Pos, "move it out, beside the oneOf, anyOf, allOf or not", "%s is not allowed inside oneOf, anyOf, allOf or not", f.Key)
		}
	}
}

// idleValue reports whether a keyword with the value n counts as absent.
func idleValue(n *tree.Node) bool {
	switch {
	case n.IsNull():
		return true
	case n.Kind == tree.Bool:
		return n.Text == "false"
	case n.IsString():
		return n.Text == ""
	}
	return n.IsList() && len(n.Items) == 0
}

// reasons are the allowed reasons of a validation.
var reasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// validations checks the CEL rules of n, except for the expressions themselves: see
// Options.Schemas.
func (l *linter) validations(n *tree.Node) {
	list := n.Get(extValidations)
	if !list.IsList() {
		return
	}
	l.push(extValidations)
	defer l.pop()
	for i, v := range list.Items {
		l.pushIndex(i)
		rule, message := v.Get("rule"), v.Get("message")
		text := strings.TrimSpace(message.Str())
		switch {
		case !v.IsMap():
			l.report(RuleCEL, "", v.At(), "write a map with rule and message", "a validation is %s, but must be a map", kindNames[kindOf(v)])
		case strings.TrimSpace(rule.Str()) == "":
			l.report(RuleCEL, "rule", fieldPosOr(v.Field("rule"), v.At()), "write the expression that must hold as rule", "a validation has no rule")
		case strings.ContainsAny(text, "\r\n"):
			l.report(RuleCEL, "message", message.At(), "write the message on one line", "the message of a validation has line breaks")
		case message.IsString() && message.Text != "" && text == "":
			l.report(RuleCEL, "message", message.At(), "write an error message, or remove message", "the message of a validation is blank")
		case text == "" && strings.ContainsAny(strings.TrimSpace(rule.Text), "\r\n"):
			l.report(RuleCEL, "message", rule.At(), "write a message", "a validation whose rule has several lines needs a message")
		case v.Get("messageExpression").IsString() && v.Get("messageExpression").Text != "" && strings.TrimSpace(v.Get("messageExpression").Text) == "":
			l.report(RuleCEL, "messageExpression", v.Get("messageExpression").At(), "write an expression, or remove messageExpression", "messageExpression is blank")
		case v.Get("reason").IsString() && !slices.Contains(reasons, v.Get("reason").Text):
			l.report(RuleCEL, "reason", v.Get("reason").At(), "write one of "+strings.Join(reasons, ", "), "%q is not a reason", shorten(v.Get("reason").Text))
		}
		l.pop()
	}
}

// extensions checks the other x-kubernetes- keywords of n.
func (l *linter) extensions(n *tree.Node) {
	t := n.Get("type").Str()
	if f := n.Field(extPreserve); f != nil && kindOf(f.Value) == tree.Bool && !f.Value.IsTrue() {
		l.report(RuleExtensionValue, f.Key, f.Value.At(), "remove it", "%s may only be true", f.Key)
	}
	if f := n.Field(extIntOrString); f != nil && f.Value.IsTrue() && n.Get(extPreserve).IsTrue() {
		l.report(RuleExtensionValue, f.Key, f.Pos, "keep one of the two", "%s and %s cannot be combined", extIntOrString, extPreserve)
	}
	if f := n.Field(extEmbedded); f != nil && f.Value.IsTrue() {
		l.needsType(f, t, typeObject)
		if n.Get("properties").Len() == 0 && !n.Get(extPreserve).IsTrue() {
			l.report(RuleExtensionValue, f.Key, f.Pos, "write "+extPreserve+": true", "%s without properties needs %s", extEmbedded, extPreserve)
		}
		for _, key := range []string{"apiVersion", "kind", "metadata"} {
			want := typeString
			if key == "metadata" {
				want = typeObject
			}
			if p := n.Get("properties", key, "type"); p.IsString() && p.Text != want {
				l.report(RuleExtensionValue, f.Key, p.At(), "write type: "+want, "%s of an embedded resource is of type %q, but is always of type %s", key, shorten(p.Text), want)
			}
		}
	}
	if f := n.Field(extMapType); f != nil && f.Value.IsString() {
		l.needsType(f, t, typeObject)
		l.allowed(f, "atomic", "granular")
	}
	if f := n.Field(extListType); f != nil && f.Value.IsString() {
		l.needsType(f, t, typeArray)
		l.allowed(f, "atomic", "set", "map")
	}
	l.listMap(n)
}

func (l *linter) needsType(f *tree.Field, got, want string) {
	if got != want {
		l.report(RuleExtensionValue, f.Key, f.Pos, "remove it, or write type: "+want, "%s is only for type %s", f.Key, want)
	}
}

func (l *linter) allowed(f *tree.Field, values ...string) {
	if !slices.Contains(values, f.Value.Text) {
		l.report(RuleExtensionValue, f.Key, f.Value.At(), "write "+strings.Join(values, " or "), "%s %q is not allowed", f.Key, shorten(f.Value.Text))
	}
}

// listMap checks a list whose items are identified by some of their fields.
func (l *linter) listMap(n *tree.Node) {
	keyed, kind := n.Field(extListMapKeys), n.Get(extListType)
	items := n.Get("items")
	switch {
	case keyed != nil && keyed.Value.Len() > 0 && kind.Str() != "map":
		l.report(RuleExtensionValue, keyed.Key, keyed.Pos, "write "+extListType+": map", "%s needs %s: map", extListMapKeys, extListType)
		return
	case (kind.Str() == "set" || kind.Str() == "map") && items.Get("nullable").IsTrue():
		l.report(RuleExtensionValue, extListType, n.Field(extListType).Pos, "remove nullable from the items, or use another list type", "%s: %s with items that may be null", extListType, kind.Text)
		return
	case kind.Str() == "set":
		if items.Get("type").Str() == typeObject && items.Get(extMapType).Str() != "atomic" {
			l.report(RuleExtensionValue, extListType, n.Field(extListType).Pos, "write "+extMapType+": atomic on the items, or another list type",
				"a set of objects needs atomic items")
		}
		return
	case kind.Str() != "map":
		return
	case keyed == nil || keyed.Value.Len() == 0:
		l.report(RuleExtensionValue, extListType, n.Field(extListType).Pos, "write "+extListMapKeys, "%s: map needs %s", extListType, extListMapKeys)
		return
	case items.IsMap() && items.Get("type").Str() != typeObject:
		l.report(RuleExtensionValue, extListType, n.Field(extListType).Pos, "use it for arrays of objects only", "%s: map needs items of type object", extListType)
		return
	}
	props, required := l.keysOf(items.Get("properties")), itemsOf(items.Get("required"))
	var before seen
	for _, k := range keyed.Value.List() {
		prop := props.get(k.Str())
		t := prop.Get("type").Str()
		switch {
		case prop == nil:
			l.report(RuleExtensionValue, extListMapKeys, k.At(), "name a property of the items", "%s names %q, which is not a property of the items", extListMapKeys, shorten(k.Scalar()))
		case before.add(k.Text):
			l.report(RuleExtensionValue, extListMapKeys, k.At(), "remove it", "%s names %q twice", extListMapKeys, shorten(k.Text))
		case t == typeObject || t == typeArray || prop.Get("nullable").IsTrue():
			l.report(RuleExtensionValue, extListMapKeys, k.At(), "name a property that is a string, number or boolean and never null",
				"%s names %q, which cannot identify items", extListMapKeys, shorten(k.Text))
		case !required.has(k.Text) && prop.Get("default").IsNull():
			l.report(RuleExtensionValue, extListMapKeys, k.At(), "add it to required of the items, or give it a default", "%s names %q, which is neither required nor has a default", extListMapKeys, shorten(k.Text))
		}
	}
}
