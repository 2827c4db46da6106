package eta

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Place is a position in a template, counted from 1; columns count characters.
type Place struct {
	File         string
	Line, Column int
}

// String returns "file:line:column", as much of it as is known.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is a template that cannot be parsed or rendered: where in the template, why, and
// how to fix it. Line is 0 if the error is about the file as a whole.
type Error struct {
	File         string
	Line, Column int
	Msg, Hint    string
	// Text is the line of the template.
	Text string
	// From are the calls of include or layout that led to the file, the innermost first.
	From []Place
	// Err is the error of a Func, the context or the file system.
	Err error
}

// Error returns "file:line:column: msg".
func (e *Error) Error() string {
	return Place{e.File, e.Line, e.Column}.String() + ": " + e.Msg
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// widest is the maximum number of characters of a line in an excerpt.
const widest = 240

// Excerpt returns the line of the template with a caret below the position of the error,
// or "" if the line is unknown. A very long line is cut to the part around the position.
func (e *Error) Excerpt() string {
	if e.Line == 0 || e.Text == "" {
		return ""
	}
	line, at := []rune(e.Text), max(0, e.Column-1)
	if from := max(0, min(at-widest/2, len(line)-widest)); from > 0 {
		line, at = append([]rune{'…'}, line[from:]...), at-from+1
	}
	if len(line) > widest+1 {
		line = append(line[:widest+1:widest+1], '…')
	}
	var b strings.Builder
	b.WriteString(string(line))
	b.WriteByte('\n')
	for _, r := range line[:min(at, len(line))] {
		// A tab stays a tab, so that the caret is aligned at any tab width.
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteByte('^')
	return b.String()
}

// errorAt returns an error at an offset of a template's text.
func errorAt(file, text string, offset int, msg string) *Error {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	line := text[start:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return &Error{
		File:   file,
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(text[start:offset]) + 1,
		Msg:    msg,
		Text:   strings.TrimSuffix(line, "\r"),
	}
}
