package eta

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/grafana/sobek"
)

// listMethods limits the methods of lists, and the functions that create lists.
var listMethods = slices.Concat(
	lengthMethods(listMethod, maxLength, func(call sobek.FunctionCall) sobek.Value { return call.This },
		"fill", "map", "flatMap", "slice", "keys", "entries", "sort", "toSorted", "toReversed", "toSpliced", "with"),
	lengthMethods(listFunction, maxLength, firstArgument, "from"),
	lengthMethods(objectFunction, maxLength, firstArgument, "keys", "values", "getOwnPropertyNames"),
	// These create a list or an object for each element.
	lengthMethods(objectFunction, maxLength/4, firstArgument, "entries", "getOwnPropertyDescriptors"),
	[]method{
		{listMethod, "toLocaleString", func(r *run, o *sobek.Object, name string) {
			r.define(o, name, func(call sobek.FunctionCall) sobek.Value { return r.join(sobek.FunctionCall{This: call.This}) })
		}},
		{listMethod, "concat", func(r *run, o *sobek.Object, name string) {
			r.guard(o, name, func(call sobek.FunctionCall) {
				left := maxLength
				for _, v := range append([]sobek.Value{call.This}, call.Arguments...) {
					if left -= max(1, lengthOf(v)); left < 0 {
						r.tooLongList()
					}
				}
			})
		}},
		{listMethod, "flat", func(r *run, o *sobek.Object, name string) {
			r.guard(o, name, func(call sobek.FunctionCall) {
				depth, left := 1.0, maxLength
				if a := call.Argument(0); !sobek.IsUndefined(a) {
					depth = a.ToFloat()
				}
				r.boundFlat(call.This, min(depth, maxDepth), &left)
			})
		}},
		{objectFunction, "assign", func(r *run, o *sobek.Object, name string) {
			r.guard(o, name, func(call sobek.FunctionCall) {
				for _, a := range call.Arguments {
					r.boundLength(a)
				}
			})
		}},
	},
)

func firstArgument(call sobek.FunctionCall) sobek.Value { return call.Argument(0) }

// lengthMethods returns methods whose cost depends on the length of a list or text.
func lengthMethods(of methodOf, most int, list func(sobek.FunctionCall) sobek.Value, names ...string) []method {
	var all []method
	for _, name := range names {
		all = append(all, method{of, name, func(r *run, o *sobek.Object, name string) {
			r.guard(o, name, func(call sobek.FunctionCall) {
				if lengthOf(list(call)) > most {
					r.tooLongList()
				}
			})
		}})
	}
	return all
}

// lengthOf returns the length of a list or text; 0 for other values.
func lengthOf(v sobek.Value) int {
	if s, ok := v.(sobek.String); ok {
		return s.Length()
	}
	o, ok := v.(*sobek.Object)
	if !ok {
		return 0
	}
	length := "length"
	switch o.ClassName() {
	case "Map", "Set":
		length = "size"
	}
	n := o.Get(length)
	if n == nil || !sobek.IsNumber(n) {
		return 0
	}
	return int(min(max(0, n.ToFloat()), math.MaxInt32))
}

// boundLength rejects a list that is too long.
func (r *run) boundLength(v sobek.Value) {
	if lengthOf(v) > maxLength {
		r.tooLongList()
	}
}

func (r *run) tooLongList() {
	r.throw(&fault{msg: fmt.Sprintf("cannot use a list of more than %d values", maxLength)})
}

// boundFlat rejects a list that has too many values including nested lists, down to a
// depth: the same list may occur many times.
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

// spread rejects spreading a list that is too long.
func (r *run) spread(call sobek.FunctionCall) sobek.Value {
	r.boundLength(call.Argument(0))
	return call.Argument(0)
}

// join implements join of lists. The engine's has no limit, neither of size nor of
// depth.
func (r *run) join(call sobek.FunctionCall) sobek.Value {
	o := call.This.ToObject(r.vm)
	r.boundLength(o)
	sep := ","
	if a := call.Argument(0); !sobek.IsUndefined(a) {
		sep = r.textValue(a).String()
	}
	for _, outer := range r.joining {
		if outer == o {
			// A list that contains itself is empty there, as in JavaScript.
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
			b.WriteString(r.textValue(v).String())
		}
		r.bound(float64(b.Len()))
	}
	return r.vm.ToValue(b.String())
}
