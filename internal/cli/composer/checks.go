package composer

import (
	"regexp"
	"slices"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/pipeline"
	"example.dev/ingestor/xrd/lint"
)

// check is one line that validate prints for a definition. It fails if one of
// its rules was broken.
type check struct {
	title string
	rules []string
	// also selects findings of other checks that fail this one as well.
	also func(finding.Finding) bool
}

// checks are all checks, in the order in which they are printed. Every rule
// whose breach is an error belongs to one of them, and a few whose breach is a
// warning elsewhere.
var checks = []check{
	{title: "XRD structure valid", rules: []string{
		lint.RuleAPIVersion, lint.RuleNoName, lint.RuleNameMismatch, lint.RuleFieldType, lint.RuleNoSpec, lint.RuleNoGroup, lint.RuleBadGroup,
		lint.RuleNoKind, lint.RuleBadKind, lint.RuleNoPlural, lint.RuleBadNames, lint.RuleClaimSame, lint.RuleClaimIncomplete, lint.RuleLabelType, lint.RuleLabelValue,
		lint.RuleScope, lint.RuleClaimScope, lint.RuleSecretScope, lint.RuleFieldValue,
		lint.RuleNoVersions, lint.RuleVersionName, lint.RuleVersionTwice, lint.RuleVersionSilent, lint.RuleNoReferenceable, lint.RuleManyReferenceable,
		lint.RuleDeprecation, lint.RulePrinterColumn,
	}},
	{title: "schema present", rules: []string{lint.RuleNoSchema, lint.RuleSchemaMisplaced}, also: aboveSchema},
	{title: "required labels found", rules: []string{lint.RuleRequiredLabel}},
	{title: "compatible with template generation", rules: slices.Concat([]string{
		lint.RuleNoServed,
		lint.RuleKeywordType, lint.RuleNotSchema, lint.RuleUnknownType, lint.RuleNoType, lint.RuleNoItems, lint.RuleRequiredAbsent,
		lint.RuleDefault, lint.RulePattern, lint.RuleBounds, lint.RulePropertiesAndMap, lint.RuleRefusedKeyword, lint.RuleExtensionValue,
		lint.RuleCEL, lint.RuleBranchKeyword, lint.RuleBranchProperty, lint.RuleYAMLBooleanString, lint.RuleYAMLBoolean,
		engine.RuleNoForm, pipeline.RuleInternal,
	}, entityErrors())},
}

// schemaPath matches the path of a schema and the paths of its parents.
var schemaPath = regexp.MustCompile(`^spec(\.versions(\[\d+\](\.schema(\.openAPIV3Schema)?)?)?)?$`)

// aboveSchema reports whether a finding means that there is no schema at all: the
// definition has no versions, or a parent of the schema has the wrong type.
func aboveSchema(f finding.Finding) bool {
	return f.Rule == lint.RuleNoSpec || f.Rule == lint.RuleNoVersions ||
		f.Rule == lint.RuleFieldType && schemaPath.MatchString(f.Path)
}

// entityErrors are the rules that keep an entity out of the catalog.
func entityErrors() []string {
	var ids []string
	for _, r := range entity.Rules {
		if r.Severity == finding.Error {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// broken returns the rules of a check that findings break, in order.
func (c check) broken(fs []finding.Finding) []string {
	var ids []string
	for _, f := range fs {
		if slices.Contains(c.rules, f.Rule) || c.also != nil && c.also(f) {
			ids = append(ids, f.Rule)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// raised returns the findings with those that fail a check as errors: the service
// does not take a definition without the required label.
func raised(fs []finding.Finding) []finding.Finding {
	out := slices.Clone(fs)
	for i := range out {
		if out[i].Rule == lint.RuleRequiredLabel {
			out[i].Severity = finding.Error
		}
	}
	return out
}
