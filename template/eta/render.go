package eta

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/grafana/sobek"
)

// run is one render.
type run struct {
	set   *Set
	vm    *sobek.Runtime
	watch *watch
	// main is the template that was asked for.
	main *template
	// out is what was written by the file, or the capture, that runs now.
	out *strings.Builder
	// acts are all files rendered so far; stack those that are being rendered.
	acts  []*activation
	stack []*activation
	// calls are the functions of programs that ran already.
	calls map[*program]sobek.Callable
	// write, setter and call are handed to every program.
	write, setter, call sobek.Value
	// fatal is what ended the render for good; a template cannot catch it.
	fatal *Error
	// traced is the error that passed a file last, from how it was included.
	traced error
	from   []Place
	// joining are the lists that are being joined, one in the other.
	joining []*sobek.Object
	// std is the global object of the engine, and bounded says which methods are
	// bounded already.
	std     *sobek.Object
	bounded []bool
	// bounds are the functions that programs call instead of what has no bounds,
	// and add is + as it is; nil if they have not been needed yet.
	bounds [boundNames]sobek.Value
	add    sobek.Callable
	// regExp makes regular expressions; nil if there were none yet. round is how
	// many notes one of them makes in a round, and longest how long the longest
	// text is.
	regExp         sobek.Value
	round, longest int
	// finding is how many places are looked for at most, and matches counts those
	// that matchAll has found.
	finding, matches int
}

// activation is one file being rendered.
type activation struct {
	t  *template
	it *sobek.Object
	// from is where it was included.
	from Place
	// layout is the file that its text goes into, named at layoutFrom.
	layout     string
	layoutData sobek.Value
	layoutFrom Place
	blocks     *sobek.Object
}

// render renders a template in a machine of its own. It returns in time even
// if the machine does not: a function of JavaScript cannot be interrupted, and
// some can be made to run for days.
func (s *Set) render(ctx context.Context, t *template, data Data) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", &Error{File: t.name, Msg: "cannot render: " + err.Error(), Err: err}
	}
	r := &run{set: s, vm: newMachine(), main: t, calls: map[*program]sobek.Callable{}}
	r.watch = newWatch(r.vm, s.limits)
	defer r.watch.start(ctx)()
	type result struct {
		out string
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := r.render(data)
		done <- result{out, err}
	}()
	select {
	case res := <-done:
		return res.out, res.err
	case why := <-r.watch.lost:
		e := &Error{File: t.name, Msg: why.Error(), Err: why}
		if f, ok := itself[*fault](why); ok {
			e.Hint = f.hint
		}
		return "", e
	}
}

// render is the part of a render that runs on the machine.
func (r *run) render(data Data) (out string, err error) {
	defer func() {
		// The engine says most of what goes wrong in it with an error, and
		// running out of something with a panic.
		if x := recover(); x != nil {
			e, ok := x.(error)
			if !ok {
				e = fmt.Errorf("%v", x)
			}
			out, err = "", r.errorOf(e)
		}
	}()
	r.write = r.vm.ToValue(r.writeValue)
	r.call = r.vm.ToValue(r.callFunction)
	r.confine()
	it := r.vm.NewObject()
	for _, k := range slices.Sorted(maps.Keys(data)) {
		v, err := r.value(data[k], 0)
		if err != nil {
			return "", &Error{File: r.main.name, Msg: fmt.Sprintf("cannot render: %s: %v", k, err), Err: err}
		}
		r.put(it, k, v)
	}
	var rejected sobek.Value
	r.vm.SetPromiseRejectionTracker(func(p *sobek.Promise, op sobek.PromiseRejectionOperation) {
		if op == sobek.PromiseRejectionReject && rejected == nil {
			rejected = p.Result()
		}
	})
	out, err = r.file(&activation{t: r.main, it: it})
	switch {
	case r.fatal != nil:
		return "", r.fatal
	case err != nil:
		return "", r.errorOf(err)
	case rejected != nil:
		return "", &Error{File: r.main.name, Msg: "cannot render: " + shorten(message(rejected)),
			Hint: "templates are not asynchronous: do without async, await and promises"}
	}
	return out, nil
}

// file renders one file, and the layout it asks for.
func (r *run) file(a *activation) (string, error) {
	p, err := a.t.program(a.it.Keys())
	if err != nil {
		return "", err
	}
	r.need(p.methods)
	if p.patterns {
		r.guardRegExp()
	}
	if err := r.backtrack(p.round); err != nil {
		return "", err
	}
	fn := r.calls[p]
	if fn == nil {
		v, err := r.vm.RunProgram(p.code)
		if err != nil {
			return "", err
		}
		fn, _ = sobek.AssertFunction(v)
		r.calls[p] = fn
	}
	id := len(r.acts)
	r.acts = append(r.acts, a)
	r.stack = append(r.stack, a)
	before := r.out
	r.out = new(strings.Builder)
	r.out.Grow(int(a.t.size.Load()))
	args := append(make([]sobek.Value, 0, 5+len(p.names)+boundNames), r.write, r.setterFor(a.t), r.call, r.vm.ToValue(id), a.it)
	for _, name := range p.names {
		args = append(args, a.it.Get(name))
	}
	for _, which := range p.bounds {
		args = append(args, r.boundFunction(which))
	}
	_, err = fn(sobek.Undefined(), args...)
	out := r.out.String()
	a.t.size.Store(int64(len(out)))
	r.out = before
	r.trace(err)
	if err == nil && a.layout != "" {
		out, err = r.layout(a, out)
	}
	r.stack = r.stack[:len(r.stack)-1]
	return out, err
}

// layout renders the layout of a file around what the file wrote.
func (r *run) layout(a *activation, body string) (string, error) {
	it := r.merged(a.it, nil)
	r.put(it, "body", r.vm.ToValue(strings.TrimSuffix(body, "\n")))
	r.assign(it, a.layoutData)
	if a.blocks != nil {
		r.put(it, "__blocks", a.blocks)
	}
	out, err := r.include(a.t.name, a.layout, it, a.layoutFrom)
	if f, ok := itself[*fault](err); ok {
		// The layout cannot be had: that is an error of the call, which is over.
		e := &Error{File: a.layoutFrom.File, Line: a.layoutFrom.Line, Column: a.layoutFrom.Column,
			Msg: f.msg, Hint: f.hint, Text: lineOf(a.t.text, a.layoutFrom.Line), From: r.places(), Err: f}
		r.traced, err = e, e
	}
	return out, err
}

// include renders the named file, as from a file called from.
func (r *run) include(from, name string, it *sobek.Object, at Place) (string, error) {
	file, err := resolve(from, name)
	if err != nil {
		return "", err
	}
	if len(r.stack) >= r.set.limits.Depth {
		return "", r.tooDeep(file)
	}
	t, err := r.set.template(file)
	if err != nil {
		return "", r.included(err, at)
	}
	out, err := r.file(&activation{t: t, it: it, from: at})
	if e, ok := itself[*Error](err); ok {
		return "", r.included(e, at)
	}
	return out, err
}

// included says of an error in a file that was to be included how it came to
// that. One that has no place in the file gets that of the include.
func (r *run) included(err error, at Place) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || errors.Is(err, r.traced) {
		return err
	}
	if e.Line == 0 {
		return &fault{msg: e.Msg, hint: e.Hint}
	}
	c := *e
	c.From = r.places()
	if !slices.Contains(c.From, at) {
		c.From = append([]Place{at}, c.From...)
	}
	r.traced, r.from = &c, c.From
	return &c
}

// tooDeep says that files include one another too deep, and in which circle.
func (r *run) tooDeep(file string) error {
	names := []string{file}
	for _, a := range slices.Backward(r.stack) {
		names = append(names, a.t.name)
		if a.t.name == file {
			slices.Reverse(names)
			return &fault{
				msg:  fmt.Sprintf("cannot include %q: files include one another in a circle, %s", file, strings.Join(names, " → ")),
				hint: fmt.Sprintf("a file may include itself, but not more than %d deep: does it ever end?", r.set.limits.Depth),
			}
		}
	}
	return &fault{msg: fmt.Sprintf("cannot include %q: files include one another more than %d deep", file, r.set.limits.Depth)}
}

// places returns how the file that runs now was included, the nearest first
// and each but once.
func (r *run) places() []Place {
	var places []Place
	for _, a := range slices.Backward(r.stack) {
		if a.from.Line > 0 && !slices.Contains(places, a.from) {
			places = append(places, a.from)
		}
	}
	return places
}

// trace remembers how the file was included that an error comes from.
func (r *run) trace(err error) {
	if err == nil || errors.Is(err, r.traced) {
		return
	}
	r.traced, r.from = err, r.places()
}

// throw throws an error that a file or function ended with, so that the
// template may catch it.
func (r *run) throw(err error) {
	var ex *sobek.Exception
	var stop *sobek.InterruptedError
	var deep *sobek.StackOverflowError
	switch {
	case errors.As(err, &stop):
		panic(stop)
	case errors.As(err, &deep):
		panic(deep)
	case errors.As(err, &ex):
		panic(ex)
	}
	thrown := r.vm.NewGoError(err)
	panic(thrown)
}
