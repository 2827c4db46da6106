package form

import (
	"slices"

	"example.dev/ingestor/document/tree"
)

// deepestField is how many names the path of a field has at most: the path comes from a URL.
const deepestField = 64

// Locate returns where the form of a Template asks for a field of the resource, given as
// the steps of a path such as spec.network.region; nil if it does not. If the form asks for
// the field as part of a larger one, or only for its parts, that is returned.
func Locate(template *tree.Node, steps []string) []string {
	if len(steps) > deepestField {
		return nil
	}
	// The resource that has nothing but this field is filled into the form, to see where it
	// appears.
	marker := tree.Str("x")
	n := marker
	for _, key := range slices.Backward(steps) {
		n = tree.Obj(tree.F(key, n))
	}
	return pathTo(Fill(template, n), marker.Text)
}

// pathTo returns the keys that lead to a text.
func pathTo(n *tree.Node, text string) []string {
	if !n.IsMap() {
		return nil
	}
	for _, f := range n.Fields {
		if f.Value.Str() == text {
			return []string{f.Key}
		}
		if rest := pathTo(f.Value, text); rest != nil {
			return append([]string{f.Key}, rest...)
		}
	}
	return nil
}
