// Package rule has the rules that a configuration file can violate.
package rule

import (
	"slices"

	"example.dev/ingestor/document/finding"
)

// The ids of the rules.
const (
	File        = "CONF001"
	Syntax      = "CONF002"
	Unknown     = "CONF003"
	Type        = "CONF004"
	Value       = "CONF005"
	Missing     = "CONF006"
	Together    = "CONF007"
	Variable    = "CONF008"
	Include     = "CONF009"
	Twice       = "CONF010"
	Exposed     = "CONF011"
	Unsupported = "CONF012"
	NoEffect    = "CONF013"
	PassedOver  = "CONF014"
	TooMany     = "CONF015"
	Open        = "CONF016"
)

// All are all rules, in the order of their ids.
var All = []finding.Rule{
	{ID: File, Severity: finding.Error, Title: "a configuration file cannot be read",
		Why: "None of its settings apply. Check its name and permissions."},
	{ID: Syntax, Severity: finding.Error, Title: "a configuration file is not one document of YAML or JSON",
		Why: "It must be one map, with each key once."},
	{ID: Unknown, Severity: finding.Error, Title: "unknown key",
		Why: "It would have no effect. Fix its name or indentation, or remove it."},
	{ID: Type, Severity: finding.Error, Title: "value has the wrong type",
		Why: "Write a value of the expected type."},
	{ID: Value, Severity: finding.Error, Title: "value is not allowed",
		Why: "It is out of range, not one of the allowed values, or malformed."},
	{ID: Missing, Severity: finding.Error, Title: "key is missing",
		Why: "The rest has no effect without it. Add it."},
	{ID: Together, Severity: finding.Error, Title: "keys are mutually exclusive",
		Why: "Keep one of them, and remove the others."},
	{ID: Variable, Severity: finding.Error, Title: "environment variable is not set, or malformed",
		Why: "Set it, or give it a default."},
	{ID: Include, Severity: finding.Error, Title: "file with a value cannot be read",
		Why: "Check its path, which is relative to the configuration file, and its permissions."},
	{ID: Twice, Severity: finding.Error, Title: "duplicate name",
		Why: "Entries are selected by name, so each name must be unique."},
	{ID: Exposed, Severity: finding.Error, Title: "credentials would be exposed",
		Why: "Addresses are logged, and plain HTTP can be read in transit."},
	{ID: Unsupported, Severity: finding.Error, Title: "feature of Backstage is not supported",
		Why: "It would silently have no effect. Use the alternative in the hint."},
	{ID: NoEffect, Severity: finding.Warning, Title: "key has no effect here",
		Why: "A portal that shares the file may use it; these programs do not."},
	{ID: PassedOver, Severity: finding.Info, Title: "key is ignored",
		Why: "It is for the portal's pages, and has no effect here."},
	{ID: TooMany, Severity: finding.Error, Title: "more findings than are shown",
		Why: "Fix the others first."},
	{ID: Open, Severity: finding.Error, Title: "guests can connect from other machines",
		Why: "Every client that reaches the address could read the catalog. Require sign-in, or allow guests explicitly."},
}

// Severity returns the severity of a rule.
func Severity(id string) finding.Severity {
	i := slices.IndexFunc(All, func(r finding.Rule) bool { return r.ID == id })
	return All[i].Severity
}
