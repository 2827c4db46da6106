// Package term has helpers for terminals: colour, tables and progress. Text from
// files or clusters is escaped, so that it cannot control the terminal.
package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Style colours text. The zero Style leaves it unchanged.
type Style struct {
	Color bool
}

// Each code has a matching off code that resets only that attribute, so that
// styles can be nested.
const (
	boldOn   = "\x1b[1m"
	dimOn    = "\x1b[2m"
	boldOff  = "\x1b[22m"
	red      = "\x1b[31m"
	green    = "\x1b[32m"
	yellow   = "\x1b[33m"
	cyan     = "\x1b[36m"
	colorOff = "\x1b[39m"
)

var codes = []string{boldOn, dimOn, boldOff, red, green, yellow, cyan, colorOff}

// Bold is for the most important text.
func (s Style) Bold(t string) string { return s.wrap(boldOn, t, boldOff) }

// Dim is for unimportant text.
func (s Style) Dim(t string) string { return s.wrap(dimOn, t, boldOff) }

// Red is for errors.
func (s Style) Red(t string) string { return s.wrap(red, t, colorOff) }

// Green is for success.
func (s Style) Green(t string) string { return s.wrap(green, t, colorOff) }

// Yellow is for warnings.
func (s Style) Yellow(t string) string { return s.wrap(yellow, t, colorOff) }

// Cyan is for names and remarks.
func (s Style) Cyan(t string) string { return s.wrap(cyan, t, colorOff) }

func (s Style) wrap(on, t, off string) string {
	if !s.Color || t == "" {
		return t
	}
	return on + t + off
}

// Safe returns text for one line of a terminal: every non-printable character,
// such as the escape that begins a control sequence, a line break, or a change of
// the writing direction, is escaped (\x1b, \n, \u202e).
func Safe(s string) string { return escape(s, "", nil) }

// SafeLines is Safe for text of several lines: line breaks and tabs are kept.
func SafeLines(s string) string { return escape(s, "\n\t", nil) }

// escape is Safe that keeps the characters in keep and the codes in allow.
func escape(s, keep string, allow []string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if code := codeAt(s, allow); code != "" {
			b.WriteString(code)
			s = s[len(code):]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsGraphic(r), isJoiner(r), strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as nearly all text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isJoiner reports whether r joins characters into one, as in many scripts and
// emoji. It is invisible and harmless.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

func codeAt(s string, codes []string) string {
	if s[0] != '\x1b' {
		return ""
	}
	for _, c := range codes {
		if strings.HasPrefix(s, c) {
			return c
		}
	}
	return ""
}

// gap separates two columns.
const gap = "  "

// Table lays out rows in columns as wide as the widest cell, two spaces apart,
// under a header, which may be nil. Nothing is truncated. Cells are escaped as by
// Safe, except for the codes of style. Every line ends with a line break.
func Table(rows [][]string, header []string, style Style) string {
	var allow []string
	if style.Color {
		allow = codes
	}
	var lines [][]string
	if len(header) > 0 {
		cells := make([]string, len(header))
		for i, h := range header {
			cells[i] = style.Bold(escape(h, "", nil))
		}
		lines = append(lines, cells)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = escape(c, "", allow)
		}
		lines = append(lines, cells)
	}
	return layOut(lines)
}

func layOut(lines [][]string) string {
	var widths []int
	for _, cells := range lines {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
	}
	var b strings.Builder
	for _, cells := range lines {
		// Spaces are written before the next cell that is not empty, so that no line
		// has trailing spaces.
		pending := 0
		for i, c := range cells {
			if c != "" {
				b.WriteString(strings.Repeat(" ", pending))
				b.WriteString(c)
				pending = 0
			}
			pending += widths[i] - ansi.StringWidth(c) + len(gap)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
