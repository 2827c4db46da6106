package structural

import (
	"strconv"
	"strings"
)

// splitPath splits a path of the API server, such as spec.users[0].name, into steps. Keys
// may contain dots: at a map of the object, the longest key counts that the path continues
// with.
func splitPath(object any, path string) (steps []string) {
	for path != "" {
		var step string
		step, path = firstStep(object, path)
		steps = append(steps, step)
		switch at := object.(type) {
		case map[string]any:
			object = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if object = nil; err == nil && i >= 0 && i < len(at) {
				object = at[i]
			}
		default:
			object = nil
		}
	}
	return steps
}

// firstStep returns the first step of a path, and the rest.
func firstStep(object any, path string) (step, rest string) {
	path = strings.TrimPrefix(path, ".")
	if fields, ok := object.(map[string]any); ok {
		found := false
		for key := range fields {
			for _, written := range []string{key, "[" + key + "]"} {
				after, ok := strings.CutPrefix(path, written)
				if ok && (after == "" || after[0] == '.' || after[0] == '[') && (!found || len(after) < len(rest)) {
					step, rest, found = key, after, true
				}
			}
		}
		if found {
			return step, rest
		}
	}
	if inner, ok := strings.CutPrefix(path, "["); ok {
		if step, rest, ok = strings.Cut(inner, "]"); ok {
			return step, rest
		}
		return inner, ""
	}
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i], path[i:]
	}
	return path, ""
}
