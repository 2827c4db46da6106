// Package report writes findings for people and for machines: as text, JSON, SARIF
// and JUnit XML.
package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.dev/ingestor/document/finding"
)

// The formats.
const (
	Text  = "text"
	JSON  = "json"
	SARIF = "sarif"
	JUnit = "junit"
)

// Formats are all formats, in the order in which help lists them.
var Formats = []string{Text, JSON, SARIF, JUnit}

// ParseFormat returns the format named s.
func ParseFormat(s string) (string, error) {
	if slices.Contains(Formats, s) {
		return s, nil
	}
	last := len(Formats) - 1
	return "", fmt.Errorf("cannot use output format %q: want %s or %s", s, strings.Join(Formats[:last], ", "), Formats[last])
}

// Options are the settings of a report.
type Options struct {
	// Tool and Version name the program. Tool is "ingestor-cli" by default.
	Tool, Version string
	// Rules are the rules that the objects were checked against.
	Rules []finding.Rule
	// Objects are the names of all objects that were checked, so that those without
	// findings can be shown too.
	Objects []string
	// Min is the lowest severity that is written.
	Min finding.Severity
	// Strict means that warnings fail the run, so that JUnit reports count them as
	// failures.
	Strict bool
	// Color enables colours for a terminal.
	Color bool
}

// Write writes the findings in reading order. The output is complete and valid in
// its format even without findings.
func Write(w io.Writer, format string, fs []finding.Finding, opts Options) error {
	if _, err := ParseFormat(format); err != nil {
		return err
	}
	if opts.Tool == "" {
		opts.Tool = "ingestor-cli"
	}
	shown := make([]finding.Finding, 0, len(fs))
	for _, f := range fs {
		if f.Severity >= opts.Min {
			shown = append(shown, f)
		}
	}
	finding.Sort(shown)
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case Text:
		writeText(out, shown, opts.Color)
	case JSON:
		err = encode(out, newDocument(shown))
	case SARIF:
		err = encode(out, newSARIF(shown, opts))
	case JUnit:
		err = writeJUnit(out, shown, opts)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("cannot write findings: %w", err)
	}
	return nil
}

// encode writes v as indented JSON.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// document is the JSON format. All keys are always present; an empty string or
// zero means unknown.
type document struct {
	Findings []item  `json:"findings"`
	Summary  summary `json:"summary"`
}

type item struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Object   string `json:"object"`
	Path     string `json:"path"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

type summary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

func newDocument(fs []finding.Finding) document {
	d := document{
		Findings: make([]item, len(fs)),
		Summary: summary{
			Errors:   finding.Count(fs, finding.Error),
			Warnings: finding.Count(fs, finding.Warning),
			Infos:    finding.Count(fs, finding.Info),
		},
	}
	for i, f := range fs {
		d.Findings[i] = item{
			Rule: f.Rule, Severity: f.Severity.String(), Object: f.Object, Path: f.Path,
			File: f.File, Line: int(f.Pos.Line), Column: int(f.Pos.Column), Message: f.Message, Hint: f.Hint,
		}
	}
	return d
}
