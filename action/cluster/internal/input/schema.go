package input

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
)

const defaultPropagation = "background"

// ApplyAction returns cluster:apply without its functions.
func ApplyAction() action.Action {
	return described(words.ActionApply, "Applies a manifest to a cluster with server-side apply, after a dry run; takes over fields or objects only if told to.",
		applyInput, applyOutput, applyExamples)
}

// DeleteAction returns cluster:delete without its functions.
func DeleteAction() action.Action {
	return described(words.ActionDelete, "Deletes a resource from a cluster, if the portal has applied it or the step says so.",
		deleteInput, deleteOutput, deleteExamples)
}

// CreateAction returns the action that creates composite resources and claims, without
// its functions.
func CreateAction() action.Action {
	return described(words.ActionCreate, "Creates a composite resource, or a claim.", createInput, applyOutput, nil)
}

func described(id, description, input, output string, examples []action.Example) action.Action {
	return action.Action{
		ID: id, Aliases: words.Spellings(words.Action, id)[1:], Description: description,
		Input: parsed(input), Output: parsed(output), Examples: examples, DryRun: true,
	}
}

// parsed parses one of the schemas below.
func parsed(text string) *tree.Node {
	docs, _ := parser.DecodeBytes([]byte(text))
	return docs[0]
}

const applyInput = `
type: object
required: [manifest]
properties:
  manifest:
    title: Manifest
    description: Objects to apply, as an object, a list of objects, or YAML with one or several documents.
    type: [object, array, string]
` + commonInput + `
  namespace:
    title: Namespace
    description: Namespace of namespaced objects that do not set one.
    type: string
  wait:
    title: Wait
    description: Whether, or how long, to wait until everything is ready; changes of conditions are logged.
    type: [boolean, string, object]
    default: false
  takeOver:
    title: Take over
    description: Whether to change objects that the portal did not create, and to take over fields from other owners.
    type: boolean
    default: false
  update:
    title: Update
    description: Whether the object must already exist. Fields that the manifest omits are then kept, unless observed is set.
    type: boolean
    default: false
  observed:
    title: Observed
    description: >-
      State of the object that the form was filled from. If its requested fields have changed since, the step fails and
      applies nothing; otherwise, fields that the portal applied before and the manifest omits are removed. Fields that
      Crossplane fills in are ignored.
    type: string
`

const commonInput = `
  cluster:
    title: Cluster
    description: The name of the cluster; without it, the default one.
    type: string
  dryRun:
    title: Dry run
    description: Whether to make only a dry run in the cluster.
    type: boolean
    default: false
`

const resourcesOutput = `
type: object
properties:
  resources:
    title: Resources
    description: What it was about.
    type: array
    items:
      type: object
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        namespace: {type: string}
        name: {type: string}
        uid: {type: string}
        cluster: {type: string}
`

const applyOutput = resourcesOutput + `
  manifest:
    title: Manifest
    description: Applied objects, as YAML.
    type: string
`

// namedInput is the input that names one object.
const namedInput = `
type: object
required: [apiVersion, kind, name]
properties:
  apiVersion:
    title: API version
    description: Group and version of the kind.
    type: string
  kind:
    title: Kind
    type: string
  name:
    title: Name
    type: string
  namespace:
    title: Namespace
    description: Namespace of the object, if it is namespaced.
    type: string
`

const deleteInput = namedInput + commonInput + `
  propagation:
    title: Propagation
    description: What happens to its dependent objects.
    type: string
    enum: [background, foreground, orphan]
    default: ` + defaultPropagation + `
  wait:
    title: Wait
    description: Whether, or how long, to wait until it is gone.
    type: [boolean, string, object]
    default: false
  mustExist:
    title: Must exist
    description: Whether it is an error if the object does not exist.
    type: boolean
    default: false
  takeOver:
    title: Take over
    description: Whether to delete the object even if the portal did not create it.
    type: boolean
    default: false
`

const deleteOutput = resourcesOutput + `
  deleted:
    title: Deleted
    description: Whether an object was deleted.
    type: boolean
`

const createInput = namedInput + `
  labels:
    title: Labels
    type: object
    additionalProperties: {type: string}
  annotations:
    title: Annotations
    type: object
    additionalProperties: {type: string}
  spec:
    title: Spec
    type: object
  dryRun:
    title: Dry run
    description: Whether to make only a dry run in the cluster.
    type: boolean
    default: false
  wait:
    title: Wait
    description: Whether, or how long, to wait until it is ready.
    type: [boolean, string, object]
    default: false
  takeOver:
    title: Take over
    description: Whether to change objects that the portal did not create, and to take over fields from other owners.
    type: boolean
    default: false
`
