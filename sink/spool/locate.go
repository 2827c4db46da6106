package spool

import (
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// locate returns the position in a document of the value at a path such as
// metadata.tags[2] or metadata.labels["a/b"], or of its deepest ancestor that
// exists.
func locate(n *tree.Node, path string) tree.Pos {
	at := n.At()
	for path != "" {
		var next *tree.Node
		var here tree.Pos
		if strings.HasPrefix(path, "[") && !strings.HasPrefix(path, `["`) {
			number, rest, _ := strings.Cut(path[1:], "]")
			i, err := strconv.Atoi(number)
			if err != nil || !n.IsList() || i < 0 || i >= len(n.Items) {
				return at
			}
			path, next = rest, n.Items[i]
			here = next.At()
		} else {
			key, rest, ok := cutKey(path)
			if !ok || !n.IsMap() || n.Field(key) == nil {
				return at
			}
			path, next, here = rest, n.Get(key), n.Field(key).Pos
		}
		if here.Line > 0 {
			at = here
		}
		n = next
		path = strings.TrimPrefix(path, ".")
	}
	return at
}

// cutKey cuts the first key off a path.
func cutKey(path string) (key, rest string, ok bool) {
	if !strings.HasPrefix(path, "[") {
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return path, "", true
		}
		return path[:end], path[end:], true
	}
	quoted, err := strconv.QuotedPrefix(path[1:])
	if err != nil {
		return "", "", false
	}
	key, err = strconv.Unquote(quoted)
	return key, strings.TrimPrefix(path[1+len(quoted):], "]"), err == nil
}
