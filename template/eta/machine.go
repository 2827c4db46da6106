package eta

import (
	"reflect"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/grafana/sobek"
	"github.com/grafana/sobek/parser"
)

// maxCalls is the maximum call depth of functions.
const maxCalls = 2000

// newMachine returns a machine for one render, without a clock, random numbers and
// access to the outside.
func newMachine() *sobek.Runtime {
	vm := sobek.New()
	vm.SetMaxCallStackSize(maxCalls)
	vm.SetTimeSource(func() time.Time {
		panic(vm.NewTypeError("the current time is not available in a template: pass an argument to Date"))
	})
	vm.SetRandSource(func() float64 {
		panic(vm.NewTypeError("random numbers are not available in a template: the same input must give the same output"))
	})
	vm.SetParserOptions(noCompiler)
	vm.SetFieldNameMapper(noNames{})
	return vm
}

// noNames hides the contents of Go values from templates: the error of a Func is one,
// and a template that catches it may only read its text.
type noNames struct{}

// FieldName hides the field.
func (noNames) FieldName(reflect.Type, reflect.StructField) string { return "" }

// MethodName hides the method.
func (noNames) MethodName(reflect.Type, reflect.Method) string { return "" }

// noCompiler rejects the code passed to eval and the function constructors, however a
// template gets access to them. The parser calls each option before it begins, and this
// one panics.
var noCompiler = reflect.MakeFunc(reflect.TypeFor[parser.Option](), func([]reflect.Value) []reflect.Value {
	panic(sobek.New().ToValue("cannot compile code from a string in a template"))
}).Interface().(parser.Option)

// init limits the time of matching a regular expression, which cannot be interrupted
// otherwise. It exceeds any render: a match that times out must not pass for no match.
func init() { regexp2.DefaultMatchTimeout = MaxTime + grace }
