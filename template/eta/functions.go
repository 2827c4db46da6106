package eta

import (
	"fmt"
	"strings"

	"github.com/grafana/sobek"
)

// writeValue writes the value of a tag. Templates call it as output.
func (r *run) writeValue(call sobek.FunctionCall) sobek.Value {
	if r.fatal != nil {
		return sobek.Undefined()
	}
	if len(call.Arguments) == 0 {
		r.throw(&fault{msg: "cannot write an empty tag", hint: "put a value into a tag that begins with <%= or <%~"})
	}
	r.emit(r.textOf(call.Arguments[0]))
	return sobek.Undefined()
}

// emit writes text.
func (r *run) emit(text string) {
	if r.out.Len()+len(text) > r.set.limits.Output {
		r.fail(&fault{
			msg:  fmt.Sprintf("cannot render: output is larger than %d bytes", r.set.limits.Output),
			hint: "check for an infinite loop",
		})
		return
	}
	r.out.WriteString(text)
}

// textOf returns the text of a value to write. It throws an error for values that make
// no sense in a document.
func (r *run) textOf(v sobek.Value) string {
	if sobek.IsUndefined(v) {
		r.throw(&fault{msg: "cannot write undefined", hint: `set a default: <%= value ?? "" %>`})
	}
	o, ok := v.(*sobek.Object)
	if !ok {
		return v.String()
	}
	if _, ok := sobek.AssertFunction(v); ok {
		r.throw(&fault{msg: "cannot write a function", hint: "call it: <%= name() %>"})
	}
	text := o.String()
	if text == plainObject || o.ClassName() == "Array" && strings.Contains(text, plainObject) {
		r.throw(&fault{msg: "cannot write an object", hint: "write one of its values, or all as JSON: <%= JSON.stringify(value) %>"})
	}
	return text
}

// plainObject is the JavaScript text of an object without a text of its own.
const plainObject = "[object Object]"

// setterFor returns the object whose property v writes what is assigned to it, if the
// template needs one.
func (r *run) setterFor(t *template) sobek.Value {
	if r.setter != nil {
		return r.setter
	}
	for _, p := range t.parts {
		if p.kind == value && !p.whole {
			o := r.vm.NewObject()
			set := r.vm.ToValue(r.writeValue)
			r.must(o.DefineAccessorProperty("v", nil, set, sobek.FLAG_FALSE, sobek.FLAG_FALSE))
			r.setter = o
			return o
		}
	}
	return sobek.Undefined()
}

// callFunction implements include, layout, block and capture: the first argument selects
// the function, the second the calling file.
func (r *run) callFunction(call sobek.FunctionCall) sobek.Value {
	if r.fatal != nil {
		return sobek.Undefined()
	}
	id := int(call.Argument(1).ToInteger())
	if id < 0 || id >= len(r.acts) {
		return sobek.Undefined()
	}
	a := r.acts[id]
	switch call.Argument(0).ToInteger() {
	case 0:
		return r.includeFunction(a, call.Argument(2), call.Argument(3))
	case 1:
		a.layout, a.layoutData, a.layoutFrom = call.Argument(2).String(), call.Argument(3), r.here()
		return sobek.Undefined()
	case 2:
		return r.blockFunction(a, call.Argument(2), call.Argument(3))
	default:
		return r.captureFunction(call.Argument(2))
	}
}

// includeFunction renders another file, which sees the data of this one and the data
// passed to it. Its last line break is removed: the including line already has one.
func (r *run) includeFunction(a *activation, name, data sobek.Value) sobek.Value {
	if sobek.IsUndefined(name) || sobek.IsNull(name) {
		r.throw(&fault{msg: fmt.Sprintf("cannot include %v: not a file name", name)})
	}
	out, err := r.include(a.t.name, name.String(), r.merged(a.it, data), r.here())
	if err != nil {
		r.throw(err)
	}
	r.track(len(out))
	return r.vm.ToValue(strings.TrimSuffix(out, "\n"))
}

// blockFunction implements a part of a layout that a file may fill: in a file with a
// layout it stores the text, in a layout it returns the stored text, or the output of
// the function.
func (r *run) blockFunction(a *activation, name, fn sobek.Value) sobek.Value {
	empty := r.vm.ToValue("")
	if a.layout != "" {
		if !sobek.IsUndefined(fn) {
			text := r.captureFunction(fn)
			if a.blocks == nil {
				a.blocks = r.vm.CreateObject(nil)
			}
			r.put(a.blocks, name.String(), text)
		}
		return empty
	}
	if kept, ok := a.it.Get("__blocks").(*sobek.Object); ok {
		if text := kept.Get(name.String()); text != nil {
			return text
		}
	}
	if sobek.IsUndefined(fn) {
		return empty
	}
	return r.captureFunction(fn)
}

// captureFunction returns the output of a function instead of writing it.
func (r *run) captureFunction(fn sobek.Value) sobek.Value {
	call, ok := sobek.AssertFunction(fn)
	if !ok {
		r.throw(&fault{msg: "cannot capture a value that is not a function", hint: "write capture(() => { %> text <% })"})
	}
	before := r.out
	r.out = new(strings.Builder)
	_, err := call(sobek.Undefined())
	text := r.out.String()
	r.out = before
	if err != nil {
		r.throw(err)
	}
	r.track(len(text))
	return r.vm.ToValue(text)
}

// merged returns an object with the properties of both.
func (r *run) merged(it *sobek.Object, data sobek.Value) *sobek.Object {
	out := r.vm.NewObject()
	r.assign(out, it)
	r.assign(out, data)
	return out
}

// assign copies the properties of data to o, if it has any.
func (r *run) assign(o *sobek.Object, data sobek.Value) {
	from, ok := data.(*sobek.Object)
	if !ok {
		return
	}
	for _, k := range from.Keys() {
		r.put(o, k, from.Get(k))
	}
}
