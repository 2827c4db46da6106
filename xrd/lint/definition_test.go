package lint_test

import (
	"strings"

	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd/lint"
)

// v1 is the clean definition as v1, which supports claims.
func v1(pairs ...string) string {
	return change(append([]string{"crossplane.io/v2", "crossplane.io/v1", "  scope: Namespaced\n", ""}, pairs...)...)
}

var definitionCases = map[string]aCase{
	"APIVersion":     {reason: "Old versions are not served anywhere.", text: change("io/v2", "io/v1alpha1"), want: []string{"XRD010 apiVersion"}},
	"APIVersionNew":  {reason: "Alpha versions are not served anywhere.", text: change("io/v2", "io/v2alpha1"), want: []string{"XRD010 apiVersion"}},
	"BetaVersion":    {reason: "v1beta1 is accepted with a warning.", text: v1("crossplane.io/v1", "crossplane.io/v1beta1"), want: []string{"XRD011 apiVersion"}},
	"NoName":         {reason: "A name is required.", text: change("  name: databases.platform.example.org\n", ""), want: []string{"XRD012 metadata.name"}},
	"NameEmpty":      {reason: "An empty name counts as missing.", text: change("name: databases.platform.example.org", "name:"), want: []string{"XRD012 metadata.name"}},
	"NameNumber":     {reason: "The name must be a string.", text: change("name: databases.platform.example.org", "name: 12"), want: []string{"XRD016 metadata.name"}},
	"NameMismatch":   {reason: "Kubernetes requires the name <plural>.<group>.", text: change("name: databases.", "name: database."), want: []string{"XRD013 metadata.name"}},
	"LongName":       {reason: "Catalog names have at most 63 characters.", text: strings.ReplaceAll(clean, "platform.example.org", "a-rather-long-name-of-a-department.platform.example.org"), want: []string{"XRD014 metadata.name"}},
	"UnknownField":   {reason: "A field of spec is not allowed at the top level.", text: change("spec:\n", "versions: []\nspec:\n"), want: []string{"XRD015 versions"}},
	"UnknownInSpec":  {reason: "categories is a field of names.", text: change("  scope: Namespaced\n", "  categories: [x]\n"), want: []string{"XRD015 spec.categories"}},
	"UnknownInNames": {reason: "A misspelt field of names is unknown.", text: change("    singular:", "    singularr:"), want: []string{"XRD015 spec.names.singularr"}},
	"Storage":        {reason: "Definitions have no storage flag.", text: change("    served: true\n", "    served: true\n    storage: true\n"), want: []string{"XRD015 spec.versions[0].storage"}},
	"FieldType":      {reason: "A number is not a group.", text: change("group: platform.example.org", "group: 1"), want: []string{"XRD016 spec.group"}},
	"VersionsMap":    {reason: "versions must be a list.", text: clean[:strings.Index(clean, "  versions:")] + "  versions: {v1: {}}\n", want: []string{"XRD016 spec.versions"}},
	"VersionText":    {reason: "A version must be a map.", text: clean[:strings.Index(clean, "  versions:")] + "  versions: [v1]\n", want: []string{"XRD016 spec.versions[0]"}},
	"ServedText":     {reason: "served must be a boolean.", text: change("served: true", `served: "true"`), want: []string{"XRD044 spec.versions", "XRD016 spec.versions[0].served"}},
	"SpecText":       {reason: "spec must be a map.", text: "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: x.y.z}\nspec: text\n", want: []string{"XRD016 spec"}},
	"NoSpec":         {reason: "A spec is required.", text: "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: x.y.z}\nspec:\n", want: []string{"XRD017 spec"}},
	"NoGroup":        {reason: "A group is required.", text: change("  group: platform.example.org\n", ""), want: []string{"XRD018 spec.group"}},
	"BadGroup":       {reason: "The group must be a domain.", text: change("group: platform.example.org", "group: Platform", "databases.platform.example.org", "databases.Platform"), want: []string{"XRD019 spec.group"}},
	"NoKind":         {reason: "A kind is required.", text: change("    kind: Database\n", ""), want: []string{"XRD020 spec.names.kind"}},
	"NoNames":        {reason: "Without names both the kind and the plural are missing.", text: clean[:strings.Index(clean, "  names:")] + clean[strings.Index(clean, "  defaultCompositionRef"):], want: []string{"XRD020 spec.names.kind", "XRD023 spec.names.plural"}},
	"BadKind":        {reason: "A kind has only letters and digits.", text: change("kind: Database\n", "kind: Data_base\n"), want: []string{"XRD021 spec.names.kind"}},
	"ListKindSame":   {reason: "The list kind must differ from the kind.", text: change("listKind: DatabaseList", "listKind: Database"), want: []string{"XRD021 spec.names.listKind"}},
	"KindCase":       {reason: "Kinds are in CamelCase.", text: change("kind: Database\n", "kind: database\n"), want: []string{"XRD022 spec.names.kind"}},
	"NoPlural":       {reason: "A plural is required.", text: change("    plural: databases\n", ""), want: []string{"XRD023 spec.names.plural"}},
	"BadPlural":      {reason: "Plurals are in lower case.", text: change("plural: databases", "plural: Databases", "name: databases.", "name: Databases."), want: []string{"XRD024 spec.names.plural"}},
	"BadShortName":   {reason: "Short names are in lower case.", text: change("shortNames: [db]", "shortNames: [DB]"), want: []string{"XRD024 spec.names.shortNames[0]"}},
	"ClaimSame":      {reason: "The names of a claim must differ from those of the composite.", text: v1("  names:", "  claimNames: {kind: Database, plural: dbs}\n  names:"), want: []string{"XRD025 spec.claimNames.kind"}},
	"ClaimPartial":   {reason: "A claim needs a plural.", text: v1("  names:", "  claimNames: {kind: DB}\n  names:"), want: []string{"XRD026 spec.claimNames.plural"}},
	"LabelType":      {reason: "Kubernetes accepts only strings as labels.", text: change(`ingest: "true"`, "ingest: true"), want: []string{"XRD027 metadata.labels[\"openportal.dev/ingest\"]"}},
	"AnnotationYes":  {reason: "kubectl reads yes as a boolean.", text: change("owner: team-a", "owner: yes"), want: []string{"XRD027 metadata.annotations[\"backstage.io/owner\"]"}},
	"AnnotationMap":  {reason: "Annotation values must be strings.", text: change("owner: team-a", "owner: {a: b}"), want: []string{"XRD027 metadata.annotations[\"backstage.io/owner\"]"}},
	"LabelsList":     {reason: "Labels must be a map.", text: change("  labels:\n    openportal.dev/ingest: \"true\"\n", "  labels: [a]\n"), want: []string{"XRD016 metadata.labels"}},
	"LabelValue":     {reason: "A label value must not contain spaces.", text: change("  annotations:", "    team: the a team\n  annotations:"), want: []string{"XRD028 metadata.labels.team"}},
	"RequiredLabel": {reason: "Discovery requires a label; the message uses the vocabulary of the definition.", text: clean,
		opts: lint.Options{RequiredLabels: []string{words.LabelGenerateForm}}, want: []string{"XRD029 metadata.labels[\"terasky.backstage.io/generate-form\"]"}},
	"RequiredLabelFalse": {reason: `Only the value "true" is accepted.`, text: change(`ingest: "true"`, `ingest: "false"`),
		opts: lint.Options{RequiredLabels: []string{words.LabelIngest}}, want: []string{"XRD029 metadata.labels[\"openportal.dev/ingest\"]"}},
	"KnownWord":      {reason: "A misspelt annotation has no effect.", text: change("io/owner", "io/onwer"), want: []string{"XRD030 metadata.annotations[\"backstage.io/onwer\"]"}},
	"UnknownWord":    {reason: "An unknown annotation with a known prefix is reported.", text: change("    backstage.io/owner: team-a", "    backstage.io/colour-scheme: blue"), want: []string{"XRD036 metadata.annotations[\"backstage.io/colour-scheme\"]"}},
	"OtherWord":      {reason: "Annotations of other ingestors are accepted.", text: change("    backstage.io/owner: team-a", "    openportal.dev/tags: a\n    terasky.backstage.io/owner: a\n    terasky.backstage.io/system: a\n    terasky.backstage.io/lifecycle: a")},
	"ForeignWord":    {reason: "Annotations that other programs read are ignored.", text: change("    backstage.io/owner: team-a", "    backstage.io/techdocs-ref: dir:.\n    backstage.io/kubernetes-label-selector: a=b\n    terasky.backstage.io/add-to-catalog: \"true\"\n    crossplane.io/paused: \"true\"")},
	"NearWord":       {reason: "A misspelt annotation of another ingestor is reported.", text: change("    backstage.io/owner: team-a", "    terasky.backstage.io/lifecylce: a"), want: []string{"XRD030 metadata.annotations[\"terasky.backstage.io/lifecylce\"]"}},
	"KnownWordPlace": {reason: "A label among the annotations has no effect.", text: change("    backstage.io/owner: team-a", `    openportal.dev/ingest: "true"`), want: []string{"XRD030 metadata.annotations[\"openportal.dev/ingest\"]"}},
	"KnownWordTrue":  {reason: `The value must be exactly "true".`, text: change(`ingest: "true"`, `ingest: "True"`), want: []string{"XRD030 metadata.labels[\"openportal.dev/ingest\"]"}},
	"Scope":          {reason: "There are three scopes.", text: change("scope: Namespaced", "scope: Namespace"), want: []string{"XRD031 spec.scope"}},
	"LegacyScope":    {reason: "v2 should not use the legacy scope.", text: change("scope: Namespaced", "scope: LegacyCluster\n  claimNames: {kind: DB, plural: dbs}"), want: []string{"XRD032 spec.scope"}},
	"ClaimScope":     {reason: "Modern definitions have no claims.", text: change("  names:", "  claimNames: {kind: DB, plural: dbs}\n  names:"), want: []string{"XRD033 spec.claimNames"}},
	"ClaimScopeV1":   {reason: "v1 definitions with a modern scope have no claims.", text: v1("  names:", "  scope: Cluster\n  claimNames: {kind: DB, plural: dbs}\n  names:"), want: []string{"XRD033 spec.claimNames"}},
	"SecretScope":    {reason: "Modern definitions have no connection secrets.", text: change("  names:", "  connectionSecretKeys: [password]\n  names:"), want: []string{"XRD034 spec.connectionSecretKeys"}},
	"Policy":         {reason: "There are two update policies.", text: change("Policy: Automatic", "Policy: automatic"), want: []string{"XRD035 spec.defaultCompositionUpdatePolicy"}},
	"Reference":      {reason: "A reference needs a name.", text: change("    name: postgres\n", "    kind: x\n"), want: []string{"XRD035 spec.defaultCompositionRef"}},
}

var compositionCases = map[string]aCase{
	"CompositionName":  {reason: "A name is required.", text: composition("", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD120 metadata"}},
	"CompositionType":  {reason: "A Composition needs the kind of its composite.", text: composition("x", "pipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD121 spec.compositeTypeRef.apiVersion", "XRD121 spec.compositeTypeRef.kind"}},
	"CompositionSpec":  {reason: "A Composition needs a spec.", text: "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: x}\n", want: []string{"XRD121 spec"}},
	"CompositionEmpty": {reason: "A Composition needs resources or a pipeline.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}"), want: []string{"XRD122 spec"}},
	"CompositionMode":  {reason: "There are two modes.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: pipeline\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD123 spec.mode"}},
	"ModeNeeds":        {reason: "Mode Pipeline needs a pipeline.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\nresources: [{name: a}]"), want: []string{"XRD122 spec.pipeline"}},
	"ModeMix":          {reason: "A pipeline does not use resources.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\nresources: [{name: a}]\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD124 spec.resources"}},
	"NativeMode":       {reason: "Resources are deprecated.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nresources: [{name: a}]"), want: []string{"XRD125 spec.resources"}},
	"StepName":         {reason: "Step names must be unique.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a, functionRef: {name: f}}, {step: a, functionRef: {name: f}}, {functionRef: {name: f}}]"), want: []string{"XRD126 spec.pipeline[1].step", "XRD126 spec.pipeline[2].step"}},
	"StepFunction":     {reason: "A step needs a function.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a}]"), want: []string{"XRD127 spec.pipeline[0].functionRef"}},
	"CompositionClean": {reason: "A valid pipeline has no findings.", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\npipeline: [{step: a, functionRef: {name: f}}]")},
}

func composition(name, spec string) string {
	return "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: \"" + name + "\"}\nspec:\n" + indent(2, spec)
}

// another is a valid second version.
const another = `  - {name: v1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
`

var versionCases = map[string]aCase{
	"NoVersions":        {reason: "Versions are required.", text: clean[:strings.Index(clean, "  versions:")], want: []string{"XRD040 spec.versions"}},
	"VersionsEmpty":     {reason: "An empty list of versions counts as missing.", text: clean[:strings.Index(clean, "  versions:")] + "  versions: []\n", want: []string{"XRD040 spec.versions"}},
	"VersionName":       {reason: "A version needs a name.", text: change("  - name: v1alpha1\n    served: true", "  - served: true"), want: []string{"XRD041 spec.versions[0].name"}},
	"VersionNameBad":    {reason: "A version name must not be a number.", text: change("name: v1alpha1", "name: 1.0.0"), want: []string{"XRD041 spec.versions[0].name"}},
	"VersionTwice":      {reason: "Version names must be unique.", text: clean + strings.Replace(another, "v1,", "v1alpha1,", 1), want: []string{"XRD042 spec.versions[1].name"}},
	"VersionSilent":     {reason: "Kubernetes requires served and referenceable.", text: change("    served: true\n    referenceable: true\n", ""), want: []string{"XRD043 spec.versions[0].served"}},
	"NoServed":          {reason: "At least one version must be served.", text: change("served: true", "served: false"), want: []string{"XRD044 spec.versions", "XRD045 spec.versions[0].served"}},
	"Unserved":          {reason: "A version that is not served is reported.", text: clean + strings.Replace(another, "served: true", "served: false", 1), want: []string{"XRD045 spec.versions[1].served"}},
	"NoReferenceable":   {reason: "One version must be referenceable.", text: change("referenceable: true", "referenceable: false"), want: []string{"XRD046 spec.versions"}},
	"ManyReferenceable": {reason: "Only one version can be referenceable.", text: clean + strings.Replace(another, "referenceable: false", "referenceable: true", 1), want: []string{"XRD047 spec.versions"}},
	"NoSchema":          {reason: "A version needs a schema.", text: clean[:strings.Index(clean, "    schema:")], want: []string{"XRD048 spec.versions[0].schema"}},
	"NoOpenAPI":         {reason: "An empty schema counts as missing.", text: clean[:strings.Index(clean, "    schema:")] + "    schema: {}\n", want: []string{"XRD048 spec.versions[0].schema"}},
	"SchemaMisplaced":   {reason: "The schema must be under the key schema.", text: strings.Replace(clean, "    schema:\n      openAPIV3Schema:", "    openAPIV3Schema:", 1), want: []string{"XRD049 spec.versions[0].openAPIV3Schema"}},
	"SchemaType":        {reason: "The schema must be a map.", text: clean[:strings.Index(clean, "    schema:")] + "    schema: {openAPIV3Schema: x}\n", want: []string{"XRD016 ~"}},
	"NoDescription":     {reason: "The contract requires a description.", text: change("        description: A database.\n", ""), want: []string{"XRD050 ~.description"}},
	"SpecDescription":   {reason: "A description of spec is sufficient.", text: change("        description: A database.\n", "", "            required: [size]\n", "            description: A database.\n            required: [size]\n")},
	"Undescribed":       {reason: "Properties without a description are counted, not listed.", text: inSpec("a: {type: string}\nb: {type: string, description: B.}\nc: {type: array, items: {type: object, properties: {d: {type: string}}}}"), want: []string{"XRD051 ~"}},
	"Deprecation":       {reason: "A deprecation warning needs deprecated.", text: change("    served: true\n", "    served: true\n    deprecationWarning: gone soon\n"), want: []string{"XRD052 spec.versions[0].deprecationWarning"}},
	"DeprecationLong":   {reason: "The length of a deprecation warning is limited.", text: change("    served: true\n", "    served: true\n    deprecated: true\n    deprecationWarning: "+strings.Repeat("x", 257)+"\n"), want: []string{"XRD052 spec.versions[0].deprecationWarning"}},
	"PrinterColumn":     {reason: "A printer column needs a path and a known type.", text: change("type: string, jsonPath: .spec.size", "type: text"), want: []string{"XRD053 spec.versions[0].additionalPrinterColumns[0].jsonPath", "XRD053 spec.versions[0].additionalPrinterColumns[0].type"}},
}
