package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
)

// Problem is an object or a file of a source that cannot be read.
type Problem struct {
	// List is the list that contains it.
	List string `json:"list"`
	Finding
	// Object names the object, if it is not a file.
	Object string `json:"object,omitempty"`
}

const (
	// mostProblems is how many problems of a source are stored, mostTold how many of a
	// list are in one error.
	mostProblems = 200
	mostTold     = 20
)

// AddProblems adds findings about unreadable objects of a list.
func (s *Status) AddProblems(list string, bad []finding.Finding) {
	s.ProblemCount += len(bad)
	for _, f := range inOrder(bad) {
		if len(s.Problems) == mostProblems {
			return
		}
		s.Problems = append(s.Problems, Problem{List: list, Finding: FindingOf(f), Object: f.Object})
	}
}

// inOrder returns findings sorted, so that the same findings always give the same text,
// which is logged once.
func inOrder(bad []finding.Finding) []finding.Finding {
	bad = slices.Clone(bad)
	finding.Sort(bad)
	return bad
}

// Unreadable returns an error that describes the unreadable objects of a list or a
// source.
func Unreadable(of string, bad []finding.Finding) error {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot read %d of the objects in %s: ", len(bad), of)
	for i, f := range inOrder(bad) {
		if i == mostTold {
			fmt.Fprintf(&b, "; and %d more", len(bad)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if where := f.Where(); !strings.Contains(f.Message, cmp.Or(f.File, where)) {
			b.WriteString(where + ": ")
		}
		b.WriteString(f.Message)
	}
	return errors.New(b.String())
}

// Finding is a finding about a definition or a source.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	File     string `json:"file,omitempty"`
	// Line and Column are the position in the file; 0 if unknown.
	Line   int32  `json:"line,omitempty"`
	Column int32  `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
}

// FindingOf returns a finding in the form of the API.
func FindingOf(f finding.Finding) Finding {
	out := Finding{Rule: f.Rule, Severity: f.Severity.String(), Message: f.Message, Hint: f.Hint, File: f.File, Path: f.Path}
	if f.File != "" {
		out.Line, out.Column = f.Pos.Line, f.Pos.Column
	}
	return out
}
