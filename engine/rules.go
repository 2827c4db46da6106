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
	{ID: RuleName, Severity: finding.Info, Title: "name is repaired", Why: "The catalog takes names of 63 letters, digits, dots, dashes and underscores."},
	{ID: RuleTag, Severity: finding.Info, Title: "tag is repaired or left out", Why: "One bad tag would make the catalog refuse the whole entity."},
	{ID: RuleRef, Severity: finding.Warning, Title: "owner or system is not an entity reference", Why: "The next source of the value is used instead."},
	{ID: RuleNoForm, Severity: finding.Warning, Title: "definition gets no Template and no API", Why: "Nobody could create a resource of it."},
	{ID: RuleClash, Severity: finding.Warning, Title: "two definitions share a short name", Why: "The later one in name order gets its full name."},
	{ID: RuleNamespace, Severity: finding.Warning, Title: "namespace is repaired", Why: "The catalog takes lower-case letters, digits and dashes."},
	{ID: RuleOrphan, Severity: finding.Info, Title: "no definition for this Composition or composite", Why: "Entities are made of definitions and what belongs to them; give the definition too."},
	{ID: RuleDefaultNamespace, Severity: finding.Warning, Title: "default namespace is not the name of a namespace", Why: "The form would refuse its own proposal; the next source of the value is used instead."},
	{ID: RuleNoRepository, Severity: finding.Info, Title: "no repository for change requests", Why: "The form asks whoever chooses a change request for the repository."},
	{ID: RuleDelivery, Severity: finding.Warning, Title: "repository, path or branch for change requests cannot be used", Why: "A change request would fail when somebody runs it; the form asks for what is missing, and a template that needs it fails."},
}
