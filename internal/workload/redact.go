package workload

import (
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/engine"
)

// mostAnnotation is the length limit of an annotation: longer ones are documents, often a
// copy of the object with its secrets.
const mostAnnotation = 512

// redact removes values that may be secret from an object, and managedFields: values of
// environment variables, ConfigMaps and HTTP headers, command lines, fields that are named
// like a secret, and annotations that contain documents. Names of variables and keys stay.
// It changes n, and returns a copy.
func redact(n *tree.Node) *tree.Node {
	meta := n.Get("metadata")
	if meta.IsMap() {
		meta.Delete("managedFields")
	}
	if notes := meta.Get("annotations"); notes.IsMap() {
		notes.Fields = slices.DeleteFunc(notes.Fields, func(f tree.Field) bool {
			text := strings.TrimSpace(f.Value.Str())
			return len(text) > mostAnnotation || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
		})
	}
	for _, key := range []string{"data", "binaryData", "stringData"} {
		if values := n.Get(key); !values.IsNull() {
			n.Set(key, hideValues(values))
		}
	}
	hide(n)
	return engine.Redact(n)
}

// hideValues returns a map with its values hidden.
func hideValues(n *tree.Node) *tree.Node {
	if !n.IsMap() {
		return tree.Str(engine.Hidden)
	}
	out := tree.Obj()
	for _, f := range n.Fields {
		out.Fields = append(out.Fields, tree.F(f.Key, tree.Str(engine.Hidden)))
	}
	return out
}

// hide hides command lines and the values of variables and headers, at any depth.
func hide(n *tree.Node) {
	for _, item := range n.List() {
		hide(item)
	}
	if !n.IsMap() {
		return
	}
	n.Fields = slices.DeleteFunc(n.Fields, func(f tree.Field) bool { return (f.Key == "command" || f.Key == "args") && !f.Value.IsMap() })
	for _, f := range n.Fields {
		if f.Key == "env" || f.Key == "httpHeaders" {
			hideNamed(f.Value)
		}
		hide(f.Value)
	}
}

// hideNamed hides the values of a list of names and values.
func hideNamed(n *tree.Node) {
	for _, item := range n.List() {
		if item.IsMap() && item.Has("value") {
			item.Set("value", tree.Str(engine.Hidden))
		}
	}
	if n.IsMap() {
		*n = *hideValues(n)
	}
}
