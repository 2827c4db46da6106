package eta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
)

// textMethods limits the methods of texts.
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

// boundMatching checks a text that is converted to a regular expression.
func boundMatching(r *run, o *sobek.Object, name string) {
	r.guard(o, name, func(call sobek.FunctionCall) {
		if _, ok := call.Argument(0).(*sobek.Object); !ok {
			r.checkSource(call.Argument(0), r.vm.ToValue("g"))
		}
	})
}

// boundRaw rejects joining parts that are too long.
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

// bound rejects a text that would be too long.
func (r *run) bound(size float64) {
	if size > maxString {
		r.throw(&fault{msg: fmt.Sprintf("cannot create a string of more than %d MiB", maxString>>20)})
	}
	r.track(int(max(0, size)))
}

// boundPart rejects a text from which a function makes one that is the given number of
// times as long, if that is too long.
func (r *run) boundPart(times int) func(sobek.FunctionCall) {
	return func(call sobek.FunctionCall) {
		r.bound(float64(times) * float64(max(textSize(call.This), textSize(call.Argument(0)))))
	}
}

// boundPlaces rejects searching a text that occurs too often in another.
func (r *run) boundPlaces(call sobek.FunctionCall) {
	n := textSize(call.This)
	if _, ok := call.Argument(0).(*sobek.Object); ok || n <= maxLength {
		return
	}
	if strings.Count(call.This.String(), call.Argument(0).String()) > maxLength {
		r.throw(&fault{msg: fmt.Sprintf("cannot search for a string that occurs more than %d times", maxLength)})
	}
}

// replacer limits the result of a replacement. The function is that of a text or of a
// regular expression; the other of the two is its argument.
func (r *run) replacer(replace func(sobek.FunctionCall) sobek.Value) func(sobek.FunctionCall) sobek.Value {
	return func(call sobek.FunctionCall) sobek.Value {
		text, what := call.This, call.Argument(0)
		if o, ok := text.(*sobek.Object); ok && o.ClassName() == "RegExp" {
			text, what = what, text
		} else if _, ok := what.(*sobek.Object); ok {
			// The regular expression has its own function.
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

// countedFunction limits the total of a function's results for all matches, in addition
// to the text itself.
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

// boundReplace rejects a replacement of a text or a regular expression whose worst-case
// result is too long.
func (r *run) boundReplace(text, what, by sobek.Value) {
	n, each := float64(textSize(text)), float64(textSize(by))
	with := ""
	if each <= maxString {
		with = by.String()
	}
	rx, isPattern := what.(*sobek.Object)
	// What a $ refers to occurs in the text once, or as a whole for each match.
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

// textSize returns the length of a value if it is text, else 0.
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

// weight is the weight of a value among those that are converted at once: maxValues
// correspond to a text of maxString.
func weight(v sobek.Value) int { return weightOf(textSize(v)) }

// weightOf is weight for a value with a text of the given length.
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

// concat concatenates values.
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

// plus implements + of two values, one of which may be text.
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

// plainAdd is the plain +, for values that must first be converted to text or a number.
var plainAdd = sobek.MustCompile("add", "(a, b) => a + b", false)

// text implements template literals.
func (r *run) text(call sobek.FunctionCall) sobek.Value { return r.concat(call.Arguments) }

// part rejects a text that makes another grow by much.
func (r *run) part(call sobek.FunctionCall) sobek.Value {
	r.bound(float64(textSize(call.Argument(0))) * 16)
	return call.Argument(0)
}
