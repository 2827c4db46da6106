package entity

import "example.dev/ingestor/document/finding"

// The IDs of the rules.
const (
	RuleAPIVersion      = "ENT001"
	RuleKind            = "ENT002"
	RuleName            = "ENT003"
	RuleNamespace       = "ENT004"
	RuleLabelKey        = "ENT005"
	RuleLabelValue      = "ENT006"
	RuleAnnotationKey   = "ENT007"
	RuleTag             = "ENT008"
	RuleLinkURL         = "ENT009"
	RuleSpec            = "ENT010"
	RuleRequired        = "ENT011"
	RuleType            = "ENT012"
	RuleSteps           = "ENT013"
	RuleStepAction      = "ENT014"
	RuleParameters      = "ENT015"
	RuleTargets         = "ENT016"
	RuleRef             = "ENT017"
	RuleRefImpossible   = "ENT018"
	RuleLocationMissing = "ENT019"
	RuleLocationForm    = "ENT020"
	RuleDuplicate       = "ENT021"
	RuleDocument        = "ENT022"
	RuleAnnotationURL   = "ENT023"
	RuleOutputURL       = "ENT024"
	RuleDroppedURL      = "ENT025"
	RuleTargetMissing   = "ENT026"
)

// Rules are all rules, ordered by ID.
var Rules = []finding.Rule{
	{ID: RuleAPIVersion, Severity: finding.Error, Title: "apiVersion is a version, optionally after a group and a slash"},
	{ID: RuleKind, Severity: finding.Error, Title: "kind is letters and digits, a letter first, at most 63"},
	{ID: RuleName, Severity: finding.Error, Title: "metadata.name is letters, digits, dashes, underscores and dots, at most 63"},
	{ID: RuleNamespace, Severity: finding.Error, Title: "metadata.namespace is lower-case letters, digits and dashes, at most 63"},
	{ID: RuleLabelKey, Severity: finding.Error, Title: "the key of a label is a name, optionally after a domain and a slash"},
	{ID: RuleLabelValue, Severity: finding.Error, Title: "the value of a label is empty or follows the rule for names"},
	{ID: RuleAnnotationKey, Severity: finding.Error, Title: "the key of an annotation is a name, optionally after a domain and a slash"},
	{ID: RuleTag, Severity: finding.Error, Title: "a tag is lower-case letters, digits, colons, plus and number signs with single dashes between, at most 63"},
	{ID: RuleLinkURL, Severity: finding.Error, Title: "the URL of a link is absolute, with scheme http, https or mailto"},
	{ID: RuleSpec, Severity: finding.Error, Title: "spec is a map"},
	{ID: RuleRequired, Severity: finding.Error, Title: "the spec has the fields that its kind requires, and required strings are not empty"},
	{ID: RuleType, Severity: finding.Error, Title: "a field of the spec has the type that its kind defines"},
	{ID: RuleSteps, Severity: finding.Error, Title: "the steps of a Template are a non-empty list of maps"},
	{ID: RuleStepAction, Severity: finding.Error, Title: "a step of a Template has an action"},
	{ID: RuleParameters, Severity: finding.Error, Title: "the parameters of a Template are a map or a list of maps"},
	{ID: RuleTargets, Severity: finding.Warning, Title: "a Location has a target"},
	{ID: RuleRef, Severity: finding.Error, Title: "an entity reference has the form [<kind>:][<namespace>/]<name>, with a kind where there is no default"},
	{ID: RuleRefImpossible, Severity: finding.Warning, Title: "an entity reference names an entity that can exist"},
	{ID: RuleLocationMissing, Severity: finding.Error, Title: "an entity has the annotations that name the location it is managed by"},
	{ID: RuleLocationForm, Severity: finding.Error, Title: "the annotations that name the location an entity is managed by have the form type:target"},
	{ID: RuleDuplicate, Severity: finding.Error, Title: "no two entities have the same reference, ignoring case"},
	{ID: RuleDocument, Severity: finding.Error, Title: "an entity is a map of apiVersion, kind, metadata and spec, with fields of the right types"},
	{ID: RuleAnnotationURL, Severity: finding.Error, Title: "an annotation that portals show as a link is a URL with scheme http, https or mailto, or relative"},
	{ID: RuleOutputURL, Severity: finding.Error, Title: "the URL of a link in the output of a Template has scheme http, https or mailto, or is relative"},
	{ID: RuleDroppedURL, Severity: finding.Warning, Title: "a link or an annotation with a URL that portals do not show is dropped from a generated entity"},
	{ID: RuleTargetMissing, Severity: finding.Warning, Title: "a relative target of a Location is among the files it is committed with"},
}

// severityOf returns the severity of a rule.
func severityOf(id string) finding.Severity {
	for i := range Rules {
		if Rules[i].ID == id {
			return Rules[i].Severity
		}
	}
	return finding.Error
}
