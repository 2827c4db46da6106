package engine

import "example.dev/ingestor/document/finding"

// The rules for the engine's output.
const (
	// RuleName is a name that the catalog would reject.
	RuleName = "ENG001"
	// RuleTag is a tag that the catalog would reject.
	RuleTag = "ENG002"
	// RuleRef is an owner or system that is not an entity reference.
	RuleRef = "ENG003"
	// RuleNoForm is a definition of which no resource can be created.
	RuleNoForm = "ENG004"
	// RuleClash is a short name that two definitions share.
	RuleClash = "ENG005"
	// RuleNamespace is a namespace that the catalog would reject.
	RuleNamespace = "ENG006"
	// RuleDefaultNamespace is a default namespace that is not a valid namespace name.
	RuleDefaultNamespace = "ENG008"
	// RuleOrphan is a Composition for a kind that no definition in the input defines.
	RuleOrphan = "ENG007"
	// RuleNoRepository is a change request without a configured repository.
	RuleNoRepository = "ENG009"
	// RuleDelivery is a repository, path or branch that cannot be used for change requests.
	RuleDelivery = "ENG010"
)

// Rules are all rules for the engine's output.
var Rules = []finding.Rule{
	{ID: RuleName, Severity: finding.Info, Title: "name is repaired", Why: "The catalog allows names of up to 63 letters, digits, dots, dashes and underscores."},
	{ID: RuleTag, Severity: finding.Info, Title: "tag is repaired or dropped", Why: "The catalog rejects the whole entity because of one invalid tag."},
	{ID: RuleRef, Severity: finding.Warning, Title: "owner or system is not an entity reference", Why: "The next source of the value is used instead."},
	{ID: RuleNoForm, Severity: finding.Warning, Title: "definition gets no Template and no API", Why: "No resource of its kind can be created."},
	{ID: RuleClash, Severity: finding.Warning, Title: "two definitions share a short name", Why: "The second one in name order gets its full name."},
	{ID: RuleNamespace, Severity: finding.Warning, Title: "namespace is repaired", Why: "The catalog allows lower-case letters, digits and dashes."},
	{ID: RuleOrphan, Severity: finding.Info, Title: "no definition for this Composition or composite", Why: "Entities are made from definitions and the objects that belong to them. Add the definition to the input."},
	{ID: RuleDefaultNamespace, Severity: finding.Warning, Title: "default namespace is not a valid namespace name", Why: "The form would reject its own default; the next source of the value is used instead."},
	{ID: RuleNoRepository, Severity: finding.Info, Title: "no repository for change requests", Why: "The form asks for the repository when a change request is chosen."},
	{ID: RuleDelivery, Severity: finding.Warning, Title: "repository, path or branch for change requests cannot be used", Why: "A change request would fail at run time. The form asks for missing values, and a template that needs them fails."},
}
