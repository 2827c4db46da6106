package query

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/rest"
)

// maxNesting is how deep predicates may be nested.
const maxNesting = 20

// ParsePredicate parses a predicate object: fields with their conditions, or $all, $any or
// $not of other objects. It is JSON; an empty query and null pass everything.
func ParsePredicate(query []byte) (filter.Filter, error) {
	if len(query) == 0 || string(query) == "null" {
		return filter.Filter{}, nil
	}
	n, err := wire.Decoder{Depth: 4 * maxNesting}.Decode(query)
	if err != nil {
		return filter.Filter{}, rest.Input("Invalid query: %s", err)
	}
	if !n.IsMap() {
		return filter.Filter{}, rest.Input("Query must be an object")
	}
	p := predicates{budget: maxConditions}
	return p.object(n, 1)
}

// predicates parses predicates, as many as its budget allows.
type predicates struct{ budget int }

func (p *predicates) spend(n int) error {
	if p.budget -= n; p.budget < 0 {
		return TooComplex()
	}
	return nil
}

// object parses an object whose conditions must all hold.
func (p *predicates) object(n *tree.Node, depth int) (filter.Filter, error) {
	if depth > maxNesting {
		return filter.Filter{}, TooComplex()
	}
	if !n.IsMap() {
		return filter.Filter{}, rest.Input("Invalid query: %s where an object such as {\"kind\":\"component\"} is expected", n.Kind)
	}
	var conditions []filter.Filter
	for i := range n.Fields {
		f := &n.Fields[i]
		if !strings.HasPrefix(f.Key, "$") {
			c, err := p.field(f.Key, f.Value)
			if err != nil {
				return filter.Filter{}, err
			}
			conditions = append(conditions, c)
			continue
		}
		if len(n.Fields) > 1 {
			return filter.Filter{}, rest.Input("Invalid query: operator %s must be the only key of its object, wrap it in $all to combine it with others", rest.Short(f.Key))
		}
		return p.operator(f.Key, f.Value, depth)
	}
	return AllOf(conditions...), nil
}

func (p *predicates) operator(op string, n *tree.Node, depth int) (filter.Filter, error) {
	if err := p.spend(1); err != nil {
		return filter.Filter{}, err
	}
	switch op {
	case "$not":
		f, err := p.object(n, depth+1)
		return filter.Not(f), err
	case "$all", "$any":
	default:
		return filter.Filter{}, rest.Input("Invalid query: unknown operator %s (expected $all, $any or $not)", rest.Short(op))
	}
	if !n.IsList() {
		return filter.Filter{}, rest.Input("Invalid query: %s must be a list of objects", op)
	}
	var parts []filter.Filter
	for _, item := range n.Items {
		// An object without conditions would otherwise cost nothing.
		if item.Len() == 0 {
			if err := p.spend(1); err != nil {
				return filter.Filter{}, err
			}
		}
		f, err := p.object(item, depth+1)
		if err != nil {
			return filter.Filter{}, err
		}
		parts = append(parts, f)
	}
	if op == "$any" {
		return filter.Any(parts...), nil
	}
	return AllOf(parts...), nil
}

// field parses the condition on a field.
func (p *predicates) field(key string, n *tree.Node) (filter.Filter, error) {
	if key == "" {
		return filter.Filter{}, rest.Input("Invalid query: a field without a name")
	}
	if err := CheckKey("query", key); err != nil {
		return filter.Filter{}, err
	}
	if err := p.spend(1); err != nil {
		return filter.Filter{}, err
	}
	key = strings.ToLower(key)
	if v, ok := primitive(n); ok {
		return filter.In(key, v), rest.CheckText("query", v)
	}
	if n.Len() != 1 || !n.IsMap() {
		return filter.Filter{}, badValue(key)
	}
	switch op, v := n.Fields[0].Key, n.Fields[0].Value; op {
	case "$exists":
		if v.Kind != tree.Bool {
			return filter.Filter{}, rest.Input("Invalid query: $exists of field '%s' must be true or false", rest.Short(key))
		}
		if v.IsTrue() {
			return filter.Has(key), nil
		}
		return filter.Not(filter.Has(key)), nil
	case "$in":
		values, err := p.values(key, v)
		if len(values) == 0 {
			return filter.Filter{Op: filter.OpFalse}, err
		}
		return filter.In(key, values...), err
	case "$hasPrefix":
		if !v.IsString() {
			return filter.Filter{}, rest.Input("Invalid query: $hasPrefix of field '%s' must be a string", rest.Short(key))
		}
		return filter.Prefix(key, strings.ToLower(v.Text)), rest.CheckText("query", v.Text)
	case "$contains":
		return p.contains(key, v)
	}
	return filter.Filter{}, badValue(key)
}

func (p *predicates) values(key string, n *tree.Node) ([]string, error) {
	if !n.IsList() {
		return nil, rest.Input("Invalid query: $in of field '%s' must be a list", rest.Short(key))
	}
	if err := p.spend(n.Len()); err != nil {
		return nil, err
	}
	values := make([]string, 0, n.Len())
	for _, item := range n.Items {
		v, ok := primitive(item)
		if !ok {
			return nil, rest.Input("Invalid query: $in of field '%s' must be a list of strings, numbers and booleans", rest.Short(key))
		}
		if err := rest.CheckText("query", v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// contains parses the condition on an item of a list. Fields are indexed without the
// item they belong to, so that a query can have a condition on only one field of an
// item, or on the type and target of a relation.
func (p *predicates) contains(key string, n *tree.Node) (filter.Filter, error) {
	if v, ok := primitive(n); ok {
		return filter.In(key, v), rest.CheckText("query", v)
	}
	if n.IsMap() && key == "relations" {
		return p.relation(n)
	}
	if !n.IsMap() || n.Len() != 1 || strings.HasPrefix(n.Fields[0].Key, "$") {
		return filter.Filter{}, rest.Input("Invalid query: $contains of field '%s' must be a value, or an object with one field", rest.Short(key))
	}
	f, err := p.field(key+"."+n.Fields[0].Key, n.Fields[0].Value)
	if err == nil && f.Op == filter.OpNot {
		err = rest.Input("Invalid query: $contains of field '%s' cannot look for items without a field", rest.Short(key))
	}
	return f, err
}

// relation parses the type and target of a relation.
func (p *predicates) relation(n *tree.Node) (filter.Filter, error) {
	of := map[string]*tree.Node{}
	for _, f := range n.Fields {
		of[strings.ToLower(f.Key)] = f.Value
	}
	kind, ok := primitive(of["type"])
	target := of["targetref"]
	if !ok || kind == "" || n.Len() > 2 || n.Len() == 2 && target == nil {
		return filter.Filter{}, rest.Input("Invalid query: $contains of field 'relations' must be an object with type and optionally targetRef")
	}
	if target == nil {
		target = tree.Obj(tree.F("$exists", tree.Boolean(true)))
	}
	f, err := p.field("relations."+kind, target)
	if err == nil && f.Op == filter.OpNot {
		err = rest.Input("Invalid query: $contains of field 'relations' cannot look for relations without a target")
	}
	return f, err
}

// primitive returns a value as text in lower case.
func primitive(n *tree.Node) (string, bool) {
	if n == nil {
		return "", false
	}
	switch n.Kind {
	case tree.String, tree.Int, tree.Float, tree.Bool:
		return strings.ToLower(n.Text), true
	case tree.Null, tree.List, tree.Map:
	}
	return "", false
}

func badValue(key string) error {
	return rest.Input("Invalid filter predicate value for field '%s': expected a string, number or boolean, or an object with one of $exists, $in, $hasPrefix, $contains", rest.Short(key))
}
