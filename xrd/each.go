package xrd

import (
	"fmt"
	"io"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
)

// Found is one thing met in a stream. Exactly one of Definition, Other, Finding
// and Failed is set.
type Found struct {
	// Definition is a definition, and Record the record it came in, or one made
	// for a definition that stood alone; such a one has no timestamp.
	Definition *Definition
	Record     Record
	// Other is an object that is not a definition, such as a Composition.
	Other *Object
	// Finding says what is wrong with a document.
	Finding *finding.Finding
	// Failed is a failure record: whoever wrote the stream could not write all
	// of it, and Failure is what was said of why.
	Failed  bool
	Failure string
	// File is where a failure record stands; empty if it is in no file.
	File string
}

// Each reads documents one after the other and calls yield for each thing met in
// them, until it returns false. It accepts YAML and JSON documents, one or
// several on end or on a line each, lists of any kind, JSON arrays, extract
// records and failure records. What cannot be read becomes a Finding, and what
// follows is read all the same; the error is that of r.
//
// No more than one document is held at a time, and of a long JSON array, or list
// of objects in JSON or YAML, no more than one item.
func Each(r io.Reader, at Origin, yield func(Found) bool) error {
	return EachWithin(r, at, nil, yield)
}

// EachWithin is Each for text that others have written: budget bounds the
// documents of all calls that share it. When it is used up the error is a
// *tree.Error, and what follows has not been read.
func EachWithin(r io.Reader, at Origin, budget *tree.Budget, yield func(Found) bool) error {
	return decode(r, at, budget, func(n *tree.Node, _ bool, bad *finding.Finding) bool {
		if bad != nil {
			return yield(Found{Finding: bad})
		}
		return unfold(n, at, yield)
	})
}

// long is how much of a list is read before it is taken apart.
const long = 1 << 20

// decode calls yield for each document, and for each that cannot be read. counts
// says whether it is a document of its own, and not the fault of one.
func decode(r io.Reader, at Origin, budget *tree.Budget, yield func(n *tree.Node, counts bool, bad *finding.Finding) bool) error {
	return tree.Decode(r, tree.Limits{Long: long, Budget: budget}, func(n *tree.Node, bad *tree.Error) bool {
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

// unread is what the message about a document begins with that is left out.
const unread = "cannot read the document: "

// Lost reports whether a finding about a document says that something of it was
// left out: all errors do but that of a key that is given twice, of which the last
// one counts.
func Lost(f finding.Finding) bool {
	return f.Severity == finding.Error && (f.Rule != RuleSyntax || strings.HasPrefix(f.Message, unread))
}

// unfold calls yield for each thing in a document, until it returns false.
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
		// Half a line of JSON is text to YAML, and may be half a record.
		return yield(Found{Finding: &finding.Finding{
			Rule: RuleSyntax, Severity: finding.Error, File: at.File, Pos: n.At(),
			Message: unread + "it is text, perhaps half a line of JSON", Hint: "an object begins with { and ends with }",
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
			Message: "document has no apiVersion and kind, so it is passed over",
			Hint:    "if it is meant to be a definition, give it both",
		}})
	case isDefinition(n):
		d := NewDefinition(n, at)
		return yield(Found{Definition: d, Record: NewRecord(d)})
	}
	o := newObject(called(n), at)
	return yield(Found{Other: &o})
}

// listSuffix is how the kinds of lists end.
const listSuffix = "List"

// typed returns an item of a list as it is written alone. Items of a typed list,
// as an API server sends it, leave out the kind and version the list has.
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

// recordParts are the parts of a record, and what they must be if they are there.
// A timestamp that is a date in YAML is text by then.
var recordParts = []struct {
	key  string
	kind tree.Kind
}{{"source", tree.String}, {"timestamp", tree.String}, {"xrd", tree.Map}, {"metadata", tree.Map}}

// foundRecord reads a document that is meant to be an extract record.
func foundRecord(n *tree.Node, at Origin) Found {
	wrong := func(pos tree.Pos, hint, format string, args ...any) Found {
		return Found{Finding: &finding.Finding{
			Rule: RuleRecord, Severity: finding.Error, File: at.File, Pos: pos, Object: n.Get("xrd", "metadata", "name").Str(),
			Message: "cannot use the extract record: " + fmt.Sprintf(format, args...), Hint: hint,
		}}
	}
	for _, part := range recordParts {
		if v := n.Get(part.key); !v.IsNull() && v.Kind != part.kind {
			return wrong(v.At(), "the parts of a record are source, timestamp, xrd and metadata", "its %s is of type %s, not %s", part.key, v.Kind, part.kind)
		}
	}
	rec, ok := ReadRecord(n)
	switch {
	case !ok:
		return wrong(n.At(), "put the definition there", "it has no xrd")
	case !isDefinition(rec.XRD):
		what := rec.XRD.Get("kind").Str()
		if what == "" {
			what = "an object without a kind"
		}
		return wrong(rec.XRD.At(), "xrd is a definition as a cluster has it, with apiVersion and kind", "its xrd is %s, not a %s", what, KindDefinition)
	}
	d := NewDefinition(rec.XRD, rec.Origin(at))
	// What a cluster said when the record was written need not be so any more.
	d.Serving = nil
	return Found{Definition: d, Record: rec}
}

// Each calls yield for each thing in s, until it returns false: definitions,
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
