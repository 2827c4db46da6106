package composed

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// All returns the nodes of a tree, each before its children.
func (n *Node) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { n.each(yield) }
}

func (n *Node) each(yield func(*Node) bool) bool {
	if !yield(n) {
		return false
	}
	for _, c := range n.Children {
		if !c.each(yield) {
			return false
		}
	}
	return true
}

// ObjectEvent is an event with the object that it is about.
type ObjectEvent struct {
	Object Ref `json:"object"`
	Event
}

// Events returns the latest events about the objects of a tree, the last one first.
func (n *Node) Events(most int) []ObjectEvent {
	out := []ObjectEvent{}
	for at := range n.All() {
		if at.Loop {
			continue
		}
		for _, e := range at.events {
			out = append(out, ObjectEvent{at.Ref, e})
		}
	}
	slices.SortStableFunc(out, func(a, b ObjectEvent) int {
		return cmp.Or(b.Last.Compare(a.Last), compareRefs(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return out[:min(most, len(out))]
}
