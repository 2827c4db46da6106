package eta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
)

// textMethods bounds the methods of texts.
var textMethods = []method{
	{textMethod, "repeat", func(r *run, o *sobek.Object, name string) {
		r.guard(o, name, func(call sobek.FunctionCall) {
			r.bound(float64(textSize(call.This)) * call.Argument(0).ToFloat())
		})
	}},
	{textMethod, "padStart", boundPad},
	{textMethod, "padEnd", boundPad},
	{textMethod, "replace", boundReplacing},
	{textMethod, "replaceAll", boundReplacing},
	{textMethod, "split", func(r *run, o *sobek.Object, name string) { r.guard(o, name, r.boundPlaces) }},
	{textMethod, "match", boundMatching},
	{textMethod, "matchAll", boundMatching},
	{textMethod, "search", boundMatching},
	{textMethod, "normalize", func(r *run, o *sobek.Object, name string) { r.guard(o, name, r.boundPart(32)) }},
	{textMethod, "concat", func(r *run, o *sobek.Object, name string) {
		r.define(o, name, func(call sobek.FunctionCall) sobek.Value {
			return r.concat(append([]sobek.Value{call.This}, call.Arguments...))
		})
	}},
	{textFunction, "raw", func(r *run, o *sobek.Object, name string) { r.guard(o, name, r.boundRaw) }},
}

func boundPad(r *run, o *sobek.Object, name string) {
	r.guard(o, name, func(call sobek.FunctionCall) { r.bound(call.Argument(0).ToFloat()) })
}

func boundReplacing(r *run, o *sobek.Object, name string) {
	r.define(o, name, r.replacer(r.guarded(o.Get(name), r.boundPlaces)))
}

// boundMatching looks at a text that is made a regular expression.
func boundMatching(r *run, o *sobek.Object, name string) {
	r.guard(o, name, func(call sobek.FunctionCall) {
		if _, ok := call.Argument(0).(*sobek.Object); !ok {
			r.checkSource(call.Argument(0), r.vm.ToValue("g"))
		}
	})
}

// boundRaw refuses to put together parts that are too long.
func (r *run) boundRaw(call sobek.FunctionCall) {
	o, ok := call.Argument(0).(*sobek.Object)
	if !ok {
		return
	}
	raw, ok := o.Get("raw").(*sobek.Object)
	if !ok {
		return
	}
	r.boundLength(raw)
	size := 0
	for _, a := range call.Arguments[1:] {
		size += textSize(a)
	}
	for i := range lengthOf(raw) {
		size += textSize(raw.Get(strconv.Itoa(i)))
		r.bound(float64(size))
	}
}

// bound refuses a text that would be too long.
func (r *run) bound(size float64) {
	if size > maxString {
		r.throw(&fault{msg: fmt.Sprintf("cannot make a text of more than %d MiB", maxString>>20)})
	}
	r.track(int(max(0, size)))
}

// boundPart refuses a text of which a function makes one that is so many times
// as long.
func (r *run) boundPart(times int) func(sobek.FunctionCall) {
	return func(call sobek.FunctionCall) {
		r.bound(float64(times) * float64(max(textSize(call.This), textSize(call.Argument(0)))))
	}
}

// boundPlaces refuses to look for a text in another that holds it very often.
func (r *run) boundPlaces(call sobek.FunctionCall) {
	n := textSize(call.This)
	if _, ok := call.Argument(0).(*sobek.Object); ok || n <= maxLength {
		return
	}
	if strings.Count(call.This.String(), call.Argument(0).String()) > maxLength {
		r.throw(&fault{msg: fmt.Sprintf("cannot look for a text that is there more than %d times", maxLength)})
	}
}

// replacer bounds what replacing in a text gives. The function is that of a text,
// or of a regular expression; the other one of the two is its argument.
func (r *run) replacer(replace func(sobek.FunctionCall) sobek.Value) func(sobek.FunctionCall) sobek.Value {
	return func(call sobek.FunctionCall) sobek.Value {
		text, what := call.This, call.Argument(0)
		if o, ok := text.(*sobek.Object); ok && o.ClassName() == "RegExp" {
			text, what = what, text
		} else if _, ok := what.(*sobek.Object); ok {
			// The regular expression has a function of its own.
			return replace(call)
		}
		by := call.Argument(1)
		if f, ok := sobek.AssertFunction(by); ok {
			by = r.countedFunction(f, textSize(text))
		} else {
			by = r.textValue(by)
			r.boundReplace(text, what, by)
		}
		args := append([]sobek.Value(nil), call.Arguments...)
		for len(args) < 2 {
			args = append(args, sobek.Undefined())
		}
		args[1] = by
		return replace(sobek.FunctionCall{This: call.This, Arguments: args})
	}
}

// countedFunction bounds what a function gives for all places together, beside
// what the text has already.
func (r *run) countedFunction(f sobek.Callable, size int) sobek.Value {
	return r.vm.ToValue(func(call sobek.FunctionCall) sobek.Value {
		v, err := f(sobek.Undefined(), call.Arguments...)
		r.must(err)
		s := r.textValue(v)
		size += s.Length()
		r.bound(float64(size))
		return s
	})
}

// boundReplace refuses what putting a text for another, or for a regular
// expression, may give at worst.
func (r *run) boundReplace(text, what, by sobek.Value) {
	n, each := float64(textSize(text)), float64(textSize(by))
	with := ""
	if each <= maxString {
		with = by.String()
	}
	rx, isPattern := what.(*sobek.Object)
	// What a $ stands for is in the text once, or as a whole for each place.
	refs := strings.Count(with, "$")
	wholes := strings.Count(with, "$`") + strings.Count(with, "$'")
	if isPattern && refs > 0 && strings.Contains(rx.Get("source").String(), "(?") {
		wholes = refs
	}
	worst := func(places float64) float64 {
		return n + places*each + n*float64(refs) + places*n*float64(wholes)
	}
	if worst(n+1) <= maxString {
		return
	}
	places := 1.0
	switch {
	case !isPattern:
		places = float64(strings.Count(text.String(), what.String()))
	case strings.Contains(rx.Get("flags").String(), "g"):
		match, _ := sobek.AssertFunction(rx.GetSymbol(sobek.SymMatch))
		found, err := match(rx, text)
		r.must(err)
		places = float64(lengthOf(found))
	}
	r.bound(worst(places))
}

// textSize returns how long a value is as text, if it is one.
func textSize(v sobek.Value) int {
	switch v := v.(type) {
	case sobek.String:
		return v.Length()
	case *sobek.Object:
		if v.ClassName() == "String" {
			return lengthOf(v)
		}
	}
	return 0
}

// weight is what a value counts among those that are taken at a stroke: as many
// as maxValues come to a text of maxString.
func weight(v sobek.Value) int { return weightOf(textSize(v)) }

// weightOf is weight for a value that is so long as text.
func weightOf(size int) int { return 1 + size/(maxString/maxValues) }

// textValue returns a value as text.
func (r *run) textValue(v sobek.Value) sobek.String {
	if s, ok := v.(sobek.String); ok {
		return s
	}
	if _, ok := v.(*sobek.Symbol); ok {
		panic(r.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	if o, ok := v.(*sobek.Object); ok {
		v = o.ToString()
	}
	if s, ok := v.(sobek.String); ok {
		return s
	}
	return r.vm.ToValue(v.String()).(sobek.String)
}

// concat makes one text of values.
func (r *run) concat(values []sobek.Value) sobek.Value {
	size := 0
	var b sobek.StringBuilder
	for _, v := range values {
		s := r.textValue(v)
		size += s.Length()
		r.bound(float64(size))
		b.WriteString(s)
	}
	return b.String()
}

// plus is + of two values, of which one may be a text.
func (r *run) plus(call sobek.FunctionCall) sobek.Value {
	a, b := call.Argument(0), call.Argument(1)
	s, isA := a.(sobek.String)
	t, isB := b.(sobek.String)
	switch {
	case isA && isB:
		r.bound(float64(s.Length() + t.Length()))
		return s.Concat(t)
	case sobek.IsNumber(a) && sobek.IsNumber(b):
		return r.vm.ToValue(a.ToFloat() + b.ToFloat())
	case isA && sobek.IsNumber(b), isB && sobek.IsNumber(a):
		return r.concat(call.Arguments)
	}
	if r.add == nil {
		v, err := r.vm.RunProgram(plainAdd)
		r.must(err)
		r.add, _ = sobek.AssertFunction(v)
	}
	v, err := r.add(sobek.Undefined(), a, b)
	r.must(err)
	r.bound(float64(textSize(v)))
	return v
}

// plainAdd is + as it is, for values that have to be made a text or a number
// first.
var plainAdd = sobek.MustCompile("add", "(a, b) => a + b", false)

// text is a template literal.
func (r *run) text(call sobek.FunctionCall) sobek.Value { return r.concat(call.Arguments) }

// part refuses a text that makes another grow by much.
func (r *run) part(call sobek.FunctionCall) sobek.Value {
	r.bound(float64(textSize(call.Argument(0))) * 16)
	return call.Argument(0)
}
