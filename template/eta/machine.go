package eta

import (
	"reflect"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/grafana/sobek"
	"github.com/grafana/sobek/parser"
)

// maxCalls is how deep functions may call one another.
const maxCalls = 2000

// newMachine returns a machine for one render, that has no clock, no chance
// and nothing from outside.
func newMachine() *sobek.Runtime {
	vm := sobek.New()
	vm.SetMaxCallStackSize(maxCalls)
	vm.SetTimeSource(func() time.Time {
		panic(vm.NewTypeError("there is no clock in a template: give Date an argument"))
	})
	vm.SetRandSource(func() float64 {
		panic(vm.NewTypeError("there is no chance in a template: the same input must give the same output"))
	})
	vm.SetParserOptions(noCompiler)
	vm.SetFieldNameMapper(noNames{})
	return vm
}

// noNames keeps what is inside of Go values from templates: the error of a Func
// is one, and a template that catches it may ask for its text only.
type noNames struct{}

// FieldName hides the field.
func (noNames) FieldName(reflect.Type, reflect.StructField) string { return "" }

// MethodName hides the method.
func (noNames) MethodName(reflect.Type, reflect.Method) string { return "" }

// noCompiler refuses the text that eval and the constructors of functions are
// handed, whichever way a template comes by them. The parser asks each option
// before it begins, and this one never answers.
var noCompiler = reflect.MakeFunc(reflect.TypeFor[parser.Option](), func([]reflect.Value) []reflect.Value {
	panic(sobek.New().ToValue("cannot make code of text in a template"))
}).Interface().(parser.Option)

// init bounds how long a regular expression may be looked for, which nothing
// else can end. It is longer than any render: one that is cut off must not pass
// for one that does not match.
func init() { regexp2.DefaultMatchTimeout = MaxTime + grace }
