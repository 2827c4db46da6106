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
	// main is the requested template.
	main *template
	// out is the output of the current file or capture.
	out *strings.Builder
	// acts are all files rendered so far; stack are those being rendered.
	acts  []*activation
	stack []*activation
	// calls are the functions of programs that have already run.
	calls map[*program]sobek.Callable
	// write, setter and call are passed to every program.
	write, setter, call sobek.Value
	// fatal is the error that ended the render irrevocably; a template cannot catch it.
	fatal *Error
	// traced is the error that passed a file last; from is how that file was included.
	traced error
	from   []Place
	// joining are the nested lists that are being joined.
	joining []*sobek.Object
	// std is the global object of the engine; bounded marks the methods that are already
	// limited.
	std     *sobek.Object
	bounded []bool
	// bounds are the functions that programs call instead of unlimited operations, and add
	// is the plain +; nil if they have not been needed yet.
	bounds [boundNames]sobek.Value
	add    sobek.Callable
	// regExp is the RegExp constructor; nil if it has not been needed yet. round is the
	// maximum number of notes per iteration, and longest the length of the longest text.
	regExp         sobek.Value
	round, longest int
	// finding is the maximum number of matches being searched; matches counts those that
	// matchAll has found.
	finding, matches int
}

// activation is one file being rendered.
type activation struct {
	t  *template
	it *sobek.Object
	// from is where it was included.
	from Place
	// layout is the file into which its text is put, as requested at layoutFrom.
	layout     string
	layoutData sobek.Value
	layoutFrom Place
	blocks     *sobek.Object
}

// render renders a template in its own machine. It returns in time even if the machine
// does not: a JavaScript function cannot be interrupted, and some can be made to run for
// days.
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
		// The engine reports most failures as errors, and exhausted resources as panics.
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
			Hint: "remove async, await and promises; templates are synchronous"}
	}
	return out, nil
}

// file renders one file, and the layout it requests.
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

// layout renders the layout of a file around the output of the file.
func (r *run) layout(a *activation, body string) (string, error) {
	it := r.merged(a.it, nil)
	r.put(it, "body", r.vm.ToValue(strings.TrimSuffix(body, "\n")))
	r.assign(it, a.layoutData)
	if a.blocks != nil {
		r.put(it, "__blocks", a.blocks)
	}
	out, err := r.include(a.t.name, a.layout, it, a.layoutFrom)
	if f, ok := itself[*fault](err); ok {
		// The layout is not available: that is an error of the layout call, which has already
		// returned.
		e := &Error{File: a.layoutFrom.File, Line: a.layoutFrom.Line, Column: a.layoutFrom.Column,
			Msg: f.msg, Hint: f.hint, Text: lineOf(a.t.text, a.layoutFrom.Line), From: r.places(), Err: f}
		r.traced, err = e, e
	}
	return out, err
}

// include renders the named file, as included from the file from.
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

// included adds to an error in an included file how the file was included. An error
// without a position in the file gets the position of the include.
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

// tooDeep returns an error about includes that are nested too deep, with the cycle if
// there is one.
func (r *run) tooDeep(file string) error {
	names := []string{file}
	for _, a := range slices.Backward(r.stack) {
		names = append(names, a.t.name)
		if a.t.name == file {
			slices.Reverse(names)
			return &fault{
				msg:  fmt.Sprintf("cannot include %q: include cycle, %s", file, strings.Join(names, " → ")),
				hint: fmt.Sprintf("check that the recursion ends; a file may include itself at most %d levels deep", r.set.limits.Depth),
			}
		}
	}
	return &fault{msg: fmt.Sprintf("cannot include %q: includes are nested more than %d levels deep", file, r.set.limits.Depth)}
}

// places returns how the current file was included, the innermost first, without
// duplicates.
func (r *run) places() []Place {
	var places []Place
	for _, a := range slices.Backward(r.stack) {
		if a.from.Line > 0 && !slices.Contains(places, a.from) {
			places = append(places, a.from)
		}
	}
	return places
}

// trace records how the file in which an error occurred was included.
func (r *run) trace(err error) {
	if err == nil || errors.Is(err, r.traced) {
		return
	}
	r.traced, r.from = err, r.places()
}

// throw throws the error of a file or function, so that the template may catch it.
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
