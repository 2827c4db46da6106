package catalog

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

var (
	texts    = tree.Obj(tree.F("items", tree.Obj(tree.F("type", tree.Str("string")))))
	anything = tree.Obj(tree.F("additionalProperties", tree.Obj()))
)

var fetchInput = action.Schema(
	action.Field{Name: "entityRef", Type: "string", Description: "Reference of the entity"},
	action.Field{Name: "entityRefs", Type: "array", Schema: texts, Description: "References of several entities"},
	action.Field{Name: "optional", Type: "boolean", Description: "Continues if the entity does not exist; the output is then null"},
	action.Field{Name: "defaultKind", Type: "string", Description: "Kind of references without one"},
	action.Field{Name: "defaultNamespace", Type: "string", Description: "Namespace of references without one"},
)

var fetchOutput = action.Schema(
	action.Field{Name: "entity", Description: "The entity of entityRef"},
	action.Field{Name: "entities", Type: "array", Description: "The entities of entityRefs, in that order"},
)

var optional = action.Field{Name: "optional", Type: "boolean", Description: "Continues if it cannot be registered"}

var registerInput = tree.Obj(
	tree.F("anyOf", tree.Arr(
		action.Object(
			action.Field{Name: "catalogInfoUrl", Type: "string", Required: true, Description: "URL of the file"},
			optional),
		action.Object(
			action.Field{Name: "repoContentsUrl", Type: "string", Required: true, Description: "URL of a repository at a branch"},
			action.Field{Name: "catalogInfoPath", Type: "string", Description: "Path of the file from the root of the repository; the default is " + DefaultFile + ""},
			optional),
	)),
	tree.F("$schema", tree.Str(action.Draft)),
)

var registerOutput = action.Schema(
	action.Field{Name: "entityRef", Type: "string", Description: "Reference of the entity in the file; if there are several, of a Component"},
	action.Field{Name: "catalogInfoUrl", Type: "string", Description: "URL of the file"},
)

var writeInput = action.Schema(
	action.Field{Name: "filePath", Type: "string", Description: "File of the workspace; the default is " + DefaultFile + ""},
	action.Field{Name: "entity", Type: "object", Required: true, Schema: anything, Description: "The entity"},
)

var writeOutput = action.Schema(action.Field{Name: "path", Type: "string", Description: "The file"})

var fetchExamples = []action.Example{
	{Description: "Read the owner of a new service", Example: `steps:
  - id: owner
    name: Read the owner
    action: catalog:fetch
    input:
      entityRef: group:default/platform
`},
	{Description: "Read several systems, those that there are", Example: `steps:
  - id: systems
    name: Read the systems
    action: catalog:fetch
    input:
      entityRefs:
        - payments
        - shipping
      defaultKind: System
      optional: true
`},
}

var registerExamples = []action.Example{
	{Description: "Register the file of a repository that a step before has made", Example: `steps:
  - id: register
    name: Register the service
    action: catalog:register
    input:
      repoContentsUrl: https://github.com/platform/payments/tree/main
      catalogInfoPath: service/catalog-info.yaml
`},
	{Description: "Register a file by its URL, if it is there", Example: `steps:
  - id: register
    name: Register the service
    action: catalog:register
    input:
      catalogInfoUrl: https://git.example.com/platform/payments/src/branch/main/catalog-info.yaml
      optional: true
`},
}

var writeExamples = []action.Example{{Description: "Write the entity of a new service", Example: `steps:
  - id: describe
    name: Describe the service
    action: catalog:write
    input:
      entity:
        apiVersion: backstage.io/v1alpha1
        kind: Component
        metadata:
          name: payments
        spec:
          type: service
          lifecycle: production
          owner: group:default/platform
`}}
