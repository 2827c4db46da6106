package eta

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/grafana/sobek"

	"example.dev/ingestor/document/tree"
)

// The limits of the arguments and results of a Func.
const (
	maxDepth  = 200
	maxValues = 1 << 18
)

var errDepth = &fault{msg: "cannot convert a value that is nested too deeply, too large, or contains itself"}

// put sets a property of an object, even if its name is special in JavaScript.
func (r *run) put(o *sobek.Object, key string, v sobek.Value) {
	if key == "__proto__" {
		r.must(o.DefineDataProperty(key, v, sobek.FLAG_TRUE, sobek.FLAG_TRUE, sobek.FLAG_TRUE))
		return
	}
	r.must(o.Set(key, v))
}

// value returns a copy of a Go value for templates.
func (r *run) value(v any, depth int) (sobek.Value, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case nil:
		return sobek.Null(), nil
	case string:
		r.track(len(v))
		return r.vm.ToValue(v), nil
	case bool, int, int8, int16, int32, int64, uint8, uint16, uint32, float32, float64:
		return r.vm.ToValue(v), nil
	case uint:
		return r.vm.ToValue(float64(v)), nil
	case uint64:
		return r.vm.ToValue(float64(v)), nil
	case json.Number:
		return r.number(v.String()), nil
	case *tree.Node:
		return r.node(v), nil
	case Func:
		return r.function(v), nil
	case func([]any) (any, error):
		return r.function(v), nil
	case map[string]Func:
		return r.vm.NewDynamicObject(&funcs{r: r, all: v, made: map[string]sobek.Value{}}), nil
	case []string:
		return r.list(len(v), func(i int) (sobek.Value, error) { return r.vm.ToValue(v[i]), nil })
	case []any:
		return r.list(len(v), func(i int) (sobek.Value, error) { return r.value(v[i], depth+1) })
	case map[string]string:
		return r.object(slices.Sorted(maps.Keys(v)), func(k string) (sobek.Value, error) { return r.vm.ToValue(v[k]), nil })
	case map[string]any:
		return r.object(slices.Sorted(maps.Keys(v)), func(k string) (sobek.Value, error) { return r.value(v[k], depth+1) })
	}
	return nil, fmt.Errorf("cannot pass a %T to a template", v)
}

func (r *run) list(n int, item func(int) (sobek.Value, error)) (sobek.Value, error) {
	items := make([]any, n)
	for i := range items {
		v, err := item(i)
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return r.vm.NewArray(items...), nil
}

func (r *run) object(keys []string, field func(string) (sobek.Value, error)) (sobek.Value, error) {
	o := r.vm.NewObject()
	for _, k := range keys {
		v, err := field(k)
		if err != nil {
			return nil, err
		}
		r.put(o, k, v)
	}
	return o, nil
}

// node returns a copy of a document; undefined if it is absent.
func (r *run) node(n *tree.Node) sobek.Value {
	if n == nil {
		return sobek.Undefined()
	}
	switch n.Kind {
	case tree.Bool:
		return r.vm.ToValue(n.Text == "true")
	case tree.Int, tree.Float:
		return r.number(n.Text)
	case tree.String:
		r.track(len(n.Text))
		return r.vm.ToValue(n.Text)
	case tree.List:
		items := make([]any, len(n.Items))
		for i, item := range n.Items {
			items[i] = r.node(item)
		}
		return r.vm.NewArray(items...)
	case tree.Map:
		return r.newObject(n)
	default:
		return sobek.Null()
	}
}

// number parses a number as exactly as JavaScript can represent it.
func (r *run) number(text string) sobek.Value {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return r.vm.ToValue(i)
	}
	// A number out of range is infinite, as in JavaScript.
	f, _ := strconv.ParseFloat(text, 64)
	return r.vm.ToValue(f)
}

// function returns a function that calls f.
func (r *run) function(f Func) sobek.Value {
	return r.vm.ToValue(func(call sobek.FunctionCall) sobek.Value {
		if r.fatal != nil {
			return sobek.Undefined()
		}
		args := make([]any, len(call.Arguments))
		left := maxValues
		for i, a := range call.Arguments {
			v, err := plain(a, &left)
			if err != nil {
				r.throw(err)
			}
			args[i] = v
		}
		if !r.watch.enter() {
			return sobek.Undefined()
		}
		v, err := r.callGo(f, args)
		if err != nil {
			r.throw(err)
		}
		out, err := r.value(v, 0)
		if err != nil {
			r.throw(err)
		}
		return out
	})
}

// callGo calls a Func.
func (r *run) callGo(f Func, args []any) (any, error) {
	defer r.watch.leave()
	return f(args)
}

// plain converts a JavaScript value to an argument of a Func.
func plain(v sobek.Value, left *int) (any, error) {
	if sobek.IsUndefined(v) || sobek.IsNull(v) {
		return nil, nil
	}
	o, ok := v.(*sobek.Object)
	if ok {
		n, err := nodeOf(o, 0, left)
		if n == nil || n.Kind == tree.List || n.Kind == tree.Map {
			return n, err
		}
		return n.Any(), err
	}
	switch e := v.Export().(type) {
	case bool, string, int64:
		return e, nil
	case float64:
		if e == math.Trunc(e) && math.Abs(e) < 1<<53 {
			return int64(e), nil
		}
		return e, nil
	default:
		return nil, fmt.Errorf("cannot pass %v to a helper", v)
	}
}

// nodeOf converts a JavaScript value to a document. Values without a JSON representation
// are absent, as in JSON.stringify.
func nodeOf(v sobek.Value, depth int, left *int) (*tree.Node, error) {
	if *left -= weight(v); depth > maxDepth || *left < 0 {
		return nil, errDepth
	}
	if v == nil || sobek.IsUndefined(v) {
		return nil, nil
	}
	o, ok := v.(*sobek.Object)
	if !ok {
		return tree.From(v.Export())
	}
	if _, ok := sobek.AssertFunction(o); ok {
		return nil, &fault{msg: "cannot pass a function to a helper", hint: "call it first"}
	}
	switch class := o.ClassName(); class {
	case "Array":
		return listOf(o, depth, left)
	case "Object":
		if d, ok := o.Export().(*object); ok && d.all == nil {
			return d.copied(depth, left)
		}
		n := tree.Obj()
		for _, k := range o.Keys() {
			c, err := nodeOf(o.Get(k), depth+1, left)
			if err != nil {
				return nil, err
			}
			if c != nil {
				n.Fields = append(n.Fields, tree.F(k, c))
			}
		}
		return n, nil
	case "String", "Number", "Boolean":
		return tree.From(o.Export())
	default:
		return nil, &fault{msg: fmt.Sprintf("cannot pass a %s to a helper", class), hint: "convert it to an object, a list or a string first"}
	}
}

func listOf(o *sobek.Object, depth int, left *int) (*tree.Node, error) {
	n := tree.Arr()
	size := o.Get("length").ToInteger()
	if size > int64(*left) {
		return nil, errDepth
	}
	for i := range size {
		c, err := nodeOf(o.Get(strconv.FormatInt(i, 10)), depth+1, left)
		if err != nil {
			return nil, err
		}
		if c == nil {
			c = tree.Nil()
		}
		n.Items = append(n.Items, c)
	}
	return n, nil
}

// funcs are functions that are created on first use: most templates use few of the
// functions they get.
type funcs struct {
	r    *run
	all  map[string]Func
	made map[string]sobek.Value
	gone map[string]bool
}

// Get returns the function named key, or what the template set instead.
func (f *funcs) Get(key string) sobek.Value {
	if v := f.made[key]; v != nil {
		return v
	}
	fn, ok := f.all[key]
	if !ok || f.gone[key] {
		return nil
	}
	v := f.r.function(fn)
	f.made[key] = v
	return v
}

// Set lets a template replace a function, for this render.
func (f *funcs) Set(key string, v sobek.Value) bool {
	f.made[key] = v
	return true
}

// Has reports whether key exists.
func (f *funcs) Has(key string) bool {
	_, ok := f.all[key]
	return f.made[key] != nil || ok && !f.gone[key]
}

// Delete lets a template remove a function, for this render.
func (f *funcs) Delete(key string) bool {
	delete(f.made, key)
	if f.gone == nil {
		f.gone = map[string]bool{}
	}
	f.gone[key] = true
	return true
}

// Keys returns all names, sorted.
func (f *funcs) Keys() []string {
	var keys []string
	for k := range f.all {
		if !f.gone[k] {
			keys = append(keys, k)
		}
	}
	for k := range f.made {
		if _, ok := f.all[k]; !ok || f.gone[k] {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
