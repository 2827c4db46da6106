package eta

import (
	"math/big"
	"reflect"

	"github.com/grafana/sobek/ast"
)

// checkNumbers rejects BigInt literals such as 1n: a single operation can create one
// that takes all memory, and the compiler already evaluates constant ones. Without a
// literal and the name BigInt there is no way to get one.
func (t *template) checkNumbers(tree *ast.Program) error {
	n := bigInt(reflect.ValueOf(tree.Body), map[any]bool{})
	if n == nil {
		return nil
	}
	at := tree.File.Position(int(n.Idx) - tree.File.Base())
	e := t.errorAt(at.Line, at.Column, "cannot compile template: BigInt is not supported")
	e.Hint = "write the number without the suffix n"
	return e
}

// astPackage is the package of the AST types.
var astPackage = reflect.TypeFor[ast.Program]().PkgPath()

// bigInt returns the first BigInt literal in a part of a program; nil if there is none.
// The engine has no AST walker.
func bigInt(v reflect.Value, seen map[any]bool) *ast.NumberLiteral {
	switch v.Kind() {
	case reflect.Interface:
		return bigInt(v.Elem(), seen)
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != astPackage || seen[v.Interface()] {
			return nil
		}
		seen[v.Interface()] = true
		if n, ok := v.Interface().(*ast.NumberLiteral); ok {
			if _, ok := n.Value.(*big.Int); ok {
				return n
			}
			return nil
		}
		return bigInt(v.Elem(), seen)
	case reflect.Slice:
		for i := range v.Len() {
			if n := bigInt(v.Index(i), seen); n != nil {
				return n
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if n := bigInt(v.Field(i), seen); n != nil {
				return n
			}
		}
	}
	return nil
}
