package parser

import (
	"bytes"
	"fmt"

	"example.dev/ingestor/document/syntax"
)

// mostIdle is how many lines without content a Budget always allows, and idlePerLine how
// many per line with content.
const (
	mostIdle    = 1_000_000
	idlePerLine = 4
)

// Budget limits what several calls of Decode read together, such as those for one
// request: the number of documents and of lines without content. Limits.Bytes limits a
// single document, but not a stream of empty ones, which compresses to almost nothing. A
// Budget is not safe for concurrent use.
type Budget struct {
	documents, most int
	lines, idle     int
	over            *Error
}

// NewBudget returns a budget for the given number of documents. Empty and unreadable
// documents count.
func NewBudget(documents int) *Budget { return &Budget{most: documents} }

// document counts a document that begins on a line, and reports whether it may be read.
func (b *Budget) document(line int) bool {
	if b == nil {
		return true
	}
	if b.documents++; b.documents > b.most {
		b.exceed(line, fmt.Sprintf("input has more than %d documents, including empty ones", b.most), "split the input into several parts")
	}
	return b.over == nil
}

// line counts a line by its beginning, and reports whether to continue.
func (b *Budget) line(number int, text []byte) bool {
	if b == nil {
		return true
	}
	text = bytes.TrimLeft(text, " \t\r")
	if len(text) > 0 && text[0] != '\n' && text[0] != '#' {
		b.lines++
		return b.over == nil
	}
	if b.idle++; b.idle > mostIdle && b.idle > idlePerLine*b.lines {
		b.exceed(number, fmt.Sprintf("input has more than %d empty lines and comments", mostIdle), "remove them")
	}
	return b.over == nil
}

func (b *Budget) exceed(line int, msg, hint string) {
	if b.over == nil {
		b.over = &Error{Pos: syntax.Place(line, 1), Msg: msg, Hint: hint}
	}
}

// err returns why reading stopped, or nil if the budget is not exceeded.
func (b *Budget) err() error {
	if b == nil || b.over == nil {
		return nil
	}
	return b.over
}
