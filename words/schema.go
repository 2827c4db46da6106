package words

import "example.dev/ingestor/document/tree"

// setting is a label or annotation that people write on their objects.
type setting struct {
	key, description string
	// values are the allowed values, or nil for any text.
	values []string
}

var yesNo = []string{"true", "false"}

// definitionLabels and definitionAnnotations are those of definitions.
var definitionLabels = []setting{
	{LabelIngest, "Whether the Crossplane ingestor takes this XRD.", yesNo},
	{LabelGenerateForm, "Whether the Kubernetes ingestor generates a Template for each served version of this v2 XRD.", yesNo},
	{LabelTemplateType, "Type of the Template. It is copied to the entities.", nil},
	{LabelVersion, "Version that is copied to the entities.", nil},
}

var definitionAnnotations = []setting{
	{AnnotationTitle, "Title of the Template.", nil},
	{AnnotationDescription, "Description of the Template.", nil},
	{AnnotationPlainDescription, "Description of the Template, if it has no description of its own.", nil},
	{AnnotationOwner, "Owner of the entities: an entity reference such as group:default/platform.", nil},
	{AnnotationSystem, "System of the entities: a name or an entity reference.", nil},
	{AnnotationTags, "Tags of the entities, separated by commas.", nil},
	{AnnotationOtherOwner, "Owner of the entities, if the annotation of Backstage's own prefix is not set.", nil},
	{AnnotationOtherSystem, "System of the entities, if the annotation of Backstage's own prefix is not set.", nil},
	{AnnotationOtherTags, "Tags of the entities, if the annotation of Backstage's own prefix is not set.", nil},
	{AnnotationLifecycle, "Lifecycle of the API, such as production.", nil},
	{AnnotationDefaultNamespace, "Namespace that the form proposes.", nil},
	{AnnotationAPIVersion, "Version of the API.", nil},
	{AnnotationAPIKind, "Kind of the API.", nil},
	{AnnotationGitOpsRepo, "Repository that the Delivery page of the form proposes.", nil},
	{AnnotationGitOpsPath, "Folder that the Delivery page of the form proposes.", nil},
	{AnnotationTemplate, "Name of the template file for xrd-transform.", nil},
	{AnnotationWizard, "Name of the template file of the form's pages, for xrd-transform.", nil},
	{AnnotationSteps, "Name of the template file of the steps, for xrd-transform.", nil},
}

// workloadLabels and workloadAnnotations are those of workloads.
var workloadLabels = []setting{
	{LabelClusterID, "Name of the Component that this workload belongs to.", nil},
}

var workloadAnnotations = []setting{
	{AnnotationOwner, "Owner of the Component: an entity reference such as group:default/shop.", nil},
	{AnnotationSystem, "System of the Component: a name or an entity reference.", nil},
	{AnnotationLifecycle, "Lifecycle of the Component, such as production.", nil},
}

// ownedAnnotations are those of Compositions.
var ownedAnnotations = []setting{
	{AnnotationOwner, "Owner of the entity: an entity reference such as group:default/platform.", nil},
}

// DefinitionLabels returns the labels that are read on definitions.
func DefinitionLabels() []string { return keysOf(definitionLabels) }

// DefinitionAnnotations returns the annotations that are read on definitions.
func DefinitionAnnotations() []string { return keysOf(definitionAnnotations) }

func keysOf(all []setting) (keys []string) {
	for _, s := range all {
		keys = append(keys, s.key)
	}
	return keys
}

// Schema returns a JSON Schema (draft 7, which editors understand) of the labels and
// annotations of definitions, Compositions and workloads, in every spelling. It accepts
// all other labels, annotations, fields and kinds.
func Schema() *tree.Node {
	return tree.Obj(
		tree.F("$schema", tree.Str("http://json-schema.org/draft-07/schema#")),
		tree.F("title", tree.Str("Labels and annotations for the developer portal")),
		tree.F("type", tree.Str("object")),
		tree.F("allOf", tree.Arr(
			ofKinds(definitionLabels, definitionAnnotations, "CompositeResourceDefinition"),
			ofKinds(nil, ownedAnnotations, "Composition"),
			ofKinds(workloadLabels, workloadAnnotations, "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job"),
		)),
	)
}

// ofKinds returns the schema of the labels and annotations of objects of some kinds.
func ofKinds(labels, annotations []setting, kinds ...string) *tree.Node {
	var names []*tree.Node
	for _, k := range kinds {
		names = append(names, tree.Str(k))
	}
	metadata := tree.Obj(tree.F("annotations", settings(annotations)))
	if labels != nil {
		metadata = tree.Obj(tree.F("labels", settings(labels)), tree.F("annotations", settings(annotations)))
	}
	return tree.Obj(
		tree.F("if", tree.Obj(
			tree.F("properties", tree.Obj(tree.F("kind", tree.Obj(tree.F("enum", tree.Arr(names...)))))),
			tree.F("required", tree.Arr(tree.Str("kind"))),
		)),
		tree.F("then", tree.Obj(tree.F("properties", tree.Obj(
			tree.F("metadata", tree.Obj(tree.F("type", tree.Str("object")), tree.F("properties", metadata))),
		)))),
	)
}

// settings returns the schema of labels or annotations: known ones with a description,
// and all of them strings, because Kubernetes rejects other values.
func settings(all []setting) *tree.Node {
	properties := tree.Obj()
	for _, s := range all {
		n := tree.Obj(tree.F("type", tree.Str("string")), tree.F("description", tree.Str(s.description)))
		if s.values != nil {
			var values []*tree.Node
			for _, v := range s.values {
				values = append(values, tree.Str(v))
			}
			n.Set("enum", tree.Arr(values...))
		}
		spellings := Spellings(Key, s.key)
		for i := range spellings {
			// Backstage's spelling is proposed first.
			properties.Set(spellings[len(spellings)-1-i], n)
		}
	}
	return tree.Obj(
		tree.F("type", tree.Str("object")),
		tree.F("properties", properties),
		tree.F("additionalProperties", tree.Obj(tree.F("type", tree.Str("string")))),
	)
}
