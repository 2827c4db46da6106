package fields

import (
	"strings"

	"example.dev/ingestor/document/tree"
)

// mostChanged limits how many changed fields are named, and longestChanged the length of
// their names.
const (
	mostChanged    = 50
	longestChanged = 200
)

// Changed returns the paths of the requested fields that differ between two states of an
// object, such as spec.size. Lists count as one field. It returns nil if one of the states
// is nil.
func Changed(before, after *tree.Node) []string {
	if before == nil || after == nil {
		return nil
	}
	return changed(nil, "", Requested(before), Requested(after))
}

func changed(out []string, path string, one, other *tree.Node) []string {
	if one.Equal(other) || len(out) >= mostChanged {
		return out
	}
	if !one.IsMap() || !other.IsMap() {
		// Paths are separated by spaces.
		if path = strings.Join(strings.Fields(path), "_"); len(path) > longestChanged {
			path = strings.ToValidUTF8(path[:longestChanged], "") + "…"
		}
		return append(out, path)
	}
	for _, f := range one.Fields {
		out = changed(out, join(path, f.Key), f.Value, other.Get(f.Key))
	}
	for _, f := range other.Fields {
		if !one.Has(f.Key) {
			out = changed(out, join(path, f.Key), nil, f.Value)
		}
	}
	return out
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
