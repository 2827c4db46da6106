package entity

import (
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// CheckDocument holds a document to the catalog's rules and returns what breaks
// them, each where it is written if that is known. Fields of metadata and links
// that the catalog knows nothing of are allowed, as it allows them.
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

// IsDefinition reports whether a document is a definition or a Composition, of
// which entities are made. To the rules it is an entity of a kind of its own.
func IsDefinition(n *tree.Node) bool {
	group, _, _ := strings.Cut(n.Get("apiVersion").Str(), "/")
	return words.In(words.Group, group) == words.GroupExtensions
}

// RefOf returns the reference of an entity that is a document. Parts that are
// missing, or not text, are empty.
func RefOf(n *tree.Node) Ref {
	m := n.Get("metadata")
	r := Ref{Kind: n.Get("kind").Str(), Namespace: m.Get("namespace").Str(), Name: m.Get("name").Str()}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	return r
}
