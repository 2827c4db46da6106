package diff

import "example.dev/ingestor/document/finding"

// The rules for definitions and their versions.
const (
	RuleRemoved       = "DIF001"
	RuleRenamed       = "DIF002"
	RuleAdded         = "DIF003"
	RuleScope         = "DIF004"
	RuleNames         = "DIF005"
	RuleNoClaim       = "DIF006"
	RuleClaimNames    = "DIF007"
	RuleClaimAdded    = "DIF008"
	RuleIncomparable  = "DIF009"
	RuleNoVersion     = "DIF010"
	RuleUnserved      = "DIF011"
	RuleReferenceable = "DIF012"
	RuleDeprecated    = "DIF013"
	RuleVersionAdded  = "DIF014"
	RuleConversion    = "DIF015"
	RuleNoUnserved    = "DIF016"
)

// The rules for fields of versions that are not served.
const (
	RuleUnservedField  = "DIF017"
	RuleUnservedSchema = "DIF018"
)

// The rules for fields.
const (
	RuleNoField      = "DIF020"
	RuleFieldAdded   = "DIF021"
	RuleRequired     = "DIF022"
	RuleRequiredSet  = "DIF023"
	RuleEnumValue    = "DIF024"
	RuleEnumAdded    = "DIF025"
	RuleType         = "DIF026"
	RuleBounds       = "DIF027"
	RulePattern      = "DIF028"
	RuleValidation   = "DIF029"
	RuleUnknown      = "DIF030"
	RuleListType     = "DIF031"
	RuleBranches     = "DIF032"
	RuleNull         = "DIF033"
	RuleOther        = "DIF034"
	RuleFieldLoose   = "DIF035"
	RuleFieldChecked = "DIF036"
	RuleMerge        = "DIF037"
	RuleLoosened     = "DIF038"
	RuleUpdates      = "DIF039"
)

// The rules for defaults, Compositions, connection details and forms.
const (
	RuleDefault        = "DIF040"
	RuleDefaultAdded   = "DIF041"
	RuleDefaultRemoved = "DIF042"
	RuleSecretKey      = "DIF050"
	RuleComposition    = "DIF051"
	RuleText           = "DIF060"
	RuleOrder          = "DIF061"
	RuleHint           = "DIF062"
)

// Rules are the rules for changes. An error is a breaking change, a warning one that refuses
// no object but may surprise, and info one that is compatible.
var Rules = []finding.Rule{
	{ID: RuleRemoved, Severity: finding.Error, Title: "a definition is removed", Why: "Its kinds are no longer served, and Crossplane deletes their resources with the CRD. Delete the resources first, and keep the definition until then."},
	{ID: RuleRenamed, Severity: finding.Error, Title: "a definition is renamed", Why: "For Kubernetes it is another kind: existing resources do not move, and are deleted with the old definition. Add the new definition beside the old one, and move the resources."},
	{ID: RuleAdded, Severity: finding.Info, Title: "a definition is added", Why: "Nothing depends on it yet."},
	{ID: RuleScope, Severity: finding.Error, Title: "the scope changed", Why: "The scope of a CRD cannot be changed, so the change never takes effect. Write a new definition with another name."},
	{ID: RuleNames, Severity: finding.Error, Title: "the kind or group changed under the same name", Why: "Kubernetes refuses to rename an established kind. Write a new definition with another name."},
	{ID: RuleNoClaim, Severity: finding.Error, Title: "claims are no longer offered", Why: "Existing claims are no longer served. Keep claimNames until no claim is left."},
	{ID: RuleClaimNames, Severity: finding.Error, Title: "the names of claims changed", Why: "Existing claims are no longer served, and manifests with the old kind are refused. Keep claimNames."},
	{ID: RuleClaimAdded, Severity: finding.Info, Title: "claims are offered", Why: "Existing composites stay as they are."},
	{ID: RuleIncomparable, Severity: finding.Error, Title: "a definition cannot be compared", Why: "A schema cannot be read, so nothing can be said about its changes. Fix the schema first."},
	{ID: RuleNoVersion, Severity: finding.Error, Title: "a version is removed", Why: "Manifests with the version are refused, and Kubernetes refuses to remove a version in which objects are stored. Stop serving the version first, and remove it once no object is stored in it."},
	{ID: RuleUnserved, Severity: finding.Error, Title: "a version is no longer served", Why: "Manifests with the version are refused, and clients cannot read it. Announce it with deprecated, and move the manifests first."},
	{ID: RuleReferenceable, Severity: finding.Error, Title: "the referenceable version changed", Why: "Compositions are for one version: those of the old version no longer apply to any composite. Add Compositions for the new version in the same change."},
	{ID: RuleDeprecated, Severity: finding.Warning, Title: "a version is deprecated", Why: "Kubernetes shows a warning for each request with the version."},
	{ID: RuleVersionAdded, Severity: finding.Info, Title: "a version is added or served again", Why: "Objects of other versions can be read in it."},
	{ID: RuleConversion, Severity: finding.Warning, Title: "an added version is not compatible with another served one", Why: "Kubernetes converts objects between versions by changing apiVersion only: what the other version lacks is dropped at the next write. Keep the schemas of served versions compatible."},
	{ID: RuleNoUnserved, Severity: finding.Warning, Title: "a version that was not served is removed", Why: "Kubernetes refuses the CRD while its status.storedVersions lists the version. Rewrite all objects, and remove the version from status.storedVersions first."},
	{ID: RuleUnservedField, Severity: finding.Warning, Title: "a version that was not served keeps fewer fields", Why: "No request uses the version, but Kubernetes drops the fields from objects that are stored in it."},
	{ID: RuleUnservedSchema, Severity: finding.Info, Title: "the schema of a version that was not served changed", Why: "No request uses the version, and stored objects are not validated."},
	{ID: RuleNoField, Severity: finding.Error, Title: "a field is removed", Why: "Kubernetes drops its values from existing objects at the next write, and strict requests with the field are refused. Keep the field and describe it as deprecated."},
	{ID: RuleFieldAdded, Severity: finding.Info, Title: "a field is added", Why: "Existing objects do not have it."},
	{ID: RuleRequired, Severity: finding.Error, Title: "a field is newly required and has no default", Why: "Objects without the field are refused. Give it a default, or leave it optional."},
	{ID: RuleRequiredSet, Severity: finding.Info, Title: "a field with a default is newly required", Why: "The default fills it in where it is missing."},
	{ID: RuleEnumValue, Severity: finding.Error, Title: "an enum value is removed", Why: "Objects with the value are refused. Keep the value, and describe it as deprecated."},
	{ID: RuleEnumAdded, Severity: finding.Error, Title: "a field that took any value has an enum", Why: "Objects with other values are refused. List all values that are in use."},
	{ID: RuleType, Severity: finding.Error, Title: "a type changed", Why: "Objects with a value of the old type are refused. Add a field with another name."},
	{ID: RuleBounds, Severity: finding.Error, Title: "a bound is new or tighter", Why: "Objects with values outside of it are refused."},
	{ID: RulePattern, Severity: finding.Error, Title: "a pattern or format is new or different", Why: "Values that do not match are refused. This cannot be decided from the definition alone; check the live resources."},
	{ID: RuleValidation, Severity: finding.Error, Title: "a validation rule is new or different", Why: "Objects that violate it are refused. This cannot be decided from the definition alone; check the live resources."},
	{ID: RuleUnknown, Severity: finding.Error, Title: "unknown fields or map entries are no longer kept", Why: "Kubernetes drops them from existing objects at the next write."},
	{ID: RuleListType, Severity: finding.Error, Title: "entries of a list must be unique in another way", Why: "Lists with duplicates are refused, and entries are merged by other keys."},
	{ID: RuleBranches, Severity: finding.Error, Title: "oneOf, anyOf, allOf or not is new or different", Why: "Objects that do not match are refused. This cannot be decided from the definition alone; check the live resources."},
	{ID: RuleNull, Severity: finding.Error, Title: "a field can no longer be null", Why: "Kubernetes drops the null, or refuses the object if the value is required or an entry of a list."},
	{ID: RuleOther, Severity: finding.Error, Title: "another constraint changed", Why: "It may refuse objects. This cannot be decided from the definition alone; check the live resources."},
	{ID: RuleFieldLoose, Severity: finding.Warning, Title: "a field is removed where unknown fields are kept", Why: "Its values stay, but are no longer checked, and forms no longer show it."},
	{ID: RuleFieldChecked, Severity: finding.Error, Title: "a field with a schema is added where any value was kept", Why: "Objects that already have another value under its name are refused or lose data. This cannot be decided from the definition alone; check the live resources."},
	{ID: RuleMerge, Severity: finding.Warning, Title: "lists or maps are merged in another way", Why: "Server-side apply replaces or merges other parts than before."},
	{ID: RuleLoosened, Severity: finding.Info, Title: "a constraint is removed or looser", Why: "All values that were accepted still are."},
	{ID: RuleUpdates, Severity: finding.Warning, Title: "a validation rule for updates is new or different", Why: "It compares the new value with the old one (oldSelf), and refuses updates only. Live resources are not checked against it."},
	{ID: RuleDefault, Severity: finding.Warning, Title: "a default changed", Why: "Existing objects keep the value they were created with; the same manifest gives another result in a new object."},
	{ID: RuleDefaultAdded, Severity: finding.Warning, Title: "a default is added", Why: "Existing objects without the field get the value as soon as they are read."},
	{ID: RuleDefaultRemoved, Severity: finding.Warning, Title: "a default is removed", Why: "New objects without the field have no value. Check that Compositions can handle that."},
	{ID: RuleSecretKey, Severity: finding.Error, Title: "a key of connection secrets is removed", Why: "Crossplane no longer writes the key, and applications that read it fail."},
	{ID: RuleComposition, Severity: finding.Warning, Title: "the enforced or default Composition changed", Why: "Resources are composed differently: all of them at once if it is enforced, new ones if it is the default."},
	{ID: RuleText, Severity: finding.Info, Title: "a title or description changed", Why: "Forms show the new text."},
	{ID: RuleOrder, Severity: finding.Info, Title: "the order of fields changed", Why: "Forms may show them in another order."},
	{ID: RuleHint, Severity: finding.Info, Title: "a hint for forms changed", Why: "Forms show the field in another way; the API is the same."},
}

// rules maps ids to rules.
var rules = func() map[string]finding.Rule {
	byID := make(map[string]finding.Rule, len(Rules))
	for _, r := range Rules {
		byID[r.ID] = r
	}
	return byID
}()
