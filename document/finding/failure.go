package finding

import "example.dev/ingestor/document/tree"

// Failure returns the record with which a program ends an incomplete stream, so that
// readers do not take a part for the whole. It is neither a definition nor an entity.
func Failure(message string) *tree.Node {
	return tree.Obj(tree.F("error", tree.Obj(tree.F("message", tree.Str(message)))))
}

// FailureOf returns the message of a failure record. It returns false if n is not one.
func FailureOf(n *tree.Node) (message string, ok bool) {
	if !n.IsMap() || n.Len() != 1 || !n.Get("error").IsMap() {
		return "", false
	}
	return n.Get("error").Get("message").Str(), true
}
