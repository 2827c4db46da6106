// Package finding holds what was found wrong, or worth a word, as a value:
// which rule, how bad, where, and the way out. Whoever finds it returns it;
// whoever shows it decides how.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities. Info is a remark; Warning fails a strict run; Error fails
// every run.
const (
	Info Severity = iota
	Warning
	Error
)

// String names the severity.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Finding is one thing found.
type Finding struct {
	// Rule is a stable id such as "XRD012".
	Rule     string
	Severity Severity
	// Object names what it is about, such as a definition's name.
	Object string
	// Path says where in the object, such as "spec.versions[0].schema".
	Path string
	// File and Pos say where it was written, when that is known.
	File string
	Pos  tree.Pos
	// Message says what is wrong, Hint the way out.
	Message string
	Hint    string
}

// Where returns "file:line:column", as much of it as is known, or the
// object's name when no file is.
func (f Finding) Where() string {
	if f.File == "" {
		return f.Object
	}
	if f.Pos.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Pos.Line, max(f.Pos.Column, 1))
}

// Sort puts findings in reading order: by file, place, rule and text.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.File, b.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			strings.Compare(a.Object, b.Object),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Message, b.Message),
		)
	})
}

// Count returns how many findings have the severity.
func Count(fs []Finding, s Severity) int {
	n := 0
	for _, f := range fs {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Rule describes a rule for documentation and reports.
type Rule struct {
	ID       string
	Severity Severity
	// Title says in a few words what is wrong, Why what comes of it.
	Title, Why string
}
