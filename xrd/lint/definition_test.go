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
	"APIVersion":     {reason: "old versions are served nowhere", text: change("io/v2", "io/v1alpha1"), want: []string{"XRD010 apiVersion"}},
	"APIVersionNew":  {reason: "unfinished versions are served nowhere", text: change("io/v2", "io/v2alpha1"), want: []string{"XRD010 apiVersion"}},
	"BetaVersion":    {reason: "v1beta1 is read with a warning", text: v1("crossplane.io/v1", "crossplane.io/v1beta1"), want: []string{"XRD011 apiVersion"}},
	"NoName":         {reason: "an object has a name", text: change("  name: databases.platform.example.org\n", ""), want: []string{"XRD012 metadata.name"}},
	"NameEmpty":      {reason: "an empty name is none", text: change("name: databases.platform.example.org", "name:"), want: []string{"XRD012 metadata.name"}},
	"NameNumber":     {reason: "a name is a string", text: change("name: databases.platform.example.org", "name: 12"), want: []string{"XRD016 metadata.name"}},
	"NameMismatch":   {reason: "Kubernetes ties the name to plural and group", text: change("name: databases.", "name: database."), want: []string{"XRD013 metadata.name"}},
	"LongName":       {reason: "catalogs take 63 characters", text: strings.ReplaceAll(clean, "platform.example.org", "a-rather-long-name-of-a-department.platform.example.org"), want: []string{"XRD014 metadata.name"}},
	"UnknownField":   {reason: "a field of spec at the top", text: change("spec:\n", "versions: []\nspec:\n"), want: []string{"XRD015 versions"}},
	"UnknownInSpec":  {reason: "categories belong to names", text: change("  scope: Namespaced\n", "  categories: [x]\n"), want: []string{"XRD015 spec.categories"}},
	"UnknownInNames": {reason: "a misspelt name", text: change("    singular:", "    singularr:"), want: []string{"XRD015 spec.names.singularr"}},
	"Storage":        {reason: "definitions have no storage flag", text: change("    served: true\n", "    served: true\n    storage: true\n"), want: []string{"XRD015 spec.versions[0].storage"}},
	"FieldType":      {reason: "a number is no group", text: change("group: platform.example.org", "group: 1"), want: []string{"XRD016 spec.group"}},
	"VersionsMap":    {reason: "versions are a list", text: clean[:strings.Index(clean, "  versions:")] + "  versions: {v1: {}}\n", want: []string{"XRD016 spec.versions"}},
	"VersionText":    {reason: "a version is a map", text: clean[:strings.Index(clean, "  versions:")] + "  versions: [v1]\n", want: []string{"XRD016 spec.versions[0]"}},
	"ServedText":     {reason: "served is a boolean", text: change("served: true", `served: "true"`), want: []string{"XRD044 spec.versions", "XRD016 spec.versions[0].served"}},
	"SpecText":       {reason: "spec is a map", text: "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: x.y.z}\nspec: text\n", want: []string{"XRD016 spec"}},
	"NoSpec":         {reason: "a definition has a spec", text: "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\nmetadata: {name: x.y.z}\nspec:\n", want: []string{"XRD017 spec"}},
	"NoGroup":        {reason: "a kind has a group", text: change("  group: platform.example.org\n", ""), want: []string{"XRD018 spec.group"}},
	"BadGroup":       {reason: "a group is a domain", text: change("group: platform.example.org", "group: Platform", "databases.platform.example.org", "databases.Platform"), want: []string{"XRD019 spec.group"}},
	"NoKind":         {reason: "a definition names a kind", text: change("    kind: Database\n", ""), want: []string{"XRD020 spec.names.kind"}},
	"NoNames":        {reason: "without names both are missing", text: clean[:strings.Index(clean, "  names:")] + clean[strings.Index(clean, "  defaultCompositionRef"):], want: []string{"XRD020 spec.names.kind", "XRD023 spec.names.plural"}},
	"BadKind":        {reason: "a kind has letters and digits", text: change("kind: Database\n", "kind: Data_base\n"), want: []string{"XRD021 spec.names.kind"}},
	"ListKindSame":   {reason: "a list is not its item", text: change("listKind: DatabaseList", "listKind: Database"), want: []string{"XRD021 spec.names.listKind"}},
	"KindCase":       {reason: "kinds are in CamelCase", text: change("kind: Database\n", "kind: database\n"), want: []string{"XRD022 spec.names.kind"}},
	"NoPlural":       {reason: "Kubernetes asks for a plural", text: change("    plural: databases\n", ""), want: []string{"XRD023 spec.names.plural"}},
	"BadPlural":      {reason: "plurals are in lower case", text: change("plural: databases", "plural: Databases", "name: databases.", "name: Databases."), want: []string{"XRD024 spec.names.plural"}},
	"BadShortName":   {reason: "short names are in lower case", text: change("shortNames: [db]", "shortNames: [DB]"), want: []string{"XRD024 spec.names.shortNames[0]"}},
	"ClaimSame":      {reason: "claims have names of their own", text: v1("  names:", "  claimNames: {kind: Database, plural: dbs}\n  names:"), want: []string{"XRD025 spec.claimNames.kind"}},
	"ClaimPartial":   {reason: "claims have a plural", text: v1("  names:", "  claimNames: {kind: DB}\n  names:"), want: []string{"XRD026 spec.claimNames.plural"}},
	"LabelType":      {reason: "Kubernetes takes strings only", text: change(`ingest: "true"`, "ingest: true"), want: []string{"XRD027 metadata.labels[\"openportal.dev/ingest\"]"}},
	"AnnotationYes":  {reason: "kubectl reads yes as a boolean", text: change("owner: team-a", "owner: yes"), want: []string{"XRD027 metadata.annotations[\"backstage.io/owner\"]"}},
	"AnnotationMap":  {reason: "annotations are flat", text: change("owner: team-a", "owner: {a: b}"), want: []string{"XRD027 metadata.annotations[\"backstage.io/owner\"]"}},
	"LabelsList":     {reason: "labels are a map", text: change("  labels:\n    openportal.dev/ingest: \"true\"\n", "  labels: [a]\n"), want: []string{"XRD016 metadata.labels"}},
	"LabelValue":     {reason: "labels hold no sentences", text: change("  annotations:", "    team: the a team\n  annotations:"), want: []string{"XRD028 metadata.labels.team"}},
	"RequiredLabel": {reason: "discovery asks for a label; the message uses the definition's words", text: clean,
		opts: lint.Options{RequiredLabels: []string{words.LabelGenerateForm}}, want: []string{"XRD029 metadata.labels[\"terasky.backstage.io/generate-form\"]"}},
	"RequiredLabelFalse": {reason: "only \"true\" counts", text: change(`ingest: "true"`, `ingest: "false"`),
		opts: lint.Options{RequiredLabels: []string{words.LabelIngest}}, want: []string{"XRD029 metadata.labels[\"openportal.dev/ingest\"]"}},
	"KnownWord":      {reason: "a misspelt annotation has no effect", text: change("io/owner", "io/onwer"), want: []string{"XRD030 metadata.annotations[\"backstage.io/onwer\"]"}},
	"UnknownWord":    {reason: "an annotation with a prefix of ours is known or reported", text: change("    backstage.io/owner: team-a", "    backstage.io/colour-scheme: blue"), want: []string{"XRD036 metadata.annotations[\"backstage.io/colour-scheme\"]"}},
	"OtherWord":      {reason: "those of other ingestors are read", text: change("    backstage.io/owner: team-a", "    openportal.dev/tags: a\n    terasky.backstage.io/owner: a\n    terasky.backstage.io/system: a\n    terasky.backstage.io/lifecycle: a")},
	"ForeignWord":    {reason: "those that other programs read are left alone", text: change("    backstage.io/owner: team-a", "    backstage.io/techdocs-ref: dir:.\n    backstage.io/kubernetes-label-selector: a=b\n    terasky.backstage.io/add-to-catalog: \"true\"\n    crossplane.io/paused: \"true\"")},
	"NearWord":       {reason: "a slip in them is seen", text: change("    backstage.io/owner: team-a", "    terasky.backstage.io/lifecylce: a"), want: []string{"XRD030 metadata.annotations[\"terasky.backstage.io/lifecylce\"]"}},
	"KnownWordPlace": {reason: "a label among the annotations has no effect", text: change("    backstage.io/owner: team-a", `    openportal.dev/ingest: "true"`), want: []string{"XRD030 metadata.annotations[\"openportal.dev/ingest\"]"}},
	"KnownWordTrue":  {reason: "the value is exactly true", text: change(`ingest: "true"`, `ingest: "True"`), want: []string{"XRD030 metadata.labels[\"openportal.dev/ingest\"]"}},
	"Scope":          {reason: "there are three scopes", text: change("scope: Namespaced", "scope: Namespace"), want: []string{"XRD031 spec.scope"}},
	"LegacyScope":    {reason: "v2 has no legacy scope", text: change("scope: Namespaced", "scope: LegacyCluster\n  claimNames: {kind: DB, plural: dbs}"), want: []string{"XRD032 spec.scope"}},
	"ClaimScope":     {reason: "modern definitions offer no claims", text: change("  names:", "  claimNames: {kind: DB, plural: dbs}\n  names:"), want: []string{"XRD033 spec.claimNames"}},
	"ClaimScopeV1":   {reason: "so do those of v1 with a modern scope", text: v1("  names:", "  scope: Cluster\n  claimNames: {kind: DB, plural: dbs}\n  names:"), want: []string{"XRD033 spec.claimNames"}},
	"SecretScope":    {reason: "modern definitions have no connection secrets", text: change("  names:", "  connectionSecretKeys: [password]\n  names:"), want: []string{"XRD034 spec.connectionSecretKeys"}},
	"Policy":         {reason: "there are two policies", text: change("Policy: Automatic", "Policy: automatic"), want: []string{"XRD035 spec.defaultCompositionUpdatePolicy"}},
	"Reference":      {reason: "a reference names something", text: change("    name: postgres\n", "    kind: x\n"), want: []string{"XRD035 spec.defaultCompositionRef"}},
}

var compositionCases = map[string]aCase{
	"CompositionName":  {reason: "an object has a name", text: composition("", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD120 metadata"}},
	"CompositionType":  {reason: "a Composition is for a kind", text: composition("x", "pipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD121 spec.compositeTypeRef.apiVersion", "XRD121 spec.compositeTypeRef.kind"}},
	"CompositionSpec":  {reason: "a Composition has a spec", text: "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: x}\n", want: []string{"XRD121 spec"}},
	"CompositionEmpty": {reason: "a Composition composes something", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}"), want: []string{"XRD122 spec"}},
	"CompositionMode":  {reason: "there are two modes", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: pipeline\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD123 spec.mode"}},
	"ModeNeeds":        {reason: "a mode has what it needs", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\nresources: [{name: a}]"), want: []string{"XRD122 spec.pipeline"}},
	"ModeMix":          {reason: "a pipeline uses no resources", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\nresources: [{name: a}]\npipeline: [{step: a, functionRef: {name: f}}]"), want: []string{"XRD124 spec.resources"}},
	"NativeMode":       {reason: "resources are of the past", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nresources: [{name: a}]"), want: []string{"XRD125 spec.resources"}},
	"StepName":         {reason: "steps have names of their own", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a, functionRef: {name: f}}, {step: a, functionRef: {name: f}}, {functionRef: {name: f}}]"), want: []string{"XRD126 spec.pipeline[1].step", "XRD126 spec.pipeline[2].step"}},
	"StepFunction":     {reason: "a step calls a function", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\npipeline: [{step: a}]"), want: []string{"XRD127 spec.pipeline[0].functionRef"}},
	"CompositionClean": {reason: "nothing is wrong with a pipeline", text: composition("x", "compositeTypeRef: {apiVersion: a.b/v1, kind: X}\nmode: Pipeline\npipeline: [{step: a, functionRef: {name: f}}]")},
}

func composition(name, spec string) string {
	return "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: \"" + name + "\"}\nspec:\n" + indent(2, spec)
}

// another is a valid second version.
const another = `  - {name: v1, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
`

var versionCases = map[string]aCase{
	"NoVersions":        {reason: "a kind has versions", text: clean[:strings.Index(clean, "  versions:")], want: []string{"XRD040 spec.versions"}},
	"VersionsEmpty":     {reason: "none is not enough", text: clean[:strings.Index(clean, "  versions:")] + "  versions: []\n", want: []string{"XRD040 spec.versions"}},
	"VersionName":       {reason: "a version has a name", text: change("  - name: v1alpha1\n    served: true", "  - served: true"), want: []string{"XRD041 spec.versions[0].name"}},
	"VersionNameBad":    {reason: "a version is no number", text: change("name: v1alpha1", "name: 1.0.0"), want: []string{"XRD041 spec.versions[0].name"}},
	"VersionTwice":      {reason: "versions have names of their own", text: clean + strings.Replace(another, "v1,", "v1alpha1,", 1), want: []string{"XRD042 spec.versions[1].name"}},
	"VersionSilent":     {reason: "Kubernetes wants to be told", text: change("    served: true\n    referenceable: true\n", ""), want: []string{"XRD043 spec.versions[0].served"}},
	"NoServed":          {reason: "something is served", text: change("served: true", "served: false"), want: []string{"XRD044 spec.versions", "XRD045 spec.versions[0].served"}},
	"Unserved":          {reason: "an unserved version is told", text: clean + strings.Replace(another, "served: true", "served: false", 1), want: []string{"XRD045 spec.versions[1].served"}},
	"NoReferenceable":   {reason: "one version is stored", text: change("referenceable: true", "referenceable: false"), want: []string{"XRD046 spec.versions"}},
	"ManyReferenceable": {reason: "only one version is stored", text: clean + strings.Replace(another, "referenceable: false", "referenceable: true", 1), want: []string{"XRD047 spec.versions"}},
	"NoSchema":          {reason: "a version has a schema", text: clean[:strings.Index(clean, "    schema:")], want: []string{"XRD048 spec.versions[0].schema"}},
	"NoOpenAPI":         {reason: "an empty one is none", text: clean[:strings.Index(clean, "    schema:")] + "    schema: {}\n", want: []string{"XRD048 spec.versions[0].schema"}},
	"SchemaMisplaced":   {reason: "the schema is under schema", text: strings.Replace(clean, "    schema:\n      openAPIV3Schema:", "    openAPIV3Schema:", 1), want: []string{"XRD049 spec.versions[0].openAPIV3Schema"}},
	"SchemaType":        {reason: "a schema is a map", text: clean[:strings.Index(clean, "    schema:")] + "    schema: {openAPIV3Schema: x}\n", want: []string{"XRD016 ~"}},
	"NoDescription":     {reason: "the contract asks for a description", text: change("        description: A database.\n", ""), want: []string{"XRD050 ~.description"}},
	"SpecDescription":   {reason: "that of spec will do", text: change("        description: A database.\n", "", "            required: [size]\n", "            description: A database.\n            required: [size]\n")},
	"Undescribed":       {reason: "properties are counted, not listed", text: inSpec("a: {type: string}\nb: {type: string, description: B.}\nc: {type: array, items: {type: object, properties: {d: {type: string}}}}"), want: []string{"XRD051 ~"}},
	"Deprecation":       {reason: "a warning needs a reason", text: change("    served: true\n", "    served: true\n    deprecationWarning: gone soon\n"), want: []string{"XRD052 spec.versions[0].deprecationWarning"}},
	"DeprecationLong":   {reason: "a warning is short", text: change("    served: true\n", "    served: true\n    deprecated: true\n    deprecationWarning: "+strings.Repeat("x", 257)+"\n"), want: []string{"XRD052 spec.versions[0].deprecationWarning"}},
	"PrinterColumn":     {reason: "a column has a path and a type there is", text: change("type: string, jsonPath: .spec.size", "type: text"), want: []string{"XRD053 spec.versions[0].additionalPrinterColumns[0].jsonPath", "XRD053 spec.versions[0].additionalPrinterColumns[0].type"}},
}
