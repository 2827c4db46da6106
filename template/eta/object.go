package eta

import (
	"slices"

	"github.com/grafana/sobek"

	"example.dev/ingestor/document/tree"
)

// object is a map of a document as a template sees it. A value is copied on first
// access, because most of a document is usually not accessed; changes of the template
// stay in the copy.
type object struct {
	r *run
	n *tree.Node
	// values are the copies, one for each field of n; nil if not made yet.
	values []sobek.Value
	// index maps keys to indexes, for large maps.
	index map[string]int
	// keys and all replace the fields above once a template has added or removed a key.
	keys []string
	all  map[string]sobek.Value
}

// fewFields is the number of fields up to which a linear search is used.
const fewFields = 8

func (r *run) newObject(n *tree.Node) sobek.Value {
	return r.vm.NewDynamicObject(&object{r: r, n: n})
}

// find returns the index of a key, or -1. Of a duplicate key the last one counts.
func (o *object) find(key string) int {
	fields := o.n.Fields
	if len(fields) <= fewFields {
		for i := len(fields) - 1; i >= 0; i-- {
			if fields[i].Key == key {
				return i
			}
		}
		return -1
	}
	if o.index == nil {
		o.index = make(map[string]int, len(fields))
		for i, f := range fields {
			o.index[f.Key] = i
		}
	}
	if i, ok := o.index[key]; ok {
		return i
	}
	return -1
}

// at returns the copy of a field.
func (o *object) at(i int) sobek.Value {
	if o.values == nil {
		o.values = make([]sobek.Value, len(o.n.Fields))
	}
	if o.values[i] == nil {
		o.values[i] = o.r.node(o.n.Fields[i].Value)
	}
	return o.values[i]
}

// Get returns the value of a key, or nil.
func (o *object) Get(key string) sobek.Value {
	if o.all != nil {
		return o.all[key]
	}
	i := o.find(key)
	if i < 0 {
		return nil
	}
	return o.at(i)
}

// Set changes the copy.
func (o *object) Set(key string, v sobek.Value) bool {
	if o.all == nil {
		if i := o.find(key); i >= 0 {
			o.at(i)
			o.values[i] = v
			return true
		}
		o.own()
	}
	if _, ok := o.all[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.all[key] = v
	return true
}

// Has reports whether the key exists.
func (o *object) Has(key string) bool {
	if o.all != nil {
		_, ok := o.all[key]
		return ok
	}
	return o.find(key) >= 0
}

// Delete removes a key from the copy.
func (o *object) Delete(key string) bool {
	if !o.Has(key) {
		return true
	}
	o.own()
	delete(o.all, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
	return true
}

// Keys returns the keys in document order, then those added.
func (o *object) Keys() []string {
	if o.all != nil {
		return slices.Clone(o.keys)
	}
	keys := make([]string, 0, len(o.n.Fields))
	for i, f := range o.n.Fields {
		if o.find(f.Key) == i {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// own copies all fields that are not copied yet.
func (o *object) own() {
	if o.all != nil {
		return
	}
	o.keys = o.Keys()
	all := make(map[string]sobek.Value, len(o.keys))
	for _, k := range o.keys {
		all[k] = o.at(o.find(k))
	}
	o.all = all
}

// copied is nodeOf for a map without added or removed keys: fields that the template has
// not accessed need not be converted to JavaScript first.
func (o *object) copied(depth int, left *int) (*tree.Node, error) {
	out := tree.Obj()
	out.Fields = make([]tree.Field, 0, len(o.n.Fields))
	for i, f := range o.n.Fields {
		if o.find(f.Key) != i {
			continue
		}
		var c *tree.Node
		var err error
		if o.values != nil && o.values[i] != nil {
			c, err = nodeOf(o.values[i], depth+1, left)
		} else {
			c, err = o.r.copied(f.Value, depth+1, left)
		}
		if err != nil {
			return nil, err
		}
		if c != nil {
			out.Fields = append(out.Fields, tree.F(f.Key, c))
		}
	}
	return out, nil
}

// copied returns what nodeOf would return for a part of a document. Numbers are
// converted as in JavaScript, so that they are the same whether or not a template has
// accessed them.
func (r *run) copied(n *tree.Node, depth int, left *int) (*tree.Node, error) {
	if n == nil || n.Kind == tree.Int || n.Kind == tree.Float {
		return nodeOf(r.node(n), depth, left)
	}
	if *left -= weightOf(len(n.Text)); depth > maxDepth || *left < 0 {
		return nil, errDepth
	}
	switch n.Kind {
	case tree.Null:
		return tree.Nil(), nil
	case tree.Map:
		return (&object{r: r, n: n}).copied(depth, left)
	case tree.List:
	default:
		return &tree.Node{Kind: n.Kind, Text: n.Text}, nil
	}
	out := tree.Arr()
	out.Items = make([]*tree.Node, 0, len(n.Items))
	for _, item := range n.Items {
		c, err := r.copied(item, depth+1, left)
		if err != nil {
			return nil, err
		}
		if c == nil {
			c = tree.Nil()
		}
		out.Items = append(out.Items, c)
	}
	return out, nil
}
