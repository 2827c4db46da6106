// Package fields tells the fields of an object apart: those that were requested, those
// that the server or the portal maintains, and those that the portal has applied.
package fields

import (
	"encoding/json"
	"slices"
	"strings"

	"example.dev/ingestor/document/parser"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// Requested returns the requested fields of an object, without fields that the server
// and the portal maintain.
func Requested(n *tree.Node) *tree.Node {
	out := tree.Obj()
	for _, f := range n.Fields {
		switch f.Key {
		case "status":
		case "metadata":
			meta := tree.Obj(tree.F("name", f.Value.Get("name")))
			CopyMetadata(meta, f.Value)
			Unstamp(meta)
			out.Set(f.Key, meta)
		default:
			out.Set(f.Key, f.Value)
		}
	}
	return out
}

// Same reports whether two objects are equal apart from fields that the server
// maintains. A step that runs again thus recognises its own earlier write.
func Same(one, other *tree.Node) bool {
	if one == nil || other == nil {
		return one == other
	}
	return Requested(one).Equal(Requested(other))
}

// WithoutEmptied returns sent without maps that are empty in it but not in the live
// object: a server turns a map into null if all its entries are removed, and then
// rejects the null. Fields that are not sent are removed anyway.
func WithoutEmptied(sent, before *tree.Node) *tree.Node {
	if !sent.IsMap() || !before.IsMap() {
		return sent
	}
	out := sent
	for _, f := range sent.Fields {
		was := before.Get(f.Key)
		gone := f.Value.IsMap() && f.Value.Len() == 0 && was.IsMap() && was.Len() > 0
		now := f.Value
		if !gone {
			now = WithoutEmptied(f.Value, was)
		}
		if !gone && now == f.Value {
			continue
		}
		if out == sent {
			out = tree.Obj(append([]tree.Field(nil), sent.Fields...)...)
		}
		if gone {
			out.Delete(f.Key)
		} else {
			out.Set(f.Key, now)
		}
	}
	return out
}

// Owned returns the part of an object that the portal has applied, according to
// managedFields.
func Owned(n *tree.Node) *tree.Node {
	for _, m := range n.Get("metadata", "managedFields").List() {
		if m.Get("manager").Str() == words.FieldManager && m.Get("operation").Str() == "Apply" && m.Get("subresource").Str() == "" {
			return part(n, m.Get("fieldsV1"))
		}
	}
	return nil
}

// part returns the part of a value that a fieldsV1 set names. In a set, f: is a
// field, k: a list item by its keys, v: a list item by its value, and the dot the
// value itself. An empty set selects the whole value.
func part(n, fields *tree.Node) *tree.Node {
	if n == nil || !fields.IsMap() || len(fields.Fields) == 0 {
		return n
	}
	switch {
	case n.IsMap():
		out := tree.Obj()
		for _, f := range fields.Fields {
			key, ok := strings.CutPrefix(f.Key, "f:")
			if !ok {
				continue
			}
			if v := part(n.Get(key), f.Value); v != nil {
				out.Set(key, v)
			}
		}
		return out
	case n.IsList():
		out := tree.Arr()
		for _, item := range n.Items {
			for _, f := range fields.Fields {
				if names(f.Key, item) {
					out.Items = append(out.Items, withKeys(part(item, f.Value), f.Key))
					break
				}
			}
		}
		return out
	}
	return n
}

// names reports whether an entry of a fieldsV1 set refers to an item of a list.
func names(entry string, item *tree.Node) bool {
	kind, text, _ := strings.Cut(entry, ":")
	if kind != "k" && kind != "v" {
		return false
	}
	want, ok := parsedJSON(text)
	if !ok || kind == "v" {
		return ok && want.Equal(item)
	}
	for _, f := range want.Fields {
		if !f.Value.Equal(item.Get(f.Key)) {
			return false
		}
	}
	return true
}

// withKeys adds the keys of an entry to a part of an item.
func withKeys(item *tree.Node, entry string) *tree.Node {
	text, ok := strings.CutPrefix(entry, "k:")
	if !ok {
		return item
	}
	if keys, ok := parsedJSON(text); ok {
		return tree.Overlay(item, keys)
	}
	return item
}

func parsedJSON(text string) (*tree.Node, bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	docs, errs := parser.DecodeBytes([]byte(text))
	if len(errs) > 0 || len(docs) != 1 {
		return nil, false
	}
	return docs[0], true
}

// Ours reports whether the portal has applied an object, and returns the other
// managers that have written to it.
func Ours(n *tree.Node) (yes bool, others []string) {
	for _, m := range n.Get("metadata", "managedFields").List() {
		manager := m.Get("manager").Str()
		switch {
		case m.Get("subresource").Str() != "":
		case manager == words.FieldManager && m.Get("operation").Str() == "Apply":
			yes = true
		case manager != "":
			others = append(others, manager)
		}
	}
	slices.Sort(others)
	return yes, slices.Compact(others)
}

// Stamps are the annotations in which the portal records who requested an object.
var Stamps = []string{words.AnnotationRequestedBy, words.AnnotationTask, words.AnnotationFromTemplate}

// Unstamp removes Stamps from metadata, whose fields the caller must own.
func Unstamp(meta *tree.Node) {
	annotations := meta.Get("annotations")
	if !annotations.IsMap() {
		return
	}
	rest := tree.Obj()
	for _, f := range annotations.Fields {
		if !slices.Contains(Stamps, f.Key) {
			rest.Fields = append(rest.Fields, f)
		}
	}
	if rest.Len() == 0 && annotations.Len() > 0 {
		meta.Delete("annotations")
		return
	}
	meta.Set("annotations", rest)
}

// kept are the metadata fields that are applied. The other fields are set by the
// server, and appear in manifests that were copied from a cluster.
var kept = []string{"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}

// CopyMetadata copies the metadata that is applied, except for the name.
func CopyMetadata(to, from *tree.Node) {
	for _, f := range from.Fields {
		if f.Key != "name" && slices.Contains(kept, f.Key) && !f.Value.IsNull() {
			to.Set(f.Key, f.Value)
		}
	}
}
