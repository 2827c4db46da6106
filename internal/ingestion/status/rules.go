package status

import "example.dev/ingestor/document/finding"

// RuleUnreadable is the rule for a file or folder that cannot be read.
const RuleUnreadable = "ING001"

// RuleNoneSelected is the rule for a source that has definitions, none of which is
// selected.
const RuleNoneSelected = "ING002"

// RuleMissing is the rule for an owner or a system that entities refer to but that does
// not exist.
const RuleMissing = "ING003"

// Rules are the rules about sources.
var Rules = []finding.Rule{
	{ID: RuleUnreadable, Severity: finding.Error, Title: "a file or folder cannot be read", Why: "It does not exist, or the service may not read it. Its last known objects are kept and marked as stale; all other files are read."},
	{ID: RuleNoneSelected, Severity: finding.Warning, Title: "none of the definitions of a source is selected", Why: "The source can be read and has definitions, but no entities are generated from them. Set the label, or ingestAll."},
	{ID: RuleMissing, Severity: finding.Warning, Title: "an owner or a system is not in the catalog", Why: "Entities refer to it, so their relation has no target. Register the Group, User or System, or refer to another one."},
}
