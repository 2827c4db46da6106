package lint

import "example.dev/ingestor/document/finding"

// The rules for a definition's identity, fields and versions.
const (
	RuleAPIVersion      = "XRD010"
	RuleBetaVersion     = "XRD011"
	RuleNoName          = "XRD012"
	RuleNameMismatch    = "XRD013"
	RuleLongName        = "XRD014"
	RuleUnknownField    = "XRD015"
	RuleFieldType       = "XRD016"
	RuleNoSpec          = "XRD017"
	RuleNoGroup         = "XRD018"
	RuleBadGroup        = "XRD019"
	RuleNoKind          = "XRD020"
	RuleBadKind         = "XRD021"
	RuleKindCase        = "XRD022"
	RuleNoPlural        = "XRD023"
	RuleBadNames        = "XRD024"
	RuleClaimSame       = "XRD025"
	RuleClaimIncomplete = "XRD026"
	RuleLabelType       = "XRD027"
	RuleLabelValue      = "XRD028"
	RuleRequiredLabel   = "XRD029"
	RuleKnownWord       = "XRD030"
	RuleScope           = "XRD031"
	RuleLegacyScope     = "XRD032"
	RuleClaimScope      = "XRD033"
	RuleSecretScope     = "XRD034"
	RuleFieldValue      = "XRD035"
	RuleUnknownWord     = "XRD036"

	RuleNoVersions        = "XRD040"
	RuleVersionName       = "XRD041"
	RuleVersionTwice      = "XRD042"
	RuleVersionSilent     = "XRD043"
	RuleNoServed          = "XRD044"
	RuleUnserved          = "XRD045"
	RuleNoReferenceable   = "XRD046"
	RuleManyReferenceable = "XRD047"
	RuleNoSchema          = "XRD048"
	RuleSchemaMisplaced   = "XRD049"
	RuleNoDescription     = "XRD050"
	RuleUndescribed       = "XRD051"
	RuleDeprecation       = "XRD052"
	RulePrinterColumn     = "XRD053"
)

// The rules for schemas.
const (
	RuleSectionType       = "XRD060"
	RuleSectionTypeWrong  = "XRD061"
	RuleNoSpecSchema      = "XRD062"
	RuleEmptySpec         = "XRD063"
	RuleMisspelt          = "XRD064"
	RuleUnknownKeyword    = "XRD065"
	RuleKeywordType       = "XRD066"
	RuleKeywordNull       = "XRD067"
	RuleNotSchema         = "XRD068"
	RuleUnknownType       = "XRD069"
	RuleNoType            = "XRD070"
	RuleNoItems           = "XRD071"
	RuleRequiredAbsent    = "XRD072"
	RuleRequiredTwice     = "XRD073"
	RuleBranchRequired    = "XRD074"
	RuleDefault           = "XRD075"
	RuleDefaultNull       = "XRD076"
	RuleEnumType          = "XRD077"
	RuleEnumTwice         = "XRD078"
	RuleEnumEmpty         = "XRD079"
	RulePattern           = "XRD080"
	RuleBounds            = "XRD081"
	RuleIdleKeyword       = "XRD082"
	RulePropertiesAndMap  = "XRD083"
	RuleRefusedKeyword    = "XRD084"
	RuleUnknownExtension  = "XRD085"
	RuleExtensionValue    = "XRD086"
	RuleCEL               = "XRD087"
	RuleBranchKeyword     = "XRD088"
	RuleBranchProperty    = "XRD089"
	RuleInjected          = "XRD090"
	RuleIgnoredProperty   = "XRD091"
	RuleIgnoredMetadata   = "XRD092"
	RuleIgnoredKeyword    = "XRD093"
	RuleYAMLBooleanString = "XRD094"
	RuleYAMLBoolean       = "XRD095"
	RuleUnknownUI         = "XRD096"
	RuleUIValue           = "XRD097"
	RuleUIHidden          = "XRD098"
	RulePruned            = "XRD100"
	RuleWrongParent       = "XRD101"
	RuleChoices           = "XRD102"
	RuleChoicesSecret     = "XRD103"
	RuleChoicesType       = "XRD104"
)

// The rules for Compositions.
const (
	RuleCompositionName  = "XRD120"
	RuleCompositionType  = "XRD121"
	RuleCompositionEmpty = "XRD122"
	RuleCompositionMode  = "XRD123"
	RuleModeMix          = "XRD124"
	RuleNativeMode       = "XRD125"
	RuleStepName         = "XRD126"
	RuleStepFunction     = "XRD127"
)

// Rules are all rules, ordered by ID.
var Rules = []finding.Rule{
	{ID: RuleAPIVersion, Severity: finding.Error, Title: "apiVersion is not supported", Why: "No current cluster serves it. Write v2, or v1 where claims are needed."},
	{ID: RuleBetaVersion, Severity: finding.Warning, Title: "apiVersion is v1beta1", Why: "It is read as v1, but Crossplane has dropped it. Write v1."},
	{ID: RuleNoName, Severity: finding.Error, Title: "metadata.name is missing", Why: "Every Kubernetes object needs one. Write the plural, a dot and the group."},
	{ID: RuleNameMismatch, Severity: finding.Error, Title: "metadata.name is not the plural, a dot and the group", Why: "Kubernetes rejects the CRD made from the definition. Correct the one that is wrong."},
	{ID: RuleLongName, Severity: finding.Info, Title: "metadata.name is longer than 63 characters", Why: "The catalog allows 63, so the entity's name is shortened and ends in a hash."},
	{ID: RuleUnknownField, Severity: finding.Warning, Title: "field is not known", Why: "Kubernetes drops it, or rejects the file under strict validation. Fix the name or the indentation."},
	{ID: RuleFieldType, Severity: finding.Error, Title: "field has a value of the wrong type", Why: "Kubernetes rejects the definition. Write a value of the type named in the message."},
	{ID: RuleNoSpec, Severity: finding.Error, Title: "spec is missing or empty", Why: "No entity can be made. Check the indentation."},
	{ID: RuleNoGroup, Severity: finding.Error, Title: "spec.group is missing", Why: "The kind has no API group. Write a domain you own."},
	{ID: RuleBadGroup, Severity: finding.Error, Title: "spec.group is not a domain", Why: "Kubernetes rejects it. Write lower-case words joined by dots, at least two."},
	{ID: RuleNoKind, Severity: finding.Error, Title: "spec.names.kind is missing", Why: "No object can be created. Write the kind."},
	{ID: RuleBadKind, Severity: finding.Error, Title: "a kind has characters or a length that Kubernetes rejects", Why: "Write letters and digits only, beginning with a letter, at most 63."},
	{ID: RuleKindCase, Severity: finding.Info, Title: "a kind does not begin with a capital letter", Why: "Kubernetes accepts it, but readers expect CamelCase."},
	{ID: RuleNoPlural, Severity: finding.Error, Title: "spec.names.plural is missing", Why: "It is derived from the name here, but Kubernetes rejects the definition. Write it."},
	{ID: RuleBadNames, Severity: finding.Error, Title: "plural, singular, short name or category is not a lower-case DNS label", Why: "Kubernetes rejects it. Write lower-case letters, digits and dashes, beginning with a letter."},
	{ID: RuleClaimSame, Severity: finding.Error, Title: "claimNames repeats a name of the composite", Why: "Crossplane then offers no claim. Prefix the composite's names with X, or rename the claim."},
	{ID: RuleClaimIncomplete, Severity: finding.Error, Title: "claimNames lacks kind or plural", Why: "Kubernetes rejects it. Write both, or leave claimNames out."},
	{ID: RuleLabelType, Severity: finding.Error, Title: "a label or annotation is not a string", Why: "Kubernetes rejects the definition. Put the value in quotes."},
	{ID: RuleLabelValue, Severity: finding.Error, Title: "a label's value, or the key of a label or annotation, has characters or a length that Kubernetes rejects", Why: "Write at most 63 letters, digits, dashes, dots and underscores. Text belongs in annotations."},
	{ID: RuleRequiredLabel, Severity: finding.Warning, Title: "a label that discovery requires is missing", Why: "The definition is skipped, so no developer sees it. Set the label to \"true\"."},
	{ID: RuleKnownWord, Severity: finding.Warning, Title: "a label or annotation resembles a known one", Why: "It has no effect as written. Fix its name, place or value."},
	{ID: RuleScope, Severity: finding.Error, Title: "spec.scope is not a valid scope", Why: "Kubernetes rejects it. Write Namespaced or Cluster."},
	{ID: RuleLegacyScope, Severity: finding.Warning, Title: "scope LegacyCluster in v2", Why: "Kubernetes accepts it in v1 only. Write v1, or another scope."},
	{ID: RuleClaimScope, Severity: finding.Error, Title: "claimNames on a definition without claims", Why: "Only LegacyCluster definitions offer claims. Remove claimNames, or write v1."},
	{ID: RuleSecretScope, Severity: finding.Error, Title: "connectionSecretKeys on a definition without connection secrets", Why: "Only LegacyCluster definitions have them. Remove the keys, or write v1."},
	{ID: RuleFieldValue, Severity: finding.Error, Title: "a field of metadata or spec has a value that is not allowed", Why: "Kubernetes rejects the definition. Write one of the values named in the hint."},
	{ID: RuleUnknownWord, Severity: finding.Info, Title: "an unknown annotation with a known prefix", Why: "It has no effect here. Fix its name, or leave it if another program reads it."},

	{ID: RuleNoVersions, Severity: finding.Error, Title: "spec.versions is missing or empty", Why: "A kind without a version cannot be created. Write at least one."},
	{ID: RuleVersionName, Severity: finding.Error, Title: "a version has no name, or one that Kubernetes rejects", Why: "Write a name like v1, v1beta1 or v1alpha1."},
	{ID: RuleVersionTwice, Severity: finding.Error, Title: "two versions have the same name", Why: "Kubernetes rejects the definition. Remove or rename one."},
	{ID: RuleVersionSilent, Severity: finding.Error, Title: "a version does not set served or referenceable", Why: "It counts as served here, but Kubernetes rejects the definition. Write served: true and, for one version, referenceable: true."},
	{ID: RuleNoServed, Severity: finding.Error, Title: "no version is served", Why: "No object can be created, so no entity is made. Serve one version."},
	{ID: RuleUnserved, Severity: finding.Info, Title: "a version is not served", Why: "It gets no Template and no API."},
	{ID: RuleNoReferenceable, Severity: finding.Error, Title: "no version is referenceable", Why: "Kubernetes needs exactly one to store. Write referenceable: true on the one Compositions use."},
	{ID: RuleManyReferenceable, Severity: finding.Error, Title: "several versions are referenceable", Why: "Kubernetes needs exactly one to store. Keep referenceable: true on the one Compositions use."},
	{ID: RuleNoSchema, Severity: finding.Error, Title: "a version has no schema", Why: "Crossplane rejects the definition, and the form has no fields. Write schema.openAPIV3Schema."},
	{ID: RuleSchemaMisplaced, Severity: finding.Error, Title: "openAPIV3Schema is in the wrong place", Why: "It is ignored there. Put it under the version's schema."},
	{ID: RuleNoDescription, Severity: finding.Warning, Title: "the first version's schema has no description", Why: "The Template and the API have no description. Describe the schema or its spec."},
	{ID: RuleUndescribed, Severity: finding.Info, Title: "properties without a description", Why: "The form shows only the name. Describe what the value is for."},
	{ID: RuleDeprecation, Severity: finding.Error, Title: "deprecationWarning without deprecated, empty, too long, or with line breaks", Why: "Kubernetes rejects it. Write deprecated: true, and at most 256 characters on one line."},
	{ID: RulePrinterColumn, Severity: finding.Error, Title: "a printer column lacks name, type or jsonPath, or has a value that Kubernetes rejects", Why: "Write all three, with a valid type and format, and a path that begins with a dot."},

	{ID: RuleSectionType, Severity: finding.Info, Title: "the schema, its spec or its status has no type", Why: "Crossplane assumes object. Other readers of the schema do not."},
	{ID: RuleSectionTypeWrong, Severity: finding.Warning, Title: "the schema, its spec or its status is not an object", Why: "Crossplane makes it an object regardless. Write type: object."},
	{ID: RuleNoSpecSchema, Severity: finding.Warning, Title: "the schema has no properties.spec", Why: "The form has no fields, and Kubernetes drops everything in spec. Describe spec."},
	{ID: RuleEmptySpec, Severity: finding.Info, Title: "spec has no properties", Why: "The form has no fields."},
	{ID: RuleMisspelt, Severity: finding.Warning, Title: "a keyword of the schema is misspelt", Why: "It has no effect. Write the keyword named in the hint."},
	{ID: RuleUnknownKeyword, Severity: finding.Warning, Title: "a key of the schema is not a keyword", Why: "It is dropped. Often it is a property that is not indented under properties: check the indentation."},
	{ID: RuleKeywordType, Severity: finding.Error, Title: "a keyword has a value of the wrong type", Why: "Crossplane cannot read the schema. Write a value of the type named in the message."},
	{ID: RuleKeywordNull, Severity: finding.Warning, Title: "a keyword has no value", Why: "It has no effect. Fill it in or remove it."},
	{ID: RuleNotSchema, Severity: finding.Error, Title: "a schema is not a map", Why: "Crossplane cannot read it, or Kubernetes rejects it. Write at least a type."},
	{ID: RuleUnknownType, Severity: finding.Error, Title: "an unknown type", Why: "Kubernetes rejects it. Write string, integer, number, boolean, object or array."},
	{ID: RuleNoType, Severity: finding.Error, Title: "a property has no type", Why: "Kubernetes rejects a schema that is not structural. Write the type, or x-kubernetes-preserve-unknown-fields: true."},
	{ID: RuleNoItems, Severity: finding.Error, Title: "an array has no items", Why: "Kubernetes rejects it. Describe the items."},
	{ID: RuleRequiredAbsent, Severity: finding.Error, Title: "required names an undeclared property", Why: "No object is ever accepted, because unknown fields are dropped before the check. Declare the property or remove the name."},
	{ID: RuleRequiredTwice, Severity: finding.Warning, Title: "required names a property twice", Why: "One of the two is probably a typo. Remove or correct it."},
	{ID: RuleBranchRequired, Severity: finding.Warning, Title: "required inside oneOf, anyOf or allOf names an undeclared property", Why: "That branch can never match. Declare the property or remove the name."},
	{ID: RuleDefault, Severity: finding.Error, Title: "a default does not match its schema", Why: "Kubernetes rejects it. Fix the default or the schema."},
	{ID: RuleDefaultNull, Severity: finding.Warning, Title: "a default of null", Why: "It is the same as no default. Remove it, or write nullable: true."},
	{ID: RuleEnumType, Severity: finding.Warning, Title: "an enum value is not of the property's type", Why: "It can be offered but never accepted. Quote it or change the type."},
	{ID: RuleEnumTwice, Severity: finding.Warning, Title: "a duplicate enum value", Why: "One of the two is probably a typo. Remove or correct it."},
	{ID: RuleEnumEmpty, Severity: finding.Warning, Title: "an enum without values", Why: "It has no effect. Fill it in or remove it."},
	{ID: RulePattern, Severity: finding.Error, Title: "a pattern that cannot be compiled", Why: "Kubernetes rejects it: patterns are RE2, without look-around and back references."},
	{ID: RuleBounds, Severity: finding.Warning, Title: "a minimum above its maximum, or a bound below zero", Why: "No value is accepted, or every value is. Swap or correct them."},
	{ID: RuleIdleKeyword, Severity: finding.Info, Title: "a keyword that has no effect on this type", Why: "It checks nothing. Remove it or change the type."},
	{ID: RulePropertiesAndMap, Severity: finding.Error, Title: "additionalProperties together with properties", Why: "Kubernetes rejects the two together. Keep one."},
	{ID: RuleRefusedKeyword, Severity: finding.Error, Title: "a keyword that Kubernetes rejects", Why: "It supports only part of JSON Schema. Express it another way."},
	{ID: RuleUnknownExtension, Severity: finding.Warning, Title: "an unknown x-kubernetes- keyword", Why: "It has no effect. Write the one named in the hint."},
	{ID: RuleExtensionValue, Severity: finding.Error, Title: "an x-kubernetes- keyword with a value or in a place that Kubernetes rejects", Why: "Fix it as the hint says."},
	{ID: RuleCEL, Severity: finding.Error, Title: "a validation that Kubernetes rejects: without a rule, with one that does not compile or costs too much, or with a message of several lines", Why: "Rules are compiled as an API server compiles them. Fix the expression, limit the size of the lists, maps and strings it reads, and write message on one line."},
	{ID: RuleBranchKeyword, Severity: finding.Error, Title: "a keyword that is not allowed inside oneOf, anyOf, allOf or not", Why: "Kubernetes rejects a schema that is not structural. Move the keyword out."},
	{ID: RuleBranchProperty, Severity: finding.Warning, Title: "a property that is declared only inside oneOf, anyOf, allOf or not", Why: "Kubernetes drops the field before it checks the branches. Declare it outside as well."},
	{ID: RuleInjected, Severity: finding.Info, Title: "a property that Crossplane adds itself", Why: "The declaration is replaced. Remove it."},
	{ID: RuleIgnoredProperty, Severity: finding.Warning, Title: "a property beside spec and status", Why: "Crossplane only uses spec and status. Move it into spec."},
	{ID: RuleIgnoredMetadata, Severity: finding.Info, Title: "metadata is described", Why: "Crossplane only uses the maxLength of the name."},
	{ID: RuleIgnoredKeyword, Severity: finding.Warning, Title: "a keyword on the schema, its spec or its status that Crossplane ignores", Why: "It checks nothing. Move it one level down, or write a validation rule."},
	{ID: RuleYAMLBooleanString, Severity: finding.Error, Title: "yes, no, on, off, y or n without quotes where a string is meant", Why: "Kubernetes reads a boolean. Put it in quotes."},
	{ID: RuleYAMLBoolean, Severity: finding.Warning, Title: "yes, no, on, off, y or n where a boolean is meant", Why: "Some tools read a boolean, others a string. Write true or false."},
	{ID: RuleUnknownUI, Severity: finding.Warning, Title: "an unknown x-ui- keyword", Why: "It has no effect on the form. Write the one named in the hint."},
	{ID: RuleUIValue, Severity: finding.Warning, Title: "an x-ui- keyword has a value of the wrong type", Why: "It has no effect on the form. Write a value of the type named in the message."},
	{ID: RuleUIHidden, Severity: finding.Warning, Title: "a required property without a default is hidden", Why: "Users cannot fill it in, so the form cannot be submitted. Give it a default or show it."},
	{ID: RulePruned, Severity: finding.Warning, Title: "an object without properties", Why: "Kubernetes drops everything in it. Describe its properties, or write additionalProperties or x-kubernetes-preserve-unknown-fields: true."},
	{ID: RuleWrongParent, Severity: finding.Warning, Title: "properties, required, additionalProperties or items on a type that has none", Why: "It checks nothing. On an array, properties and required belong under items."},
	{ID: RuleChoices, Severity: finding.Warning, Title: "x-ui-choices has an invalid value", Why: "The field is a plain text field. Write apiVersion and kind, valid selectors and paths, and namespace: form only if the form asks for a namespace."},
	{ID: RuleChoicesSecret, Severity: finding.Warning, Title: "x-ui-choices would show what may be secret", Why: "The portal refuses it, and the field is a plain text field. Choose objects of another kind, or their names."},
	{ID: RuleChoicesType, Severity: finding.Warning, Title: "x-ui-choices on a field that cannot have choices", Why: "It has no effect on the form. Use it on a string, an integer, or a list of these, without enum."},

	{ID: RuleCompositionName, Severity: finding.Error, Title: "a Composition has no metadata.name", Why: "Every Kubernetes object needs one."},
	{ID: RuleCompositionType, Severity: finding.Error, Title: "a Composition has no complete compositeTypeRef", Why: "It belongs to no definition. Write compositeTypeRef with apiVersion and kind."},
	{ID: RuleCompositionEmpty, Severity: finding.Error, Title: "a Composition with neither pipeline nor resources", Why: "It composes nothing. Write a pipeline."},
	{ID: RuleCompositionMode, Severity: finding.Error, Title: "an unknown mode", Why: "Kubernetes rejects it. Write Pipeline."},
	{ID: RuleModeMix, Severity: finding.Warning, Title: "a Composition has a section that its mode does not use", Why: "That part has no effect. Remove it or change the mode."},
	{ID: RuleNativeMode, Severity: finding.Info, Title: "a Composition lists resources itself", Why: "Crossplane 2 runs pipelines only. Move the resources into a patch-and-transform step."},
	{ID: RuleStepName, Severity: finding.Error, Title: "a pipeline step has no name, or the name of another step", Why: "Kubernetes rejects it. Give every step a unique name."},
	{ID: RuleStepFunction, Severity: finding.Error, Title: "a pipeline step has no functionRef.name", Why: "Kubernetes rejects it. Write functionRef.name."},
}

// severities maps the IDs of Rules to their severities.
var severities = func() map[string]finding.Severity {
	m := make(map[string]finding.Severity, len(Rules))
	for _, r := range Rules {
		m[r.ID] = r.Severity
	}
	return m
}()
