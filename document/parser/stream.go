// Package parser reads streams of YAML and JSON documents within limits, and records the
// position of each value. A document that cannot be read does not affect the others.
package parser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"example.dev/ingestor/document/syntax"
	"example.dev/ingestor/document/tree"
)

// Limits limit what decoding accepts. A zero field means its default.
type Limits struct {
	// Bytes is the maximum size of one document. Default 16 MiB.
	Bytes int
	// Depth is the maximum nesting depth of maps and lists. Default 100.
	Depth int
	// Aliased is how many values aliases may add to a document; a long text counts as
	// several. Default 200,000.
	Aliased int
	// Values is the maximum number of values in a document. Default 1,000,000. In long
	// YAML, commas and lines in texts may count, too.
	Values int
	// Budget, if not nil, limits all documents that are read with it together.
	Budget *Budget
	// Long, if not zero, is how many bytes of a list are read before it is split instead of
	// being kept in memory: it is then yielded as several lists of one item each. Lists are
	// JSON arrays of objects, and objects in JSON or YAML that have such an array as their
	// items. Bytes limits each of the items.
	Long int
}

// document returns the limits for one document.
func (l Limits) document() syntax.Limits {
	return syntax.Limits{Depth: l.Depth, Aliased: l.Aliased, Values: l.Values, More: l.Budget.document}
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 16 << 20
	}
	if l.Depth == 0 {
		l.Depth = 100
	}
	if l.Aliased == 0 {
		l.Aliased = 200_000
	}
	if l.Values == 0 {
		l.Values = 1_000_000
	}
	return l
}

// Error describes why a document cannot be read.
type Error = syntax.Error

// Decode reads the documents of a stream of YAML (documents separated by ---), JSON, or
// concatenated JSON values, and calls yield for each with its root or with its error; if
// the document can be Kept despite the error, with both in turn. Empty documents are
// skipped. A bad document does not prevent the next ones from being read. Decoding stops
// when yield returns false. The returned error is the reader's own, or an *Error if the
// Budget is exhausted: the rest has not been read then.
func Decode(r io.Reader, limits Limits, yield func(*tree.Node, *Error) bool) error {
	s := splitter{in: bufio.NewReaderSize(r, 8<<10), limits: limits.withDefaults(), yield: yield, line: 1, start: 1}
	if err := s.limits.Budget.err(); err != nil {
		return err
	}
	if err := s.run(); err != nil {
		return err
	}
	return s.limits.Budget.err()
}

// mostAtHand is the maximum number of documents that DecodeBytes reads.
const mostAtHand = 100_000

// DecodeBytes is Decode for a byte slice, with the default limits and a Budget of
// 100,000 documents: it returns the documents and the errors.
func DecodeBytes(data []byte) (docs []*tree.Node, errs []*Error) {
	err := Decode(bytes.NewReader(data), Limits{Budget: NewBudget(mostAtHand)}, func(n *tree.Node, err *Error) bool {
		if err != nil {
			errs = append(errs, err)
			return true
		}
		docs = append(docs, n)
		return true
	})
	if over, ok := errors.AsType[*Error](err); ok {
		errs = append(errs, over)
	}
	return docs, errs
}

// splitter splits a stream into documents without parsing them, so that a syntax error
// or an excessive size affects only one document.
type splitter struct {
	in      *bufio.Reader
	limits  Limits
	yield   func(*tree.Node, *Error) bool
	line    int // the line being read
	start   int // the line on which the document began
	doc     []byte
	tooBig  bool
	stopped bool
	ndjson  bool // the last document was JSON on one line
	// parts splits the document if it is a long list; tried is true once that was checked.
	parts parts
	tried bool
}

func (s *splitter) run() error {
	lineStart := true
	for first := true; !s.stopped; first = false {
		chunk, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return err
		}
		if first {
			if msg := notUTF8(chunk); msg != "" {
				s.yield(nil, &Error{Pos: syntax.Place(1, 1), Msg: msg, Hint: "save the file as UTF-8"})
				return nil
			}
		}
		if lineStart {
			// A byte order mark may precede each of the documents that were concatenated into one
			// file.
			chunk = bytes.TrimPrefix(chunk, []byte("\uFEFF"))
			if !s.limits.Budget.line(s.line, chunk) {
				return nil
			}
			s.boundary(&chunk)
		}
		s.add(chunk, lineStart)
		if errors.Is(err, io.EOF) {
			s.flush()
			return nil
		}
		if lineStart = err == nil; lineStart {
			s.line++
			if s.in.Buffered() == 0 && s.whole() {
				// The writer may take long to continue.
				s.flush()
			}
		}
	}
	return nil
}

// whole reports whether the current document is a JSON object on one line, which no
// further line can continue.
func (s *splitter) whole() bool {
	return s.parts == nil && !s.tooBig && s.start == s.line-1 && len(s.doc) > 0 && s.doc[0] == '{' && json.Valid(s.doc)
}

// add adds text to the current document.
func (s *splitter) add(chunk []byte, fresh bool) {
	if s.parts != nil {
		s.feed(chunk, fresh)
		return
	}
	if len(s.doc)+len(chunk) > s.limits.Bytes {
		s.tooBig = true
	}
	if s.tooBig {
		return
	}
	if s.doc == nil {
		// A small file is read at once, and has one document.
		s.doc = make([]byte, 0, len(chunk)+s.in.Buffered())
	}
	s.doc = append(s.doc, chunk...)
	if s.tried || s.limits.Long == 0 || len(s.doc) <= s.limits.Long {
		return
	}
	s.tried = true
	if list, text := partsOf(s.doc, s.start, s.limits, s.yield); list != nil {
		s.parts, s.doc = list, s.doc[:0]
		s.feed(text, true)
	}
}

// feed passes text to parts, and keeps the text that follows the list.
func (s *splitter) feed(text []byte, fresh bool) {
	rest, ended := s.parts.feed(text, fresh)
	if !ended {
		return
	}
	s.stopped, s.start = s.parts.stop(), s.parts.at()
	s.parts, s.tried = nil, false
	s.doc = append(s.doc[:0], rest...)
}

// boundary ends the current document if the line that begins with chunk is a marker or
// the start of another JSON value.
func (s *splitter) boundary(chunk *[]byte) {
	switch {
	case syntax.IsMarker(*chunk, "---"):
		// Directives and comments before the marker belong to the next document.
		if !onlyPreamble(s.doc) {
			s.flush()
		}
	case syntax.IsMarker(*chunk, "..."):
		if len(s.doc) == 0 && !s.limits.Budget.document(s.line) {
			s.stopped = true
		}
		s.flush()
		*chunk = nil
		s.start = s.line + 1
	case len(*chunk) > 0 && (*chunk)[0] == '{' && s.endsJSON():
		s.flush()
	case s.start == s.line-1 && s.strays(*chunk):
		s.flush()
	}
}

// strays reports whether a line cannot continue the current document, which is also a
// single line: anything after a JSON object, and a JSON object after text. So with one
// value per line, a bad line does not affect its neighbours.
func (s *splitter) strays(line []byte) bool {
	if s.parts != nil || s.tooBig || len(s.doc) == 0 || len(bytes.TrimSpace(line)) == 0 {
		return false
	}
	switch s.doc[0] {
	case '{':
		return json.Valid(s.doc)
	case '[', '%', '-', ' ', '\t', '\r', '\n':
		return false
	}
	return bytes.HasPrefix(line, []byte(`{"`))
}

// endsJSON reports whether the current document is a JSON object that cannot continue:
// nothing valid has "}" and "{" side by side, even if the text before is invalid. With
// one value per line, a truncated line ends too.
func (s *splitter) endsJSON() bool {
	t := bytes.TrimSpace(s.doc)
	if len(t) == 0 || t[0] != '{' {
		return false
	}
	return t[len(t)-1] == '}' || s.ndjson && s.start == s.line-1
}

func (s *splitter) flush() {
	if s.stopped {
		return
	}
	if s.tried = false; s.parts != nil {
		s.parts.end()
		s.stopped = s.parts.stop()
		s.parts, s.start = nil, s.line
		return
	}
	if len(s.doc) > 0 || s.tooBig {
		if !s.limits.Budget.document(s.start) {
			s.stopped = true
			return
		}
	}
	doc, line := s.doc, s.start
	oneLine := line >= s.line-1
	// Nodes share no memory with the source text, so it is reused.
	s.doc, s.start = s.doc[:0], s.line
	if s.tooBig {
		s.tooBig = false
		s.stopped = !s.yield(nil, &Error{
			Pos:  syntax.Place(line, 1),
			Msg:  fmt.Sprintf("document is larger than %s", syntax.Size(s.limits.Bytes)),
			Hint: "split it into several documents",
		})
		return
	}
	s.ndjson = oneLine && len(doc) > 0 && doc[0] == '{'
	s.stopped = !syntax.Document(doc, line, s.limits.document(), s.yield) || s.limits.Budget.err() != nil
}

// onlyPreamble reports whether doc contains only directives, comments and blank lines,
// with at least one directive.
func onlyPreamble(doc []byte) bool {
	directive := false
	for line := range bytes.SplitSeq(doc, []byte("\n")) {
		switch {
		case bytes.HasPrefix(line, []byte("%")):
			directive = true
		case len(bytes.TrimSpace(line)) == 0, bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")):
		default:
			return false
		}
	}
	return directive
}

// notUTF8 returns what is wrong with text that begins like another encoding.
func notUTF8(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}), bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return "file is UTF-16, not UTF-8"
	case bytes.IndexByte(b, 0) >= 0:
		return "file is not text: it contains a zero byte"
	}
	return ""
}
