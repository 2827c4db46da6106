package config

import (
	"slices"

	"example.dev/ingestor/document/finding"
)

// The ids of the rules.
const (
	RuleFile        = "CONF001"
	RuleSyntax      = "CONF002"
	RuleUnknown     = "CONF003"
	RuleType        = "CONF004"
	RuleValue       = "CONF005"
	RuleMissing     = "CONF006"
	RuleTogether    = "CONF007"
	RuleVariable    = "CONF008"
	RuleInclude     = "CONF009"
	RuleTwice       = "CONF010"
	RuleExposed     = "CONF011"
	RuleUnsupported = "CONF012"
	RuleNoEffect    = "CONF013"
	RulePassedOver  = "CONF014"
	RuleTooMany     = "CONF015"
	RuleOpen        = "CONF016"
)

// Rules are all rules, in the order of their ids.
var Rules = []finding.Rule{
	{ID: RuleFile, Severity: finding.Error, Title: "a configuration file cannot be read",
		Why: "None of its settings apply. Check its name and permissions."},
	{ID: RuleSyntax, Severity: finding.Error, Title: "a configuration file is not one document of YAML or JSON",
		Why: "It must be one map, with each key once."},
	{ID: RuleUnknown, Severity: finding.Error, Title: "unknown key",
		Why: "It would have no effect. Fix its name or indentation, or remove it."},
	{ID: RuleType, Severity: finding.Error, Title: "value has the wrong type",
		Why: "Write a value of the expected type."},
	{ID: RuleValue, Severity: finding.Error, Title: "value is not allowed",
		Why: "It is out of range, not one of the allowed values, or malformed."},
	{ID: RuleMissing, Severity: finding.Error, Title: "key is missing",
		Why: "The rest has no effect without it. Add it."},
	{ID: RuleTogether, Severity: finding.Error, Title: "keys are mutually exclusive",
		Why: "Keep one of them, and remove the others."},
	{ID: RuleVariable, Severity: finding.Error, Title: "environment variable is not set, or malformed",
		Why: "Set it, or give it a default."},
	{ID: RuleInclude, Severity: finding.Error, Title: "file with a value cannot be read",
		Why: "Check its path, which is relative to the configuration file, and its permissions."},
	{ID: RuleTwice, Severity: finding.Error, Title: "duplicate name",
		Why: "Entries are selected by name, so each name must be unique."},
	{ID: RuleExposed, Severity: finding.Error, Title: "credentials would be exposed",
		Why: "Addresses are logged, and plain HTTP can be read in transit."},
	{ID: RuleUnsupported, Severity: finding.Error, Title: "feature of Backstage is not supported",
		Why: "It would silently have no effect. Use the alternative in the hint."},
	{ID: RuleNoEffect, Severity: finding.Warning, Title: "key has no effect here",
		Why: "A portal that shares the file may use it; these programs do not."},
	{ID: RulePassedOver, Severity: finding.Info, Title: "key is ignored",
		Why: "It is for the portal's pages, and has no effect here."},
	{ID: RuleTooMany, Severity: finding.Error, Title: "more findings than are shown",
		Why: "Fix the others first."},
	{ID: RuleOpen, Severity: finding.Error, Title: "guests can connect from other machines",
		Why: "Every client that reaches the address could read the catalog. Require sign-in, or allow guests explicitly."},
}

// severityOf returns the severity of a rule.
func severityOf(id string) finding.Severity {
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == id })
	return Rules[i].Severity
}
