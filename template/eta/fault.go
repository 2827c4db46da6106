package eta

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/grafana/sobek"

	"example.dev/ingestor/internal/text"
)

// fault is an error with a hint; its position is where it is thrown.
type fault struct{ msg, hint string }

func (f *fault) Error() string { return f.msg }

// itself returns err if it is a T, but not if it wraps a T: a JavaScript exception wraps
// its cause.
func itself[T error](err error) (T, bool) {
	t, ok := any(err).(T)
	return t, ok
}

// errorOf converts any error of a render to an *Error.
func (r *run) errorOf(err error) *Error {
	if r.fatal != nil {
		return r.fatal
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var frames []sobek.StackFrame
	var ex *sobek.Exception
	var stop *sobek.InterruptedError
	var deep *sobek.StackOverflowError
	// late is true if the machine may have moved past the cause.
	late := false
	out := &Error{File: r.main.name, Err: err}
	switch {
	case errors.As(err, &stop):
		frames = stop.Stack()
		out.Err, _ = stop.Value().(error)
		out.Msg = fmt.Sprint(stop.Value())
		if f, ok := stop.Value().(*fault); ok {
			out.Hint = f.hint
		}
		late = true
	case errors.As(err, &deep):
		frames = deep.Stack()
		out.Msg, out.Hint = "cannot render: function calls are nested too deeply", "check for infinite recursion"
	case errors.As(err, &ex):
		frames = ex.Stack()
		out.Err = ex.Unwrap()
		out.Msg = message(ex.Value())
		out.Hint = r.hint(out.Msg)
		if f, ok := itself[*fault](out.Err); ok {
			out.Msg, out.Hint = f.msg, f.hint
		}
	default:
		out.Msg = "cannot render: " + err.Error()
	}
	out.Msg = shorten(out.Msg)
	if at := r.locate(frames, late); at != nil {
		out.File, out.Line, out.Column, out.Text = at.File, at.Line, at.Column, at.Text
	}
	if errors.Is(err, r.traced) {
		out.From = r.from
	}
	return out
}

// hint returns a hint for common JavaScript errors.
func (r *run) hint(msg string) string {
	switch {
	case strings.HasPrefix(msg, "ReferenceError: ") && len(r.acts) > 0:
		names := append(r.acts[0].it.Keys(), dataName)
		return "available variables: " + strings.Join(names, ", ")
	case strings.HasPrefix(msg, "TypeError: Cannot read property"):
		return "write ?. where a value may be missing: a?.b"
	}
	return ""
}

// locate returns the first position in a template on the call stack. The engine does not
// record the position of every loop: if the position may be late and is literal text, or
// unknown, the tag that follows is meant.
func (r *run) locate(frames []sobek.StackFrame, late bool) *Error {
	var begun *template
	for _, f := range frames {
		t := r.named(f.SrcName())
		if t == nil {
			continue
		}
		at := f.Position()
		offset, ok := t.offset(at.Line, at.Column)
		if !ok {
			begun = cmp.Or(begun, t)
			continue
		}
		if late {
			offset = t.afterText(offset)
		}
		return errorAt(t.name, t.text, offset, "")
	}
	if late && begun != nil {
		return errorAt(begun.name, begun.text, begun.firstTag(), "")
	}
	return nil
}

// named returns the template of that name that took part in the render.
func (r *run) named(name string) *template {
	for _, a := range r.acts {
		if a.t.name == name {
			return a.t
		}
	}
	return nil
}

// here returns the position in a template that calls the current function.
func (r *run) here() Place {
	at := r.locate(r.vm.CaptureCallStack(0, nil), false)
	if at == nil {
		return Place{File: r.main.name}
	}
	return Place{at.File, at.Line, at.Column}
}

// fail ends the render irrevocably, at the current position.
func (r *run) fail(f *fault) {
	if r.fatal != nil {
		return
	}
	at := r.locate(r.vm.CaptureCallStack(0, nil), false)
	if at == nil {
		at = &Error{File: r.main.name}
	}
	at.Msg, at.Hint, at.Err, at.From = f.msg, f.hint, f, r.places()
	r.fatal = at
	r.vm.Interrupt(f)
}

// longest is the maximum length of a thrown message: a template may throw a very long
// text.
const longest = 1000

// shorten shortens a thrown message.
func shorten(s string) string { return text.Shorten(s, longest) }

// message returns the message of a thrown value.
func message(v sobek.Value) string {
	const silent = "thrown object has no message"
	o, ok := v.(*sobek.Object)
	if !ok {
		return v.String()
	}
	name, msg := o.Get("name"), o.Get("message")
	if name == nil || msg == nil {
		if o.Get("toString") == nil || v.String() == plainObject {
			return silent
		}
		return v.String()
	}
	text := msg.String()
	if strings.HasPrefix(text, "Could not convert &{") {
		// The engine would show its internal representation.
		text = "Cannot convert an object to a string"
	}
	if n := name.String(); n != "Error" && n != "GoError" {
		return n + ": " + text
	}
	return text
}

// lineOf returns a line of text, counted from 1.
func lineOf(text string, line int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSuffix(lines[line-1], "\r")
}
