package xrd

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Spill moves a tree out of memory and returns a function that loads it, or nil if
// the tree stays in memory. Both may be called concurrently. A tree that cannot be
// loaded is nil; the Spill keeps the error.
type Spill func(*tree.Node) (load func() *tree.Node)

// Whole returns the object as it was read.
func (o *Object) Whole() *Object {
	if o.Load == nil {
		return o
	}
	whole := newObject(o.Load(), o.Origin)
	return &whole
}

// Whole returns the definition as it was read.
func (d *Definition) Whole() *Definition {
	if d.Load == nil {
		return d
	}
	whole := NewDefinition(d.Load(), d.Origin)
	whole.Also, whole.Serving = d.Also, d.Serving
	return whole
}

// Whole returns the Composition as it was read.
func (c *Composition) Whole() *Composition {
	if c.Load == nil {
		return c
	}
	return NewComposition(c.Load(), c.Origin)
}

// Whole returns the composite of d with everything that Prune keeps.
func (c *Composite) Whole(d *Definition) *Composite {
	if c.Load == nil {
		return c
	}
	o := newObject(compact(Prune(c.Load(), RoleComposite)), c.Origin)
	return NewComposite(&o, d)
}

// spillDefinition returns the part of a definition that stays in memory: the fields by
// which it is selected.
func (s *Set) spillDefinition(d *Definition) *Definition {
	load := s.Spill.load(d.Node)
	if load == nil {
		return d
	}
	slim := NewDefinition(brief(d.Node, true, func(f *tree.Field) bool { return f.Key != "versions" }), d.Origin)
	slim.Node, slim.Load = brief(d.Node, false, nil), load
	return slim
}

// spillComposition returns the part of a Composition that stays in memory: its composite
// type.
func (s *Set) spillComposition(c *Composition) *Composition {
	load := s.Spill.load(c.Node)
	if load == nil {
		return c
	}
	slim := NewComposition(brief(c.Node, false, func(f *tree.Field) bool { return f.Key == "compositeTypeRef" }), c.Origin)
	slim.Load = load
	return slim
}

// spillOther returns the part of another object that stays in memory: its identity and
// its references.
func (s *Set) spillOther(o *Object) *Object {
	load := s.Spill.load(o.Node)
	if load == nil {
		return o
	}
	refs := pruneSpec(o.Node.Get("spec"), true)
	slim := newObject(brief(o.Node, false, func(f *tree.Field) bool {
		f.Value = refs.Get(f.Key)
		return f.Value != nil
	}), o.Origin)
	slim.Load = load
	return &slim
}

func (s Spill) load(n *tree.Node) func() *tree.Node {
	if s == nil {
		return nil
	}
	return s(n)
}

// brief returns a copy of the identifying fields of an object, with its labels and
// annotations if told is set, and with the spec fields for which keep returns true.
func brief(n *tree.Node, told bool, keep func(*tree.Field) bool) *tree.Node {
	return compact(only(n, func(f *tree.Field) bool {
		switch f.Key {
		case "apiVersion", "kind":
			return true
		case "metadata":
			f.Value = only(f.Value, func(f *tree.Field) bool { return briefMetadata(f, told) })
			return true
		case "spec":
			if keep == nil || !f.Value.IsMap() {
				return false
			}
			f.Value = only(f.Value, keep)
			return true
		}
		return false
	}))
}

func briefMetadata(f *tree.Field, told bool) bool {
	switch f.Key {
	case "name", "namespace", "generation":
		return true
	case "labels":
		return told
	case "annotations":
		f.Value = only(f.Value, func(f *tree.Field) bool {
			// The annotation is as large as the object, and no filter uses its content.
			if f.Key == LastApplied {
				f.Value = tree.Str("")
			}
			return told || f.Key == words.AnnotationMadeName
		})
		return f.Value.Len() > 0
	}
	return false
}

// compact returns a deep copy that shares no memory with n, whose strings may be slices
// of a whole document.
func compact(n *tree.Node) *tree.Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Text = strings.Clone(n.Text)
	out.Fields, out.Items = slices.Clone(n.Fields), slices.Clone(n.Items)
	for i := range out.Fields {
		f := &out.Fields[i]
		f.Key, f.Value = strings.Clone(f.Key), compact(f.Value)
	}
	for i := range out.Items {
		out.Items[i] = compact(out.Items[i])
	}
	return &out
}
