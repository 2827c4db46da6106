package eta

import (
	"reflect"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/token"
	"github.com/grafana/sobek/unistring"
)

// bounder replaces operations that JavaScript does not limit by calls of our functions:
// concatenation doubles texts, and twenty-nine doublings are half a gigabyte. The engine
// has no hook to check their length.
//
//	a + b          plus(a, b)
//	a += b         a = plus(a, b)
//	o.k += b       ((o, k) => o[k] = plus(o[k], b))(o, "k")
//	`x${a}y${b}`   text("x", a, "y", b, "")
//	[...a], f(...a) [...list(a)], f(...list(a))
//
// An operation with a number or a short text on one side stays as it is: it cannot
// double. The functions have names that cannot be written in a template, and are passed
// as parameters of the program.
type bounder struct {
	// uses are the functions that the program needs.
	uses [boundNames]bool
	// patterns are its regular expressions.
	patterns []*ast.RegExpLiteral
	// names are all names in the program; anyName is true if it may compute others at run
	// time.
	names   map[string]bool
	anyName bool
	// with is a with statement, which could shadow our names; nil if there is none.
	with *ast.WithStatement
	seen map[any]bool
}

// The functions, by their index among the parameters.
const (
	boundPlus = iota
	boundText
	boundList
	boundPart
	boundNames
)

// boundName returns the name of a parameter. It contains a space, so that a template
// cannot write it.
func boundName(i int) unistring.String {
	return [boundNames]unistring.String{"bound plus", "bound text", "bound list", "bound part"}[i]
}

// shortText is the maximum length of a text that is concatenated unchecked.
const shortText = 4 << 10

// rewrite rewrites a part of a program, inner parts first.
func (b *bounder) rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		b.rewrite(v.Elem())
		if e, ok := v.Interface().(ast.Expression); ok && v.CanSet() {
			if in := b.instead(e); in != nil {
				v.Set(reflect.ValueOf(in))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != astPackage || b.seen[v.Interface()] {
			return
		}
		b.seen[v.Interface()] = true
		b.note(v.Interface())
		b.rewrite(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			b.rewrite(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ast.Identifier]() {
			b.names[v.Field(0).Interface().(unistring.String).String()] = true
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				b.rewrite(v.Field(i))
			}
		}
	}
}

// note records facts about a part of a program.
func (b *bounder) note(n any) {
	switch n := n.(type) {
	case *ast.WithStatement:
		b.with = n
	case *ast.RegExpLiteral:
		b.patterns = append(b.patterns, n)
	case *ast.StringLiteral:
		b.names[n.Value.String()] = true
	case *ast.BracketExpression:
		switch n.Member.(type) {
		case *ast.NumberLiteral, *ast.StringLiteral:
		default:
			b.anyName = true
		}
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			if keyed, ok := p.(*ast.PropertyKeyed); ok && keyed.Computed {
				b.anyName = true
			}
		}
	}
}

// mayName reports whether a program may access a member of the given name.
func (b *bounder) mayName(name string) bool {
	return b.anyName || b.names[name] || b.names["getOwnPropertyDescriptor"] || b.names["getOwnPropertyDescriptors"]
}

// instead returns the replacement of an expression, nil if it stays.
func (b *bounder) instead(e ast.Expression) ast.Expression {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		if e.Operator == token.PLUS && !isShort(e.Left) && !isShort(e.Right) {
			return b.call(boundPlus, e.Left.Idx0(), e.Left, e.Right)
		}
	case *ast.AssignExpression:
		if e.Operator == token.PLUS && !isShort(e.Right) {
			return b.assign(e)
		}
	case *ast.TemplateLiteral:
		return b.template(e)
	case *ast.SpreadElement:
		e.Expression = b.call(boundList, e.Expression.Idx0(), e.Expression)
	}
	return nil
}

// call returns a call of one of the functions, at the position of the expression that it
// replaces.
func (b *bounder) call(which int, at file.Idx, args ...ast.Expression) ast.Expression {
	b.uses[which] = true
	return &ast.CallExpression{Callee: &ast.Identifier{Name: boundName(which), Idx: at}, LeftParenthesis: at, RightParenthesis: at, ArgumentList: args}
}

// assign replaces += by a call.
func (b *bounder) assign(e *ast.AssignExpression) ast.Expression {
	at := e.Left.Idx0()
	var object, key ast.Expression
	switch left := e.Left.(type) {
	case *ast.Identifier:
		before := *left
		return &ast.AssignExpression{Operator: token.ASSIGN, Left: left, Right: b.call(boundPlus, at, &before, e.Right)}
	case *ast.DotExpression:
		object, key = left.Left, &ast.StringLiteral{Idx: left.Identifier.Idx, Value: left.Identifier.Name}
	case *ast.BracketExpression:
		object, key = left.Left, left.Member
	}
	if _, isSuper := object.(*ast.SuperExpression); object == nil || isSuper || moves(reflect.ValueOf(e.Right), map[any]bool{}) {
		// Here the value grows only by a limited part at a time.
		return &ast.AssignExpression{Operator: e.Operator, Left: e.Left, Right: b.call(boundPart, at, e.Right)}
	}
	name := func(name unistring.String) *ast.Identifier { return &ast.Identifier{Name: name, Idx: at} }
	member := func() ast.Expression {
		return &ast.BracketExpression{Left: name("bound object"), Member: name("bound key"), LeftBracket: at, RightBracket: at}
	}
	// The old value is read before the new one is evaluated.
	return &ast.CallExpression{
		LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{object, key},
		Callee: &ast.ArrowFunctionLiteral{
			Start: at,
			ParameterList: &ast.ParameterList{
				Opening: at, Closing: at, List: []*ast.Binding{{Target: name("bound object")}, {Target: name("bound key")}},
			},
			Body: &ast.ExpressionBody{Expression: &ast.AssignExpression{
				Operator: token.ASSIGN, Left: member(), Right: b.call(boundPlus, at, member(), e.Right),
			}},
		},
	}
}

// template replaces a template literal by a call if more than one of its values may be
// long.
func (b *bounder) template(e *ast.TemplateLiteral) ast.Expression {
	long := 0
	for _, v := range e.Expressions {
		if !isShort(v) {
			long++
		}
	}
	if e.Tag != nil || long < 2 {
		return nil
	}
	var args []ast.Expression
	for i, part := range e.Elements {
		if i > 0 {
			args = append(args, e.Expressions[i-1])
		}
		args = append(args, &ast.StringLiteral{Idx: part.Idx, Value: part.Parsed})
	}
	return b.call(boundText, e.OpenQuote, args...)
}

// isShort reports whether an expression can never be a long text, regardless of
// variables.
func isShort(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return len(e.Value) <= shortText
	case *ast.TemplateLiteral:
		return e.Tag == nil && len(e.Expressions) == 0 && e.Idx1()-e.Idx0() <= shortText
	case *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.UnaryExpression:
		return true
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.PLUS, token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return false
		}
		return true
	}
	return false
}

// moves reports whether a part of a program contains something that changes its meaning
// in another function, such as a yield or an await. It may also report true if that is
// in a nested function.
func moves(v reflect.Value, seen map[any]bool) bool {
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && moves(v.Elem(), seen)
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != astPackage || seen[v.Interface()] {
			return false
		}
		seen[v.Interface()] = true
		switch n := v.Interface().(type) {
		case *ast.YieldExpression, *ast.AwaitExpression, *ast.SuperExpression:
			return true
		case *ast.Identifier:
			return n.Name == "arguments"
		}
		return moves(v.Elem(), seen)
	case reflect.Slice:
		for i := range v.Len() {
			if moves(v.Index(i), seen) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && moves(v.Field(i), seen) {
				return true
			}
		}
	}
	return false
}
