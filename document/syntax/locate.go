package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"example.dev/ingestor/document/tree"
)

// syntaxError adds a position and a hint to an error of the YAML parser.
func syntaxError(doc []byte, line int, e error) *Error {
	msg := strings.TrimPrefix(e.Error(), "yaml: ")
	reported := 0
	if m := lineInError.FindStringSubmatch(msg); m != nil {
		reported, _ = strconv.Atoi(m[1])
		msg = strings.Replace(msg, m[0], "", 1)
	}
	if strings.Contains(msg, "exceeded max depth") {
		msg = "maps and lists are nested too deeply"
	}
	at, column := locate(doc, msg, reported)
	text := lineAt(doc, at)
	if column == 0 {
		column = len(text) - len(bytes.TrimLeft(text, " \t")) + 1
	}
	return &Error{Pos: Place(line+at-1, column), Msg: msg, Hint: syntaxHint(msg, text)}
}

var (
	lineInError   = regexp.MustCompile(`line (\d+): ?`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	// unparsed matches errors of the second stage of the parser, which counts lines from
	// zero and omits a zero.
	unparsed = regexp.MustCompile(`^did not find expected (<|node content|key|'-'|',')|^found (undefined tag|duplicate %|incompatible)`)
	// misplaced matches errors reported at the beginning of the block, not where it is
	// wrong.
	misplaced = regexp.MustCompile(`^did not find expected (key|'-')`)
)

// locate returns the line of doc, counted from 1, that an error is about, and the column
// if it is known, else 0.
func locate(doc []byte, msg string, reported int) (line, column int) {
	last := bytes.Count(doc, []byte("\n")) + 1
	switch {
	case strings.Contains(msg, "UTF-8 octet"), strings.Contains(msg, "control characters"), strings.Contains(msg, "Unicode character"):
		if i := firstForbidden(doc); i >= 0 {
			return LineColumn(doc, i)
		}
	case unknownAnchor.MatchString(msg):
		name := "*" + unknownAnchor.FindStringSubmatch(msg)[1]
		if i := bytes.Index(doc, []byte(name)); i >= 0 {
			return LineColumn(doc, i)
		}
	case misplaced.MatchString(msg) && len(doc) <= 128<<10:
		return firstBad(doc, msg), 0
	case unparsed.MatchString(msg):
		reported++
	case reported >= last && strings.Contains(msg, "end of stream"):
		// The quote was never closed. The parser reports where it was opened, except if that
		// was on the first line.
		reported = 1
	}
	return min(max(reported, 1), last), 0
}

// firstBad returns the first line after which the parser reports msg.
func firstBad(doc []byte, msg string) int {
	var ends []int
	for i := 0; i < len(doc); {
		n := bytes.IndexByte(doc[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		ends = append(ends, i)
	}
	return 1 + sort.Search(len(ends), func(i int) bool {
		var n yaml.Node
		err := yaml.Unmarshal(doc[:ends[i]], &n)
		return err != nil && strings.HasSuffix(err.Error(), msg)
	})
}

// firstForbidden returns the index of the first byte that is not UTF-8 or not allowed in
// YAML, or -1.
func firstForbidden(doc []byte) int {
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x20 && r != '\n' && r != '\r' && r != '\t', r == 0x7f,
			r > 0x7f && r != 0x85 && r < 0xA0, r == 0xFFFE, r == 0xFFFF:
			return i
		}
		i += size
	}
	return -1
}

// LineColumn returns the line and column of the byte at i.
func LineColumn(doc []byte, i int) (line, column int) {
	start := bytes.LastIndexByte(doc[:i], '\n') + 1
	return bytes.Count(doc[:i], []byte("\n")) + 1, utf8.RuneCount(doc[start:i]) + 1
}

// lineAt returns the text of a line, counted from 1.
func lineAt(doc []byte, line int) []byte {
	for ; line > 1; line-- {
		_, doc, _ = bytes.Cut(doc, []byte("\n"))
	}
	text, _, _ := bytes.Cut(doc, []byte("\n"))
	return text
}

func syntaxHint(msg string, text []byte) string {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t")), strings.Contains(msg, "cannot start any token"):
		return "indent with spaces, not tabs, and quote values that begin with a special character"
	case bytes.Contains(text, []byte("{{")):
		return "render the template first, and pass the result"
	case strings.Contains(msg, "mapping values are not allowed"):
		return "quote a value that contains \": \", and check the indentation"
	case strings.Contains(msg, "<document start>"):
		return "put a line of --- between two documents, and check the indentation"
	case strings.Contains(msg, "did not find expected"), strings.Contains(msg, "could not find expected"):
		return "check the indentation and the quotes on this line and the one before it"
	case strings.Contains(msg, "unknown anchor"):
		return "quote the value if the asterisk is part of it"
	case strings.Contains(msg, "end of stream"):
		return "close the quote that was opened on this line"
	}
	return "check the YAML at this line"
}

func duplicateKey(key string, pos, first tree.Pos) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("key %q is given twice, first on line %d", key, first.Line),
		Hint: "keep one of the two; Kubernetes rejects the document, or silently keeps the last",
		Kept: true,
	}
}

func tooDeep(pos tree.Pos, limits Limits) *Error {
	return &Error{
		Pos:  pos,
		Msg:  fmt.Sprintf("maps and lists are nested more than %d levels deep", limits.Depth),
		Hint: "flatten the document",
	}
}
