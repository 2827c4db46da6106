// Package finding represents findings, such as errors and remarks, as values: which
// rule, how severe, where, and how to fix it. Producers return findings; the caller
// decides how to show them.
package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
)

// Severity is the severity of a finding.
type Severity uint8

// The severities. Info is a remark; Warning fails a strict run; Error fails
// every run.
const (
	Info Severity = iota
	Warning
	Error
)

// String returns the name of the severity.
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// Finding is one error, warning or remark.
type Finding struct {
	// Rule is a stable ID such as "XRD012".
	Rule     string
	Severity Severity
	// Object names the subject, such as a definition's name.
	Object string
	// Path is the path in the object, such as "spec.versions[0].schema".
	Path string
	// File and Pos are the position in the source, if known.
	File string
	Pos  tree.Pos
	// Message says what is wrong, Hint how to fix it.
	Message string
	Hint    string
}

// Where returns "file:line:column", as much of it as is known, or the object's name if
// the file is unknown.
func (f Finding) Where() string {
	if f.File == "" {
		return f.Object
	}
	if f.Pos.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Pos.Line, max(f.Pos.Column, 1))
}

// Sort sorts findings in reading order: by file, position, object, rule, path and
// message.
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

// Count returns the number of findings with the severity.
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
	// Title says in a few words what is wrong, Why what the consequence is.
	Title, Why string
}
