package xrd

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"example.dev/ingestor/finding"
	"example.dev/ingestor/tree"
	"example.dev/ingestor/words"
)

// The rules about documents as such. Those about definitions are in xrd/lint.
const (
	// RuleSyntax is a document that cannot be read.
	RuleSyntax = "XRD001"
	// RuleNotObject is a document that is not an object of a cluster.
	RuleNotObject = "XRD002"
	// RuleUnserved is a definition whose kind its cluster does not serve.
	RuleUnserved = "XRD004"
)

// Rules are the rules about documents.
var Rules = []finding.Rule{
	{ID: RuleSyntax, Severity: finding.Error, Title: "a document cannot be read", Why: "It is not YAML or JSON, or is too large or too deep, and is left out; or it has a key twice, and the last one counts. The other documents are read all the same."},
	{ID: RuleNotObject, Severity: finding.Info, Title: "a document is not an object of a cluster", Why: "It has no apiVersion and kind, so it is passed over."},
	{ID: RuleConflict, Severity: finding.Warning, Title: "the same object is given twice with different content", Why: "Only one of the two is used. Remove or rename the other."},
	{ID: RuleUnserved, Severity: finding.Warning, Title: "a definition's kind is not served in its cluster", Why: "The definition is there, but not established: nothing of its kind can exist or be created. The cluster says why in the definition's status."},
}

// Set is what was read from any number of inputs.
type Set struct {
	Definitions  []*Definition
	Compositions []*Composition
	// Others are objects of other kinds; some of them may turn out to be
	// composites once the definitions are known.
	Others   []*Object
	Findings []finding.Finding
	// Documents counts all documents, bad ones included.
	Documents int
}

// Read reads all objects from r into s. It accepts YAML and JSON documents,
// lists of any kind, JSON arrays and extract records. A document that cannot
// be read becomes a finding; the error is that of r.
func (s *Set) Read(r io.Reader, origin Origin) error {
	return tree.Decode(r, tree.Limits{}, func(n *tree.Node, bad *tree.Error) bool {
		if bad == nil {
			s.Documents++
			s.Add(n, origin)
			return true
		}
		message := bad.Msg
		if !bad.Kept {
			s.Documents++
			message = "cannot read the document: " + message
		}
		s.Findings = append(s.Findings, finding.Finding{
			Rule: RuleSyntax, Severity: finding.Error, File: origin.File, Pos: bad.Pos, Message: message, Hint: bad.Hint,
		})
		return true
	})
}

// Add adds one document: an object, a list of them, or an extract record.
func (s *Set) Add(n *tree.Node, origin Origin) {
	if n.IsList() {
		for _, it := range n.Items {
			s.Add(it, origin)
		}
		return
	}
	if rec, ok := ReadRecord(n); ok {
		s.Add(rec.XRD, rec.Origin(origin))
		return
	}
	kind := n.Get("kind").Str()
	if items := n.Get("items"); items.IsList() && strings.HasSuffix(kind, "List") {
		s.addList(n, items, origin)
		return
	}
	switch {
	case kind == "" || n.Get("apiVersion").Str() == "":
		s.Findings = append(s.Findings, finding.Finding{
			Rule: RuleNotObject, Severity: finding.Info, File: origin.File, Pos: n.At(),
			Message: "document has no apiVersion and kind, so it is passed over",
			Hint:    "if it is meant to be a definition, give it both",
		})
	case kind == KindDefinition && isExtension(n):
		s.Definitions = append(s.Definitions, NewDefinition(n, origin))
	case kind == KindComposition && isExtension(n):
		s.Compositions = append(s.Compositions, NewComposition(n, origin))
	default:
		o := newObject(n, origin)
		s.Others = append(s.Others, &o)
	}
}

// addList adds the items of a list. Items of a typed list, as an API server
// sends it, leave out the kind and version the list has.
func (s *Set) addList(list, items *tree.Node, origin Origin) {
	itemKind := strings.TrimSuffix(list.Get("kind").Str(), "List")
	for _, it := range items.Items {
		if itemKind != "" && it.IsMap() && !it.Has("kind") {
			typed := tree.Obj(tree.F("apiVersion", list.Get("apiVersion")), tree.F("kind", tree.Str(itemKind)))
			typed.Pos = it.Pos
			typed.Fields = append(typed.Fields, it.Fields...)
			it = typed
		}
		s.Add(it, origin)
	}
}

func isExtension(n *tree.Node) bool {
	return groupOf(words.APIVersionIn(n.Get("apiVersion").Str())) == words.GroupExtensions
}

// Within leaves of the Others those of namespaces, and those of none unless they
// belong to a claim of another one. No namespaces are all of them.
func (s *Set) Within(namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	s.Others = slices.DeleteFunc(s.Others, func(o *Object) bool {
		in := cmp.Or(o.Namespace, o.Node.Get("spec", "claimRef", "namespace").Str())
		return in != "" && !slices.Contains(namespaces, in)
	})
}

// Join adds what another set holds.
func (s *Set) Join(from *Set) {
	s.Definitions = append(s.Definitions, from.Definitions...)
	s.Compositions = append(s.Compositions, from.Compositions...)
	s.Others = append(s.Others, from.Others...)
	s.Findings = append(s.Findings, from.Findings...)
	s.Documents += from.Documents
}
