package eta

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/grafana/sobek"
)

// writer writes JSON. The engine's implementation has no limits: a few deeply nested
// values, or a function that creates them, may give any amount of text.
type writer struct {
	r *run
	// replace, if not nil, is called for each value; only, if not nil, are the keys to
	// write.
	replace sobek.Callable
	only    []string
	// gap is the indent of each level.
	gap  string
	out  []byte
	open []*sobek.Object
}

// stringify implements JSON.stringify.
func (r *run) stringify(call sobek.FunctionCall) sobek.Value {
	w := &writer{r: r, gap: gapOf(call.Argument(2))}
	if o, ok := call.Argument(1).(*sobek.Object); ok {
		if f, ok := sobek.AssertFunction(o); ok {
			w.replace = f
		} else if o.ClassName() == "Array" {
			w.only = r.onlyKeys(o)
		}
	}
	var holder *sobek.Object
	if w.replace != nil {
		holder = r.vm.NewObject()
		r.put(holder, "", call.Argument(0))
	}
	if !w.value(holder, "", call.Argument(0)) {
		return sobek.Undefined()
	}
	return r.vm.ToValue(string(w.out))
}

// gapOf returns the indent that a value specifies.
func gapOf(v sobek.Value) string {
	const most = 10
	if o, ok := v.(*sobek.Object); ok {
		switch o.ClassName() {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = o.ToString()
		}
	}
	switch s, ok := v.(sobek.String); {
	case ok:
		return s.Substring(0, min(most, s.Length())).String()
	case sobek.IsNumber(v):
		return strings.Repeat(" ", int(max(0, min(most, v.ToInteger()))))
	}
	return ""
}

// onlyKeys returns the keys in a list.
func (r *run) onlyKeys(list *sobek.Object) []string {
	r.boundLength(list)
	keys, seen := []string{}, map[string]bool{}
	for i := range lengthOf(list) {
		v := list.Get(strconv.Itoa(i))
		o, isObject := v.(*sobek.Object)
		if _, isText := v.(sobek.String); isText || v != nil && sobek.IsNumber(v) ||
			isObject && (o.ClassName() == "String" || o.ClassName() == "Number") {
			if k := v.String(); !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// value writes the value of a key of holder, and reports whether it can be written.
func (w *writer) value(holder *sobek.Object, key string, v sobek.Value) bool {
	v = w.prepared(holder, key, v)
	switch {
	case v == nil || sobek.IsUndefined(v):
		return false
	case sobek.IsNull(v):
		w.write("null")
		return true
	}
	switch t := v.(type) {
	case *sobek.Symbol:
		return false
	case sobek.String:
		w.quote(t)
	case *sobek.Object:
		if _, callable := sobek.AssertFunction(t); callable {
			return false
		}
		w.object(t)
	default:
		if s := v.String(); s != "NaN" && !strings.HasSuffix(s, "Infinity") {
			w.write(s)
			return true
		}
		w.write("null")
	}
	return true
}

// prepared returns the replacement of a value: the result of its toJSON, then of the
// replacer function.
func (w *writer) prepared(holder *sobek.Object, key string, v sobek.Value) sobek.Value {
	if o, ok := v.(*sobek.Object); ok {
		if f, ok := sobek.AssertFunction(o.Get("toJSON")); ok {
			var err error
			v, err = f(o, w.r.vm.ToValue(key))
			w.r.must(err)
		}
	}
	if w.replace != nil {
		var err error
		v, err = w.replace(holder, w.r.vm.ToValue(key), v)
		w.r.must(err)
	}
	if o, ok := v.(*sobek.Object); ok {
		switch o.ClassName() {
		case "Number":
			return o.ToNumber()
		case "String":
			return o.ToString()
		case "Boolean":
			return w.r.vm.ToValue(o.String() == "true")
		}
	}
	return v
}

// object writes an object or a list.
func (w *writer) object(o *sobek.Object) {
	if len(w.open) >= maxDepth || slices.Contains(w.open, o) {
		w.r.throw(errDepth)
	}
	w.open = append(w.open, o)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	empty := true
	if o.ClassName() == "Array" {
		w.write("[")
		w.r.boundLength(o)
		for i := range lengthOf(o) {
			w.next(&empty)
			if key := strconv.Itoa(i); !w.value(o, key, o.Get(key)) {
				w.write("null")
			}
		}
		w.end(empty, "]")
		return
	}
	w.write("{")
	keys := w.only
	if keys == nil {
		keys = o.Keys()
	}
	for _, key := range keys {
		before, wasEmpty := len(w.out), empty
		w.next(&empty)
		w.quote(w.r.vm.ToValue(key).(sobek.String))
		w.write(":")
		if w.gap != "" {
			w.write(" ")
		}
		if !w.value(o, key, o.Get(key)) {
			// The value has no JSON representation.
			w.out, empty = w.out[:before], wasEmpty
		}
	}
	w.end(empty, "}")
}

// next begins another entry of an object or list.
func (w *writer) next(empty *bool) {
	if !*empty {
		w.write(",")
	}
	*empty = false
	w.line()
}

// end ends an object or a list.
func (w *writer) end(empty bool, bracket string) {
	if !empty {
		open := w.open
		w.open = open[:len(open)-1]
		w.line()
		w.open = open
	}
	w.write(bracket)
}

// line begins a new line, if the output is indented.
func (w *writer) line() {
	if w.gap == "" {
		return
	}
	w.write("\n")
	for range w.open {
		w.write(w.gap)
	}
}

func (w *writer) write(s string) {
	w.r.bound(float64(len(w.out) + len(s)))
	w.out = append(w.out, s...)
}

// quote writes a text as JSON.
func (w *writer) quote(s sobek.String) {
	const hex = "0123456789abcdef"
	w.r.bound(float64(len(w.out) + s.Length()))
	w.out = append(w.out, '"')
	for i := 0; i < s.Length(); i++ {
		c := rune(s.CharAt(i))
		switch {
		case c == '"' || c == '\\':
			w.out = append(w.out, '\\')
			w.out = append(w.out, byte(c))
		case c < ' ' && strings.IndexByte("\b\f\n\r\t", byte(c)) >= 0:
			w.out = append(w.out, '\\')
			w.out = append(w.out, "bfnrt"[strings.IndexByte("\b\f\n\r\t", byte(c))])
		case c < ' ' || utf16.IsSurrogate(c) && !w.pair(s, i):
			w.out = append(w.out, `\u`...)
			for shift := 12; shift >= 0; shift -= 4 {
				w.out = append(w.out, hex[c>>shift&15])
			}
		case utf16.IsSurrogate(c):
			w.out = utf8.AppendRune(w.out, utf16.DecodeRune(c, rune(s.CharAt(i+1))))
			i++
		case c < utf8.RuneSelf:
			w.out = append(w.out, byte(c))
		default:
			w.out = utf8.AppendRune(w.out, c)
		}
		if i&1023 == 0 {
			w.r.bound(float64(len(w.out)))
		}
	}
	w.out = append(w.out, '"')
}

// pair reports whether two code units of a text are one character.
func (w *writer) pair(s sobek.String, i int) bool {
	return i+1 < s.Length() && utf16.DecodeRune(rune(s.CharAt(i)), rune(s.CharAt(i+1))) != utf8.RuneError
}
