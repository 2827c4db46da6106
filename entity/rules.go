package entity

import "example.dev/ingestor/finding"

// Rule is one rule the catalog holds entities to.
type Rule struct {
	// ID is stable; it is never given to another rule.
	ID       string
	Severity finding.Severity
	// Title is one line for documentation.
	Title string
}

// The ids of the rules.
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
)

// Rules are all rules, in the order of their ids.
var Rules = []Rule{
	{RuleAPIVersion, finding.Error, "apiVersion is a version, optionally after a group and a slash"},
	{RuleKind, finding.Error, "kind is letters and digits, a letter first, at most 63"},
	{RuleName, finding.Error, "metadata.name is letters, digits, dashes, underscores and dots, at most 63"},
	{RuleNamespace, finding.Error, "metadata.namespace is lower-case letters, digits and dashes, at most 63"},
	{RuleLabelKey, finding.Error, "the key of a label is a name, optionally after a domain and a slash"},
	{RuleLabelValue, finding.Error, "the value of a label is empty or follows the rule for names"},
	{RuleAnnotationKey, finding.Error, "the key of an annotation is a name, optionally after a domain and a slash"},
	{RuleTag, finding.Error, "a tag is lower-case letters, digits, colons, plus and number signs with single dashes between, at most 63"},
	{RuleLinkURL, finding.Error, "the URL of a link is absolute"},
	{RuleSpec, finding.Error, "spec is a map"},
	{RuleRequired, finding.Error, "the fields a kind of entity requires in its spec are strings that are not empty"},
	{RuleType, finding.Error, "a field of the spec has the type its kind of entity gives it"},
	{RuleSteps, finding.Error, "the steps of a Template are a list of maps that is not empty"},
	{RuleStepAction, finding.Error, "a step of a Template has an action"},
	{RuleParameters, finding.Error, "the parameters of a Template are a map or a list of maps"},
	{RuleTargets, finding.Warning, "a Location has a target"},
	{RuleRef, finding.Error, "an entity reference has the form [<kind>:][<namespace>/]<name>, with a kind where none is implied"},
	{RuleRefImpossible, finding.Warning, "an entity reference names an entity that can exist"},
	{RuleLocationMissing, finding.Error, "the annotations that say which location manages an entity are there"},
	{RuleLocationForm, finding.Error, "the annotations that say which location manages an entity have the form type:target"},
	{RuleDuplicate, finding.Error, "no two entities have the same reference, upper and lower case being the same"},
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
