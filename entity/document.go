package entity

import (
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// CheckDocument checks a document against the catalog's rules and returns the
// violations, with positions if known. Unknown fields of metadata and links are allowed,
// as the catalog allows them.
func CheckDocument(n *tree.Node) []finding.Finding {
	r := reader{loose: true}
	e := r.entity(n)
	if r.err != nil {
		return []finding.Finding{{
			Rule: RuleDocument, Severity: severityOf(RuleDocument), Object: RefOf(n).String(),
			Path: r.err.Path, Pos: r.err.Pos, Message: r.err.Error(), Hint: r.err.Hint,
		}}
	}
	found := Check(e)
	for i := range found {
		found[i].Pos = n.At()
	}
	return found
}

// IsDefinition reports whether a document is a definition or a Composition, from which
// entities are made. For the rules it is an entity of a custom kind.
func IsDefinition(n *tree.Node) bool {
	group, _, _ := strings.Cut(n.Get("apiVersion").Str(), "/")
	return words.In(words.Group, group) == words.GroupExtensions
}

// RefOf returns the reference of an entity document. Parts that are missing or not
// strings are empty.
func RefOf(n *tree.Node) Ref {
	m := n.Get("metadata")
	r := Ref{Kind: n.Get("kind").Str(), Namespace: m.Get("namespace").Str(), Name: m.Get("name").Str()}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	return r
}
