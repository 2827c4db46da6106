package xrd

import (
	"cmp"
	"io"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

// The rules for documents. The rules for definitions are in xrd/lint.
const (
	// RuleSyntax is a document that cannot be read.
	RuleSyntax = "XRD001"
	// RuleNotObject is a document that is not a cluster object.
	RuleNotObject = "XRD002"
	// RuleUnserved is a definition whose kind its cluster does not serve.
	RuleUnserved = "XRD004"
	// RuleRecord is an extract record that cannot be used, such as one without a
	// definition.
	RuleRecord = "XRD005"
	// RuleIncomplete is input that is marked as incomplete.
	RuleIncomplete = "XRD006"
)

// Rules are the rules for documents.
var Rules = []finding.Rule{
	{ID: RuleSyntax, Severity: finding.Error, Title: "a document cannot be read", Why: "It is not YAML or JSON, or it is too large or nested too deeply, and is skipped. Or it has a duplicate key, of which the last one is used. Other documents are still read."},
	{ID: RuleNotObject, Severity: finding.Info, Title: "a document is not a Kubernetes object", Why: "It has no apiVersion and kind, so it is skipped."},
	{ID: RuleConflict, Severity: finding.Warning, Title: "an object is defined twice with different content", Why: "Only one of the two is used. Remove or rename the other."},
	{ID: RuleUnserved, Severity: finding.Warning, Title: "the cluster does not serve a definition's kind", Why: "The definition exists, but is not established: no object of its kind can be created. See the definition's status for the reason."},
	{ID: RuleRecord, Severity: finding.Error, Title: "an extract record cannot be used", Why: "It has no definition in `xrd`, or one of its fields is of the wrong type, so it is skipped. Other records are still read."},
	{ID: RuleIncomplete, Severity: finding.Error, Title: "the input is not complete", Why: "The program that wrote it failed and ended its output with a failure record. Everything before that record is read."},
}

// Set holds the objects read from any number of inputs.
type Set struct {
	Definitions  []*Definition
	Compositions []*Composition
	// Others are objects of other kinds. Some may turn out to be composites once the
	// definitions are known.
	Others []*Object
	// Workloads are workloads with an id. Only clusters provide them.
	Workloads []*Object
	Findings  []finding.Finding
	// Documents counts all documents, including bad ones.
	Documents int
	// Spill, if not nil, is given the trees of objects as they are added. Objects that it
	// takes keep only the fields by which they are selected, merged and sorted; see Whole.
	Spill Spill
}

// Read reads all objects from r into s. It accepts YAML and JSON documents, lists of any
// kind, JSON arrays and extract records. A document that cannot be read becomes a
// finding; the error is that of r.
func (s *Set) Read(r io.Reader, origin Origin) error { return s.ReadWithin(r, origin, nil) }

// ReadWithin is Read for untrusted text: budget limits the documents of all calls that
// share it. When it is exhausted, the error is a *parser.Error, and the rest has not been
// read.
func (s *Set) ReadWithin(r io.Reader, origin Origin, budget *parser.Budget) error {
	return decode(r, origin, budget, func(n *tree.Node, counts bool, bad *finding.Finding) bool {
		if counts {
			s.Documents++
		}
		if bad != nil {
			s.Findings = append(s.Findings, *bad)
			return true
		}
		s.Add(n, origin)
		return true
	})
}

// Add adds one document: an object, a list of objects, or an extract record. A failure
// record becomes a finding.
func (s *Set) Add(n *tree.Node, origin Origin) {
	unfold(n, origin, func(f Found) bool {
		switch {
		case f.Definition != nil:
			s.Definitions = append(s.Definitions, s.spillDefinition(f.Definition))
		case f.Finding != nil:
			s.Findings = append(s.Findings, *f.Finding)
		case f.Failed:
			s.Findings = append(s.Findings, f.incomplete(n.At()))
		default:
			if c := f.Composition(); c != nil {
				s.Compositions = append(s.Compositions, s.spillComposition(c))
				return true
			}
			s.Others = append(s.Others, s.spillOther(f.Other))
		}
		return true
	})
}

// incomplete returns the finding for a failure record.
func (f *Found) incomplete(at tree.Pos) finding.Finding {
	return finding.Finding{
		Rule: RuleIncomplete, Severity: finding.Error, File: f.File, Pos: at,
		Message: "the input is not complete: " + f.Failure,
		Hint:    "fix the error reported by the program that wrote the input",
	}
}

// Complaint returns the Finding, or a finding for a failure record. It returns false if
// an object was found.
func (f *Found) Complaint() (finding.Finding, bool) {
	switch {
	case f.Finding != nil:
		return *f.Finding, true
	case f.Failed:
		return f.incomplete(tree.Pos{}), true
	}
	return finding.Finding{}, false
}

// Composition returns the found object as a Composition; nil if it is not one.
func (f *Found) Composition() *Composition {
	if f.Other == nil || f.Other.Kind != KindComposition || !isExtension(f.Other.Node) {
		return nil
	}
	return NewComposition(f.Other.Node, f.Other.Origin)
}

func isExtension(n *tree.Node) bool {
	return groupOf(words.APIVersionIn(n.Get("apiVersion").Str())) == words.GroupExtensions
}

// AddWorkload adds a workload with an id.
func (s *Set) AddWorkload(n *tree.Node, origin Origin) {
	o := newObject(n, origin)
	s.Workloads = append(s.Workloads, &o)
}

// Within removes the Others that are outside of the namespaces; see Object.Within. An
// empty list means all namespaces.
func (s *Set) Within(namespaces []string) {
	if len(namespaces) == 0 {
		return
	}
	s.Others = slices.DeleteFunc(s.Others, func(o *Object) bool { return !o.Within(namespaces) })
}

// Within reports whether an object is in one of the namespaces, or is cluster-scoped and
// does not belong to a claim in another namespace. An empty list means all namespaces.
func (o *Object) Within(namespaces []string) bool {
	in := cmp.Or(o.Namespace, o.Node.Get("spec", "claimRef", "namespace").Str())
	return in == "" || len(namespaces) == 0 || slices.Contains(namespaces, in)
}

// Join adds the contents of another set.
func (s *Set) Join(from *Set) {
	s.Definitions = append(s.Definitions, from.Definitions...)
	s.Compositions = append(s.Compositions, from.Compositions...)
	s.Others = append(s.Others, from.Others...)
	s.Workloads = append(s.Workloads, from.Workloads...)
	s.Findings = append(s.Findings, from.Findings...)
	s.Documents += from.Documents
}
