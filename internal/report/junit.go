package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/term"
)

// The parts of JUnit XML that are used.
type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suite    suite    `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		File    string   `xml:"file,attr,omitempty"`
		Line    int      `xml:"line,attr,omitempty"`
		Failure *failure `xml:"failure"`
		Out     string   `xml:"system-out,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a test case for each finding. Findings that fail the run are
// failures; the others pass, with the message as output. Objects without findings
// are test cases that pass.
func writeJUnit(w io.Writer, fs []finding.Finding, opts Options) error {
	var cases []testcase
	failures := 0
	dirty := map[string]bool{}
	for _, f := range fs {
		dirty[f.Object] = true
		c := newCase(f, opts)
		if c.Failure != nil {
			failures++
		}
		cases = append(cases, c)
	}
	objects := slices.Clone(opts.Objects)
	slices.Sort(objects)
	for _, o := range slices.Compact(objects) {
		if !dirty[o] {
			cases = append(cases, testcase{Class: term.Safe(o), Name: "no findings"})
		}
	}
	if len(cases) == 0 {
		// Some systems treat a report without test cases as broken.
		cases = []testcase{{Class: opts.Tool, Name: "no findings"}}
	}
	doc := suites{
		Name: opts.Tool, Tests: len(cases), Failures: failures,
		Suite: suite{Name: opts.Tool, Tests: len(cases), Failures: failures, Cases: cases},
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func newCase(f finding.Finding, opts Options) testcase {
	c := testcase{
		Class: term.Safe(cmp.Or(f.File, f.Object, opts.Tool)),
		Name:  term.Safe(caseName(f)),
		File:  term.Safe(f.File),
		Line:  int(f.Pos.Line),
	}
	text := term.Safe(f.Where())
	if text != "" {
		text += ": "
	}
	text += f.Severity.String() + ": " + term.SafeLines(explained(f))
	if f.Severity == finding.Info || f.Severity == finding.Warning && !opts.Strict {
		c.Out = text
		return c
	}
	c.Failure = &failure{Message: term.Safe(f.Message), Type: f.Severity.String(), Text: text}
	return c
}

// caseName returns a name that distinguishes the findings of a file by rule,
// position and object.
func caseName(f finding.Finding) string {
	name := cmp.Or(f.Rule, f.Severity.String())
	if f.Pos.Line > 0 {
		name += fmt.Sprintf(" at %d:%d", f.Pos.Line, max(f.Pos.Column, 1))
	}
	if f.Object != "" {
		name += " in " + f.Object
	}
	if f.Path != "" {
		name += " " + f.Path
	}
	return name
}
