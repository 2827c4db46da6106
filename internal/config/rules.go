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
		Why: "Nothing of it holds. Check its name and its permissions."},
	{ID: RuleSyntax, Severity: finding.Error, Title: "a configuration file is not one document of YAML or JSON",
		Why: "It must be one map, with each key once."},
	{ID: RuleUnknown, Severity: finding.Error, Title: "key is not known",
		Why: "It would have no effect. Mend its name or its indentation, or remove it."},
	{ID: RuleType, Severity: finding.Error, Title: "value has the wrong type",
		Why: "Write a value of the type that is named."},
	{ID: RuleValue, Severity: finding.Error, Title: "value is not allowed",
		Why: "It is out of bounds, not one of those to choose from, or not well formed."},
	{ID: RuleMissing, Severity: finding.Error, Title: "key is missing",
		Why: "Without it the rest means nothing. Write it."},
	{ID: RuleTogether, Severity: finding.Error, Title: "keys exclude one another",
		Why: "Only one of them can hold. Remove the others."},
	{ID: RuleVariable, Severity: finding.Error, Title: "environment variable is not set, or not well written",
		Why: "Set it, or give it a default."},
	{ID: RuleInclude, Severity: finding.Error, Title: "file that holds a value cannot be read",
		Why: "Check its path, which is relative to the configuration file, and its permissions."},
	{ID: RuleTwice, Severity: finding.Error, Title: "name is given twice",
		Why: "People choose by name, so it must be clear which one is meant."},
	{ID: RuleExposed, Severity: finding.Error, Title: "credentials would be seen",
		Why: "Whatever stands in an address ends in logs, and whatever goes over plain HTTP can be read on the way."},
	{ID: RuleUnsupported, Severity: finding.Error, Title: "feature of Backstage is not supported",
		Why: "It would silently do nothing. Use what the hint names."},
	{ID: RuleNoEffect, Severity: finding.Warning, Title: "key has no effect here",
		Why: "The portal that shares the file may use it; these programs do not."},
	{ID: RulePassedOver, Severity: finding.Info, Title: "key is passed over",
		Why: "It is for the portal's pages, and changes nothing that is done here."},
	{ID: RuleTooMany, Severity: finding.Error, Title: "more mistakes than are shown",
		Why: "Mend the others first."},
	{ID: RuleOpen, Severity: finding.Error, Title: "guests can connect from other machines",
		Why: "Every client that reaches the address could read the catalog. Make people sign in, or say that it is meant."},
}

// severityOf returns the severity of a rule.
func severityOf(id string) finding.Severity {
	i := slices.IndexFunc(Rules, func(r finding.Rule) bool { return r.ID == id })
	return Rules[i].Severity
}
