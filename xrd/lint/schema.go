package lint

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

const (
	// deepest is the maximum depth to which a schema is checked. The decoder has a lower
	// limit; this one is for trees from other sources.
	deepest = 150
)

// form holds the counts for the form of one version.
type form struct {
	properties  int
	undescribed int
	// first is the first property without a description.
	first    string
	firstPos tree.Pos
}

// place is the context of a schema within a version.
type place struct {
	// branch is true inside oneOf, anyOf, allOf or not, where other rules apply; outer is
	// then the schema outside for the same value.
	branch bool
	outer  *tree.Node
	// negated is true inside not.
	negated bool
	// given are fields of the value that need not be declared.
	given *given
	// inSpec is true if the schema is part of the form.
	inSpec bool
	// nest counts nested schemas.
	nest int
}

// schema checks the schema n, whose position is pos, and all schemas inside it.
func (l *linter) schema(n *tree.Node, pos tree.Pos, p place) {
	if p.nest++; p.nest > deepest {
		return
	}
	if !n.IsMap() {
		l.notSchema(n, pos)
		return
	}
	if p.branch {
		about := l.keywords(n, "")
		l.branchKeywords(n)
		l.inside(n, pos, p, about)
		return
	}
	about := l.keywords(n, l.typed(n, pos))
	if about&aboutExtensions != 0 {
		l.extensions(n)
	}
	l.inside(n, pos, p, about)
}

// inside checks what the schema n says about values and their parts. Most schemas say
// little, so checks of unused topics are skipped.
func (l *linter) inside(n *tree.Node, pos tree.Pos, p place, about group) {
	l.members(n, pos, p, about)
	if about&aboutValues != 0 {
		l.values(n, p)
	}
	if about&aboutRules != 0 {
		l.validations(n)
	}
	l.children(n, p, about)
}

// notSchema reports a value in place of a schema. The usual reason is a keyword among
// the properties, so the message says so.
func (l *linter) notSchema(n *tree.Node, pos tree.Pos) {
	key := ""
	if len(l.path) > 1 && l.path[len(l.path)-2].key == "properties" {
		key = l.path[len(l.path)-1].key
	}
	if _, ok := keywords[key]; ok && !n.IsNull() {
		l.report(RuleNotSchema, "", pos, "move "+key+" one level up, beside properties", "%s is under properties, so it is read as a property", key)
		return
	}
	l.report(RuleNotSchema, "", pos, "write a map with at least a type", "a schema is %s, but must be a map", kindNames[kindOf(n)])
}

// typed checks the type of n and returns it, or "" if there is none.
func (l *linter) typed(n *tree.Node, pos tree.Pos) string {
	t := n.Get("type")
	switch {
	case missing(t):
		if !n.Get(extPreserve).IsTrue() && !n.Get(extIntOrString).IsTrue() {
			l.report(RuleNoType, "type", fieldPosOr(n.Field("type"), pos), typeFor(n), "the schema has no type")
		}
		return ""
	case !t.IsString():
		return ""
	case !slices.Contains(typeNames, t.Text):
		l.report(RuleUnknownType, "type", t.At(), l.typeHint(t.Text), "%q is not a type", shorten(t.Text))
		return ""
	}
	if t.Text == typeArray && n.Get("items").IsNull() {
		l.report(RuleNoItems, "items", fieldPosOr(n.Field("items"), pos), "write items with a type", "the array has no items")
	}
	return t.Text
}

// typeFor returns a hint with the probable type of a schema without one.
func typeFor(n *tree.Node) string {
	for i := range n.Fields {
		if of := keywords[n.Fields[i].Key].of; of != "" {
			return "write type: " + of
		}
	}
	if d := kindOf(n.Get("default")); d != tree.Null {
		return "write type: " + d.String()
	}
	if e := n.Get("enum").List(); len(e) > 0 {
		return "write type: " + kindOf(e[0]).String()
	}
	return "write type, or " + extPreserve + ": true if any value is allowed"
}

func (l *linter) typeHint(t string) string {
	lower := strings.ToLower(t)
	if right, ok := typeHints[lower]; ok {
		return "write " + right
	}
	if lower == "null" {
		return "write the type of the other values, and nullable: true"
	}
	if near := l.nearest(lower, typeNames); near != "" {
		return "write " + near
	}
	return "write one of " + strings.Join(typeNames, ", ")
}

// members checks the keywords about the properties of n.
func (l *linter) members(n *tree.Node, pos tree.Pos, p place, about group) {
	if about&aboutMembers == 0 {
		if !p.branch && p.given == nil && n.Get("type").Str() == typeObject {
			l.pruned(n, pos)
		}
		return
	}
	props, more := n.Get("properties"), n.Field("additionalProperties")
	if p.given == nil && more != nil && props.IsMap() && props.Len() > 0 && (more.Value.IsMap() || kindOf(more.Value) == tree.Bool && !more.Value.IsTrue()) {
		l.report(RulePropertiesAndMap, more.Key, more.Pos, "keep properties for fixed names, or additionalProperties for arbitrary ones",
			"additionalProperties and properties cannot be combined")
	}
	open := more != nil && (more.Value.IsMap() || more.Value.IsTrue()) || n.Get(extPreserve).IsTrue()
	if !p.branch && !open && p.given == nil && props.Len() == 0 && n.Get("type").Str() == typeObject && n.Get("required").Len() == 0 {
		l.pruned(n, pos)
	}
	l.required(n, p, open)
}

// pruned reports an object without properties, unless unknown fields are preserved.
func (l *linter) pruned(n *tree.Node, pos tree.Pos) {
	if n.Get(extPreserve).IsTrue() || n.Get(extEmbedded).IsTrue() {
		return
	}
	l.report(RulePruned, "", pos, "describe its properties, or write "+extPreserve+": true",
		"the object has no properties, so Kubernetes drops everything in it")
}

// required checks the names in required of n.
func (l *linter) required(n *tree.Node, p place, open bool) {
	req := n.Get("required")
	if !req.IsList() || len(req.Items) == 0 {
		return
	}
	if t := n.Get("type").Str(); t != "" && t != typeObject && p.given == nil {
		return
	}
	declared := l.keysOf(n.Get("properties"))
	outer := l.keysOf(p.outer.Get("properties"))
	rule, where := RuleRequiredAbsent, "properties"
	if p.branch {
		rule, where = RuleBranchRequired, "the outer properties"
		open = open || p.negated || p.outer.Get("additionalProperties").IsMap() || p.outer.Get(extPreserve).IsTrue()
	}
	var names seen
	l.push("required")
	defer l.pop()
	for i, it := range req.Items {
		if it.IsString() {
			twice := names.add(it.Text)
			if !twice && (open || declared.has(it.Text) || outer.has(it.Text) || p.given.has(it.Text)) {
				continue
			}
			l.pushIndex(i)
			if twice {
				l.report(RuleRequiredTwice, "", it.At(), "remove it, or write the property that was meant", "required names %q twice", shorten(it.Text))
			} else {
				l.report(rule, "", it.At(), l.requiredHint(it.Text, n), "required names %q, which is not among %s", shorten(it.Text), where)
			}
			l.pop()
			continue
		}
		l.pushIndex(i)
		if it.IsNull() {
			l.report(RuleKeywordNull, "", it.At(), "fill it in or remove it", "an entry of required is empty")
			l.pop()
			continue
		}
		l.report(RuleKeywordType, "", it.At(), "write names of properties", "an entry of required is %s, but must be a string", kindNames[kindOf(it)])
		l.pop()
	}
}

func (l *linter) requiredHint(name string, n *tree.Node) string {
	const few = 100
	if props := n.Get("properties"); props.IsMap() && props.Len() <= few {
		names := make([]string, 0, props.Len())
		for _, f := range props.Fields {
			names = append(names, f.Key)
		}
		if near := l.nearest(name, names); near != "" {
			return "did you mean " + shorten(near) + "?"
		}
	}
	return "declare the property, or remove the name"
}
