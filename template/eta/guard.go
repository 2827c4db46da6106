package eta

import (
	"slices"
	"strings"

	"github.com/grafana/sobek"
)

// The limits of what JavaScript functions create in one call. They run outside of the
// machine, where they cannot be interrupted.
const (
	maxString = 4 << 20
	maxLength = 1 << 18
)

// known are the global names of a template. There is no eval, nothing that allocates
// blocks of memory, no BigInt, and no proxies.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`Object Function Array String Number RegExp Date Boolean Symbol Math JSON
		Map Set WeakMap WeakSet Promise Error AggregateError TypeError ReferenceError SyntaxError RangeError EvalError
		URIError NaN undefined Infinity isNaN isFinite parseInt parseFloat encodeURI encodeURIComponent decodeURI
		decodeURIComponent escape unescape`) {
		m[name] = true
	}
	return m
}()

// globals is the global object: the known names, created on first use, and those that
// the template adds.
type globals struct {
	r     *run
	std   *sobek.Object
	self  *sobek.Object
	added map[string]sobek.Value
}

// Get returns the value of a global name.
func (g *globals) Get(key string) sobek.Value {
	if v := g.added[key]; v != nil {
		return v
	}
	if key == "globalThis" {
		return g.self
	}
	if !known[key] {
		return nil
	}
	var v sobek.Value
	switch key {
	case "JSON":
		v = g.std.Get(key)
		g.r.guardJSON(v.ToObject(g.r.vm))
	case "Date":
		v = g.r.dates(g.std.Get(key))
	case "RegExp":
		g.r.guardRegExp()
		v = g.r.regExp
	case "escape", "encodeURI", "encodeURIComponent":
		v = g.r.vm.ToValue(g.r.guarded(g.std.Get(key), g.r.boundPart(12)))
	default:
		return g.std.Get(key)
	}
	g.added[key] = v
	return v
}

// Set sets a global name.
func (g *globals) Set(key string, v sobek.Value) bool {
	g.added[key] = v
	return true
}

// Has reports whether a global name is known.
func (g *globals) Has(key string) bool {
	return g.added[key] != nil || known[key] || key == "globalThis"
}

// Delete removes a name that the template added.
func (g *globals) Delete(key string) bool {
	delete(g.added, key)
	return !known[key]
}

// Keys returns nothing: global names are not enumerable.
func (g *globals) Keys() []string { return nil }

// confine removes from the machine what a template does not need, and limits the rest.
func (r *run) confine() {
	r.std, r.bounded = r.vm.GlobalObject(), make([]bool, len(methods))
	g := &globals{r: r, std: r.std, added: map[string]sobek.Value{}}
	g.self = r.vm.NewDynamicObject(g)
	r.vm.SetGlobalObject(g.self)

	// The functions that the engine calls by itself.
	list := r.proto(listMethod)
	r.define(list, "join", r.join)
	r.guard(list, "values", func(call sobek.FunctionCall) { r.boundLength(call.This) })
	r.must(list.DefineDataPropertySymbol(sobek.SymIterator, list.Get("values"), sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
}

// method is a JavaScript function whose result can be much larger than its input.
type method struct {
	of    methodOf
	name  string
	bound func(r *run, o *sobek.Object, name string)
}

// methodOf is the kind of object that has a method.
type methodOf int

const (
	textMethod methodOf = iota
	textFunction
	listMethod
	listFunction
	objectFunction
	functionMethod
)

// proto returns the object that has the methods.
func (r *run) proto(of methodOf) *sobek.Object {
	switch of {
	case textMethod:
		return r.vm.ToValue("").ToObject(r.vm).Prototype()
	case textFunction:
		return r.proto(textMethod).Get("constructor").ToObject(r.vm)
	case listMethod:
		return r.vm.NewArray().Prototype()
	case listFunction:
		return r.proto(listMethod).Get("constructor").ToObject(r.vm)
	case objectFunction:
		return r.vm.NewObject().Prototype().Get("constructor").ToObject(r.vm)
	default:
		return r.write.ToObject(r.vm).Prototype()
	}
}

// methods are limited before a program that may name them is run: there are many, and
// most programs need none of them.
var methods = slices.Concat(textMethods, listMethods, []method{
	{functionMethod, "apply", func(r *run, o *sobek.Object, name string) {
		r.guard(o, name, func(call sobek.FunctionCall) { r.boundLength(call.Argument(1)) })
	}},
})

// need limits the methods with the given indexes.
func (r *run) need(which []int) {
	for _, i := range which {
		if !r.bounded[i] {
			r.bounded[i] = true
			m := methods[i]
			m.bound(r, r.proto(m.of), m.name)
		}
	}
}

// guard adds a check before a JavaScript function.
func (r *run) guard(o *sobek.Object, name string, check func(sobek.FunctionCall)) {
	if f := r.guarded(o.Get(name), check); f != nil {
		r.define(o, name, f)
	}
}

// guarded returns a function that checks and then calls v, or nil if v is not a
// function.
func (r *run) guarded(v sobek.Value, check func(sobek.FunctionCall)) func(sobek.FunctionCall) sobek.Value {
	call, ok := sobek.AssertFunction(v)
	if !ok {
		return nil
	}
	return func(c sobek.FunctionCall) sobek.Value {
		check(c)
		v, err := call(c.This, c.Arguments...)
		if err != nil {
			r.throw(err)
		}
		return v
	}
}

// define defines a function of an object, with the attributes of built-in ones.
func (r *run) define(o *sobek.Object, name string, f func(sobek.FunctionCall) sobek.Value) {
	r.must(o.DefineDataProperty(name, r.vm.ToValue(f), sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
}

// must throws err if it is not nil.
func (r *run) must(err error) {
	if err != nil {
		r.throw(err)
	}
}

// boundFunction returns one of the functions that programs call instead of unlimited
// operations.
func (r *run) boundFunction(which int) sobek.Value {
	if r.bounds[which] == nil {
		r.bounds[which] = r.vm.ToValue([boundNames]func(sobek.FunctionCall) sobek.Value{r.plus, r.text, r.spread, r.part}[which])
	}
	return r.bounds[which]
}

// maxParsed is the maximum number of values in JSON to parse.
const maxParsed = 1 << 18

// guardJSON limits the nesting of JSON, because its functions recurse for each level,
// and its size.
func (r *run) guardJSON(o *sobek.Object) {
	r.guard(o, "parse", func(call sobek.FunctionCall) {
		depth, deepest, values := 0, 0, 0
		for _, c := range []byte(call.Argument(0).String()) {
			switch c {
			case '[', '{':
				depth++
				deepest = max(deepest, depth)
				values++
			case ']', '}':
				depth--
			case ',':
				values++
			}
		}
		if deepest > maxNesting*5 || values > maxParsed {
			r.throw(errDepth)
		}
	})
	r.define(o, "stringify", r.stringify)
}
