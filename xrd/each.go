package xrd

import (
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// Found is one item found in a stream. Exactly one of Definition, Other, Finding and
// Failed is set.
type Found struct {
	// Definition is a definition. Record is the record that contained it, or a new one
	// without a timestamp for a standalone definition.
	Definition *Definition
	Record     Record
	// Other is an object that is not a definition, such as a Composition.
	Other *Object
	// Finding says what is wrong with a document.
	Finding *finding.Finding
	// Failed marks a failure record: the producer could not write the whole stream. Failure
	// is the reason it gave.
	Failed  bool
	Failure string
	// File is the file of a failure record; empty if it is in no file.
	File string
}

// Each reads documents one by one and calls yield for each item found in them, until
// yield returns false. It accepts YAML and JSON documents, concatenated or one per line,
// lists of any kind, JSON arrays, extract records and failure records. A document that
// cannot be read becomes a Finding, and reading continues; the error is that of r.
//
// Only one document is held in memory at a time, and only one item of a long JSON array,
// or of a long list of objects in JSON or YAML.
func Each(r io.Reader, at Origin, yield func(Found) bool) error {
	return EachWithin(r, at, nil, yield)
}

// EachWithin is Each for untrusted text: budget limits the documents of all calls that
// share it. When it is exhausted, the error is a *parser.Error, and the rest has not been
// read.
func EachWithin(r io.Reader, at Origin, budget *parser.Budget, yield func(Found) bool) error {
	return decode(r, at, budget, func(n *tree.Node, _ bool, bad *finding.Finding) bool {
		if bad != nil {
			return yield(Found{Finding: bad})
		}
		return unfold(n, at, yield)
	})
}

// long is how many bytes of a list are read before it is split into items.
const long = 1 << 20

// decode calls yield for each document and for each error. counts is true if the call
// stands for a document, rather than for an error inside one that is kept.
func decode(r io.Reader, at Origin, budget *parser.Budget, yield func(n *tree.Node, counts bool, bad *finding.Finding) bool) error {
	return parser.Decode(r, parser.Limits{Long: long, Budget: budget}, func(n *tree.Node, bad *parser.Error) bool {
		if bad == nil {
			return yield(n, true, nil)
		}
		f := finding.Finding{Rule: RuleSyntax, Severity: finding.Error, File: at.File, Pos: bad.Pos, Message: bad.Msg, Hint: bad.Hint}
		if !bad.Kept {
			f.Message = unread + f.Message
		}
		return yield(nil, !bad.Kept, &f)
	})
}

// unread is the prefix of messages about documents that are dropped.
const unread = "cannot read the document: "

// Lost reports whether a finding about a document means that something was dropped. All
// errors do, except for a duplicate key, of which the last one counts.
func Lost(f finding.Finding) bool {
	return f.Severity == finding.Error && (f.Rule != RuleSyntax || strings.HasPrefix(f.Message, unread))
}

// unfold calls yield for each item in a document, until yield returns false.
func unfold(n *tree.Node, at Origin, yield func(Found) bool) bool {
	if n.IsList() {
		for _, it := range n.Items {
			if !unfold(it, at, yield) {
				return false
			}
		}
		return true
	}
	if message, ok := finding.FailureOf(n); ok {
		return yield(Found{Failed: true, Failure: message, File: at.File})
	}
	if n.IsString() && strings.ContainsAny(n.Text, `{}"`) {
		// YAML parses a truncated line of JSON as text; it may be half a record.
		return yield(Found{Finding: &finding.Finding{
			Rule: RuleSyntax, Severity: finding.Error, File: at.File, Pos: n.At(),
			Message: unread + "found plain text, possibly a truncated line of JSON", Hint: "check that the object begins with { and ends with }",
		}})
	}
	kind := n.Get("kind").Str()
	// A part of a long list does not know the list's kind if that came last.
	if items := n.Get("items"); items.IsList() && (strings.HasSuffix(kind, listSuffix) || !n.Has("kind")) {
		for _, it := range items.Items {
			if !unfold(typed(it, n), at, yield) {
				return false
			}
		}
		return true
	}
	switch {
	case isRecord(n):
		return yield(foundRecord(n, at))
	case kind == "" || n.Get("apiVersion").Str() == "":
		return yield(Found{Finding: &finding.Finding{
			Rule: RuleNotObject, Severity: finding.Info, File: at.File, Pos: n.At(),
			Message: "document has no apiVersion and kind; skipped",
			Hint:    "set both if the document is a definition",
		}})
	case isDefinition(n):
		d := NewDefinition(n, at)
		return yield(Found{Definition: d, Record: NewRecord(d)})
	}
	o := newObject(called(n), at)
	return yield(Found{Other: &o})
}

// listSuffix is the suffix of list kinds.
const listSuffix = "List"

// typed returns an item of a list as a standalone object. Items of a typed list, as an
// API server sends it, omit the kind and version of the list.
func typed(it, list *tree.Node) *tree.Node {
	kind := strings.TrimSuffix(list.Get("kind").Str(), listSuffix)
	if kind == "" || !it.IsMap() || it.Has("kind") {
		return it
	}
	whole := tree.Obj(tree.F("apiVersion", list.Get("apiVersion")), tree.F("kind", tree.Str(kind)))
	whole.Pos = it.Pos
	whole.Fields = append(whole.Fields, it.Fields...)
	return whole
}

func isDefinition(n *tree.Node) bool {
	return n.Get("kind").Str() == KindDefinition && isExtension(n)
}

// isRecord reports whether a document is meant to be an extract record.
func isRecord(n *tree.Node) bool {
	if n.Has("kind") || n.Has("apiVersion") {
		return false
	}
	return n.Has("xrd") || n.Has("source") && n.Has("timestamp")
}

// recordParts are the fields of a record with their types, if present. A YAML date in
// timestamp has become a string at this point.
var recordParts = []struct {
	key  string
	kind tree.Kind
}{{"source", tree.String}, {"timestamp", tree.String}, {"xrd", tree.Map}, {"metadata", tree.Map}}

// foundRecord parses a document that is meant to be an extract record.
func foundRecord(n *tree.Node, at Origin) Found {
	wrong := func(pos tree.Pos, hint, format string, args ...any) Found {
		return Found{Finding: &finding.Finding{
			Rule: RuleRecord, Severity: finding.Error, File: at.File, Pos: pos, Object: n.Get("xrd", "metadata", "name").Str(),
			Message: "cannot use the extract record: " + fmt.Sprintf(format, args...), Hint: hint,
		}}
	}
	for _, part := range recordParts {
		if v := n.Get(part.key); !v.IsNull() && v.Kind != part.kind {
			return wrong(v.At(), "write a record with source, timestamp, xrd and metadata", "%s is of type %s, not %s", part.key, v.Kind, part.kind)
		}
	}
	rec, ok := ReadRecord(n)
	switch {
	case !ok:
		return wrong(n.At(), "put the definition under xrd", "xrd is missing")
	case !isDefinition(rec.XRD):
		what := rec.XRD.Get("kind").Str()
		if what == "" {
			what = "an object without a kind"
		}
		return wrong(rec.XRD.At(), "put the complete definition under xrd, with apiVersion and kind", "xrd is %s, not a %s", what, KindDefinition)
	}
	d := NewDefinition(rec.XRD, rec.Origin(at))
	// The state of the cluster when the record was written may be stale.
	d.Serving = nil
	return Found{Definition: d, Record: rec}
}

// Each calls yield for each item in s, until yield returns false: definitions,
// Compositions and others, and findings.
func (s *Set) Each(yield func(Found) bool) {
	for _, d := range s.Definitions {
		if !yield(Found{Definition: d, Record: NewRecord(d)}) {
			return
		}
	}
	for _, c := range s.Compositions {
		if !yield(Found{Other: &c.Object}) {
			return
		}
	}
	for _, o := range s.Others {
		if !yield(Found{Other: o}) {
			return
		}
	}
	for i := range s.Findings {
		if !yield(Found{Finding: &s.Findings[i]}) {
			return
		}
	}
}
