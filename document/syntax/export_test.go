package syntax

import (
	"fmt"

	"example.dev/ingestor/document/plain"
	"example.dev/ingestor/document/tree"
)

// Plain reads doc with package plain only; nil if it refuses.
func Plain(doc []byte, line int, limits Limits) *tree.Node {
	if hasTooMany(doc, limits) {
		return nil
	}
	return plain.Read(doc, line, limits.Depth, resolve)
}

// Full reads doc with the parser for all of YAML only.
func Full(doc []byte, line int, limits Limits) (nodes []*tree.Node, err *Error) {
	defer func() {
		if r := recover(); r != nil {
			nodes, err = nil, &Error{Msg: fmt.Sprint(r)}
		}
	}()
	return full(doc, line, limits)
}
