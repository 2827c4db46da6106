package eta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
)

// The bounds of what the functions of JavaScript make at a stroke. They run
// outside of the machine, where nothing can interrupt them.
const (
	maxString = 16 << 20
	maxLength = 1 << 20
)

// known are the global names of a template. There is no eval, nothing that
// allocates blocks of memory, no integers without bounds, and nothing that can
// stand in for an object.
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

// globals is the global object: the known names, made when they are first
// used, and what the template adds.
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
	v := g.std.Get(key)
	switch key {
	case "JSON":
		g.added[key] = v
		g.r.guardJSON(v.ToObject(g.r.vm))
	case "Date":
		v = g.r.dates(v)
		g.added[key] = v
	}
	return v
}

// Set adds a global name, or puts a value in place of another.
func (g *globals) Set(key string, v sobek.Value) bool {
	g.added[key] = v
	return true
}

// Has reports whether a global name is known.
func (g *globals) Has(key string) bool {
	return g.added[key] != nil || known[key] || key == "globalThis"
}

// Delete removes what the template added.
func (g *globals) Delete(key string) bool {
	delete(g.added, key)
	return !known[key]
}

// Keys returns nothing: global names are not enumerable.
func (g *globals) Keys() []string { return nil }

// confine takes from the machine what a template has no use for, and bounds
// what it leaves.
func (r *run) confine() {
	g := &globals{r: r, std: r.vm.GlobalObject(), added: map[string]sobek.Value{}}
	g.self = r.vm.NewDynamicObject(g)
	r.vm.SetGlobalObject(g.self)

	text := r.vm.ToValue("").ToObject(r.vm).Prototype()
	r.guard(text, "repeat", func(call sobek.FunctionCall) {
		r.bound(float64(len(call.This.String())) * call.Argument(0).ToFloat())
	})
	for _, name := range []string{"padStart", "padEnd"} {
		r.guard(text, name, func(call sobek.FunctionCall) { r.bound(call.Argument(0).ToFloat()) })
	}
	for _, name := range []string{"replace", "replaceAll"} {
		r.guard(text, name, r.boundReplace)
	}
	r.guard(text, "concat", func(call sobek.FunctionCall) {
		size := textSize(call.This)
		for _, a := range call.Arguments {
			size += textSize(a)
		}
		r.bound(float64(size))
	})
	r.guard(text.Get("constructor").ToObject(r.vm), "raw", func(call sobek.FunctionCall) {
		if o, ok := call.Argument(0).(*sobek.Object); ok {
			r.boundLength(o.Get("raw"))
		}
	})

	list := r.vm.NewArray().Prototype()
	r.define(list, "join", r.join)
	this := func(call sobek.FunctionCall) { r.boundLength(call.This) }
	for _, name := range []string{
		"fill", "concat", "map", "slice", "keys", "values", "entries", "sort", "toSorted", "toReversed", "toSpliced", "with", "toLocaleString",
	} {
		r.guard(list, name, this)
	}
	r.guard(list, "flat", func(call sobek.FunctionCall) {
		depth, left := 1.0, maxLength
		if a := call.Argument(0); !sobek.IsUndefined(a) {
			depth = a.ToFloat()
		}
		r.boundFlat(call.This, min(depth, maxDepth), &left)
	})
	r.must(list.DefineDataPropertySymbol(sobek.SymIterator, list.Get("values"), sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
	r.guard(list.Get("constructor").ToObject(r.vm), "from", func(call sobek.FunctionCall) { r.boundLength(call.Argument(0)) })
	r.guard(r.write.ToObject(r.vm).Prototype(), "apply", func(call sobek.FunctionCall) { r.boundLength(call.Argument(1)) })
}

// guard puts a check before a function of JavaScript.
func (r *run) guard(o *sobek.Object, name string, check func(sobek.FunctionCall)) {
	if f := r.guarded(o.Get(name), check); f != nil {
		r.define(o, name, f)
	}
}

// guarded returns a function that checks and then calls v, or nil if v is none.
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

// define gives an object a function, as those of JavaScript are.
func (r *run) define(o *sobek.Object, name string, f func(sobek.FunctionCall) sobek.Value) {
	r.must(o.DefineDataProperty(name, r.vm.ToValue(f), sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_FALSE))
}

// must throws an error, if there is one.
func (r *run) must(err error) {
	if err != nil {
		r.throw(err)
	}
}

// bound refuses a text that would be too long.
func (r *run) bound(size float64) {
	if size > maxString {
		r.throw(&fault{msg: fmt.Sprintf("cannot make a text of more than %d MiB", maxString>>20)})
	}
}

// boundReplace bounds what replacing in a text may give, at worst.
func (r *run) boundReplace(call sobek.FunctionCall) {
	if _, ok := sobek.AssertFunction(call.Argument(1)); ok {
		// A function is interrupted like any other.
		return
	}
	text, by := len(call.This.String()), call.Argument(1).String()
	each := len(by)
	if strings.Contains(by, "$`") || strings.Contains(by, "$'") {
		each += text
	}
	// Most texts that are searched hold the place many times less often than
	// they have characters.
	r.bound(float64(text) * float64(each) / 16)
}

// boundLength refuses a list that is too long.
func (r *run) boundLength(v sobek.Value) {
	o, ok := v.(*sobek.Object)
	if !ok {
		return
	}
	if n := o.Get("length"); n != nil && n.ToFloat() > maxLength {
		r.throw(&fault{msg: fmt.Sprintf("cannot work on a list of more than %d values", maxLength)})
	}
}

// boundFlat refuses a list that has too many values in the lists in it, down to
// a depth: each may be there many times.
func (r *run) boundFlat(v sobek.Value, depth float64, left *int) {
	o, ok := v.(*sobek.Object)
	if *left--; *left < 0 {
		r.throw(errDepth)
	}
	if !ok || o.ClassName() != "Array" || depth < 0 {
		return
	}
	r.boundLength(o)
	for i := range o.Get("length").ToInteger() {
		r.boundFlat(o.Get(strconv.FormatInt(i, 10)), depth-1, left)
	}
}

// textSize returns how long a value is as text, if it is one.
func textSize(v sobek.Value) int {
	if s, ok := v.(sobek.String); ok {
		return s.Length()
	}
	return 0
}

// weight is what a value counts among those that are taken at a stroke: as many
// as maxValues come to a text of maxString.
func weight(v sobek.Value) int { return weightOf(textSize(v)) }

// weightOf is weight for a value that is so long as text.
func weightOf(size int) int { return 1 + size/(maxString/maxValues) }

// join is that of lists. It is written here because the engine's has no bound,
// neither of size nor of depth.
func (r *run) join(call sobek.FunctionCall) sobek.Value {
	o := call.This.ToObject(r.vm)
	r.boundLength(o)
	sep := ","
	if a := call.Argument(0); !sobek.IsUndefined(a) {
		sep = a.String()
	}
	for _, outer := range r.joining {
		if outer == o {
			// A list that contains itself is empty there, as everywhere.
			return r.vm.ToValue("")
		}
	}
	if len(r.joining) >= maxDepth {
		r.throw(errDepth)
	}
	r.joining = append(r.joining, o)
	defer func() { r.joining = r.joining[:len(r.joining)-1] }()
	var size int64
	if n := o.Get("length"); n != nil {
		size = n.ToInteger()
	}
	var b strings.Builder
	for i := range size {
		if i > 0 {
			b.WriteString(sep)
		}
		if v := o.Get(strconv.FormatInt(i, 10)); v != nil && !sobek.IsUndefined(v) && !sobek.IsNull(v) {
			b.WriteString(v.String())
		}
		r.bound(float64(b.Len()))
	}
	return r.vm.ToValue(b.String())
}

// guardJSON bounds how deep JSON may be nested: its functions call themselves
// for each level.
func (r *run) guardJSON(o *sobek.Object) {
	r.guard(o, "parse", func(call sobek.FunctionCall) {
		depth, deepest := 0, 0
		for _, c := range []byte(call.Argument(0).String()) {
			switch c {
			case '[', '{':
				depth++
				deepest = max(deepest, depth)
			case ']', '}':
				depth--
			}
		}
		if deepest > maxNesting*5 {
			r.throw(errDepth)
		}
	})
	r.guard(o, "stringify", func(call sobek.FunctionCall) {
		left := maxValues
		r.measure(call.Argument(0), 0, &left)
		r.boundLength(call.Argument(1))
	})
}

// measure refuses a value that is nested too deep, contains itself, or is too
// large.
func (r *run) measure(v sobek.Value, depth int, left *int) {
	*left -= weight(v)
	if depth > maxDepth || *left < 0 {
		r.throw(errDepth)
	}
	o, ok := v.(*sobek.Object)
	if !ok {
		return
	}
	if class := o.ClassName(); class != "Object" && class != "Array" {
		return
	}
	r.boundLength(o)
	for _, k := range o.Keys() {
		r.measure(o.Get(k), depth+1, left)
	}
}
