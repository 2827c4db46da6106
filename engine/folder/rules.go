package folder

import (
	"errors"
	"fmt"
	"strings"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/template/eta"
)

// The rules for templates.
const (
	// RuleFolder is a folder, or its metadata.yaml, that cannot be used.
	RuleFolder = "TPL001"
	// RuleChoice is a definition that names a file that does not exist.
	RuleChoice = "TPL002"
	// RuleTemplate is a template that cannot be compiled or rendered.
	RuleTemplate = "TPL003"
	// RuleOutput is a template whose output is not YAML.
	RuleOutput = "TPL004"
	// RuleEntity is output that is not an entity.
	RuleEntity = "TPL005"
	// RuleExpression is text of a definition that a portal would evaluate.
	RuleExpression = "TPL006"
	// RuleFallback is a template that failed and was replaced by the default.
	RuleFallback = "TPL007"
	// RuleTwice is a parameter that occurs on two pages.
	RuleTwice = "TPL008"
	// RuleWarned is a warning that a template reports with helpers.warn.
	RuleWarned = "TPL009"
)

// Rules are all rules for templates.
var Rules = []finding.Rule{
	{ID: RuleFolder, Severity: finding.Error, Title: "template folder cannot be used", Why: "Its metadata.yaml is invalid, or a required file is missing."},
	{ID: RuleChoice, Severity: finding.Error, Title: "template does not exist", Why: "The definition, or metadata.yaml, names a file the folder does not have. With --on-error default it is a warning, and the default is used."},
	{ID: RuleTemplate, Severity: finding.Error, Title: "template cannot be compiled or rendered", Why: "The definition produces no entities. The position is in the template."},
	{ID: RuleOutput, Severity: finding.Error, Title: "output of a template is not YAML", Why: "The line is in the output, which xrd-transform debug --text shows. Write values with quote, toJson or toYaml."},
	{ID: RuleEntity, Severity: finding.Error, Title: "output of a template is not an entity", Why: "The catalog would reject it."},
	{ID: RuleExpression, Severity: finding.Warning, Title: "text from a definition is used as an expression in a step", Why: "The portal would evaluate ${{ … }} from a definition. Keep text of definitions out of steps."},
	{ID: RuleFallback, Severity: finding.Warning, Title: "template failed and the default was used", Why: "Requested by --on-error default. Fix the template."},
	{ID: RuleTwice, Severity: finding.Warning, Title: "two pages have the same parameter", Why: "They share one value, so each overwrites the other."},
	{ID: RuleWarned, Severity: finding.Warning, Title: "template reports a warning", Why: "The template called helpers.warn: a required value is missing, and rendering continued without it."},
}

// severityOf returns the severity of a rule.
func severityOf(id string) finding.Severity {
	for _, r := range Rules {
		if r.ID == id {
			return r.Severity
		}
	}
	return finding.Error
}

// Error is a folder or a template that cannot be used.
type Error struct {
	// Finding says what is wrong, where, and how to fix it.
	Finding finding.Finding
	// Text is a multi-line excerpt of the position; it may be empty.
	Text string
	// Err is the cause, if there is one; for a template an *eta.Error.
	Err error
}

// Error returns the message with its position.
func (e *Error) Error() string {
	if where := e.Finding.Where(); where != "" {
		return where + ": " + e.Finding.Message
	}
	return e.Finding.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// mostFrom is the maximum number of including files that are listed: a template that
// includes itself has very many.
const mostFrom = 5

// failed converts an error of eta for the template at path into an Error.
func failed(err error, path string) *Error {
	out := &Error{Err: err, Finding: finding.Finding{
		Rule: RuleTemplate, Severity: severityOf(RuleTemplate), File: path, Message: err.Error(),
	}}
	var e *eta.Error
	if !errors.As(err, &e) {
		return out
	}
	out.Finding.File, out.Finding.Pos = e.File, pos(e.Line, e.Column)
	out.Finding.Message, out.Finding.Hint = e.Msg, e.Hint
	var from []string
	for i, p := range e.From {
		if i == mostFrom {
			from = append(from, "…")
			break
		}
		from = append(from, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	if len(from) > 0 {
		out.Finding.Message += " (included from " + strings.Join(from, ", ") + ")"
	}
	out.Text = e.Excerpt()
	return out
}
