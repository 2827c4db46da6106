package entity

import (
	"cmp"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// indent is the indent of JSON for people.
const indent = "  "

// Node returns the entity as a document, in the conventional field order. Empty fields
// are left out. The spec is shared, not copied.
func (e *Entity) Node() *tree.Node { return e.node(tree.StrMap(e.Metadata.Annotations)) }

// node is Node with the given annotations.
func (e *Entity) node(annotations *tree.Node) *tree.Node {
	if e.Load != nil {
		panic("cannot write partial entity " + e.Key() + "; see Whole")
	}
	m := &e.Metadata
	if annotations.Len() == 0 {
		annotations = nil
	}
	return tree.Obj(
		tree.F("apiVersion", tree.Str(e.APIVersion)),
		tree.F("kind", tree.Str(e.Kind)),
		tree.F("metadata", tree.Obj(
			tree.F("name", tree.Str(m.Name)),
			tree.F("namespace", tree.OptStr(m.Namespace)),
			tree.F("title", tree.OptStr(m.Title)),
			tree.F("description", tree.OptStr(m.Description)),
			tree.F("labels", tree.StrMap(m.Labels)),
			tree.F("annotations", annotations),
			tree.F("tags", tree.Strs(m.Tags)),
			tree.F("links", linksNode(m.Links)),
		)),
		tree.F("spec", e.Spec),
	)
}

func linksNode(links []Link) *tree.Node {
	if len(links) == 0 {
		return nil
	}
	n := tree.Arr()
	for _, l := range links {
		n.Items = append(n.Items, tree.Obj(
			tree.F("url", tree.Str(l.URL)),
			tree.F("title", tree.OptStr(l.Title)),
			tree.F("icon", tree.OptStr(l.Icon)),
			tree.F("type", tree.OptStr(l.Type)),
		))
	}
	return n
}

// AppendYAML appends the entity as one YAML document without a marker.
func AppendYAML(dst []byte, e *Entity) []byte { return tree.AppendYAML(dst, e.Node()) }

// YAMLDocuments returns the entities as YAML documents, each after a marker.
func YAMLDocuments(es []*Entity) []byte {
	out := make([]byte, 0, likelySize(es))
	for _, e := range es {
		out = append(out, "---\n"...)
		out = AppendYAML(out, e)
	}
	return out
}

// likelySize estimates the size of the entities' text, so that the buffer is rarely
// reallocated. A definition grows by its indent.
func likelySize(es []*Entity) int {
	n := 0
	for _, e := range es {
		n += 4<<10 + len(e.Spec.Get("definition").Str())*5/4
	}
	return n
}

// AppendJSON appends the entity as indented JSON and a newline.
func AppendJSON(dst []byte, e *Entity) []byte {
	return append(tree.AppendJSON(dst, e.Node(), indent), '\n')
}

// JSONArray returns the entities as one indented JSON array and a newline.
func JSONArray(es []*Entity) []byte {
	all := tree.Arr()
	for _, e := range es {
		all.Items = append(all.Items, e.Node())
	}
	return append(tree.AppendJSON(nil, all, indent), '\n')
}

// AppendNDJSON appends the entity as JSON on one line.
func AppendNDJSON(dst []byte, e *Entity) []byte {
	return append(tree.AppendJSON(dst, e.Node(), ""), '\n')
}

// kindOrder is the order in which kinds are written: what users select, then what it
// consists of, then what that belongs to.
var kindOrder = []string{KindTemplate, KindAPI, KindResource, KindComponent, KindSystem, KindDomain, KindLocation}

// kindRank returns the index of a kind in kindOrder; all others come last.
func kindRank(kind string) int {
	if i := slices.Index(kindOrder, kind); i >= 0 {
		return i
	}
	return len(kindOrder)
}

// Sort sorts entities in output order: by kind, then namespace, then name.
func Sort(es []*Entity) {
	slices.SortStableFunc(es, func(a, b *Entity) int {
		return cmp.Or(
			cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
			strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Ref().Namespace, b.Ref().Namespace),
			strings.Compare(a.Metadata.Name, b.Metadata.Name),
		)
	})
}
