package files

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

var (
	texts    = tree.Obj(tree.F("items", tree.Obj(tree.F("type", tree.Str("string")))))
	anything = tree.Obj(tree.F("additionalProperties", tree.Obj()))
	eitherOr = tree.Obj(tree.F("type", tree.Strs([]string{"string", "boolean"})))
)

// Inputs that several actions have.
var (
	folderURL = action.Field{Name: "url", Type: "string", Required: true, Description: "The folder: a path beside the Template, such as ./skeleton, or the URL of a repository or of a folder's page in one"}
	fileURL   = action.Field{Name: "url", Type: "string", Required: true, Description: "The file: a path beside the Template, or the URL of its page in a repository"}
	folderTo  = action.Field{Name: "targetPath", Type: "string", Description: "Folder of the workspace; the default is its root"}
	fileTo    = action.Field{Name: "targetPath", Type: "string", Required: true, Description: "File of the workspace"}
	token     = action.Field{Name: "token", Type: "string", Description: "Token to use instead of the configured one of the host"}
	values    = action.Field{Name: "values", Type: "object", Schema: anything, Description: "Values for expressions, as values"}
	compat    = action.Field{Name: "cookiecutterCompat", Type: "boolean", Description: "Not supported; must be false"}
	replace   = action.Field{Name: "replace", Type: "boolean", Description: "Overwrites existing files; otherwise they are kept"}
	trim      = action.Field{Name: "trimBlocks", Type: "boolean", Description: "Removes the line break after a {% %}"}
	lstrip    = action.Field{Name: "lstripBlocks", Type: "boolean", Description: "Removes the indentation before a {% %} at the start of a line"}
)

var (
	fetchInput     = action.Schema(folderURL, folderTo, token)
	fetchFileInput = action.Schema(fileURL, fileTo, token)

	templateInput = action.Schema(folderURL, folderTo, values,
		action.Field{Name: "copyWithoutRender", Type: "array", Schema: texts, Description: "Patterns of files whose names and contents are not evaluated"},
		action.Field{Name: "copyWithoutTemplating", Type: "array", Schema: texts, Description: "Patterns of files whose contents are not evaluated"},
		compat,
		action.Field{Name: "templateFileExtension", Schema: eitherOr, Description: "Only files with this extension are templates, and the extension is removed; true means .njk"},
		replace, trim, lstrip, token)
	templateFileInput = action.Schema(fileURL, fileTo, values, compat, replace, trim, lstrip, token)

	writeInput = action.Schema(
		action.Field{Name: "path", Type: "string", Required: true, Description: "File of the workspace; its folders are created"},
		action.Field{Name: "content", Type: "string", Required: true, Description: "Content of the file"},
		action.Field{Name: "executable", Type: "boolean", Description: "Whether the file is executable"})
	writeOutput = action.Schema(action.Field{Name: "path", Type: "string", Description: "The file"})

	deleteInput = action.Schema(action.Field{Name: "files", Type: "array", Required: true, Schema: texts,
		Description: "Files and folders, by name or by pattern, such as **/*.txt"})

	renameInput = action.Schema(action.Field{Name: "files", Type: "array", Required: true,
		Schema: tree.Obj(tree.F("items", action.Object(
			action.Field{Name: "from", Type: "string", Required: true, Description: "Current name"},
			action.Field{Name: "to", Type: "string", Required: true, Description: "New name"},
			action.Field{Name: "overwrite", Type: "boolean", Description: "Replaces an existing file of that name"}))),
		Description: "Files and folders"})

	listInput = action.Schema(
		action.Field{Name: "paths", Type: "array", Required: true, Schema: tree.Obj(tree.F("items",
			tree.Obj(tree.F("type", tree.Str("string")), tree.F("minLength", tree.Number(1))))), Description: "Folders of the workspace; . is its root"},
		action.Field{Name: "recursive", Type: "boolean", Schema: tree.Obj(tree.F("default", tree.Boolean(false))), Description: "Also lists subfolders"})
	listOutput = action.Schema(
		action.Field{Name: "files", Type: "array", Required: true, Schema: found},
		action.Field{Name: "folders", Type: "array", Required: true, Schema: found})

	found = tree.Obj(tree.F("items", action.Object(
		action.Field{Name: "name", Type: "string", Required: true, Description: "Name of the file or folder"},
		action.Field{Name: "path", Type: "string", Required: true, Description: "Path in the workspace"},
		action.Field{Name: "fullPath", Type: "string", Required: true, Description: "The same as path"})))
)

var fetchExamples = []action.Example{{Description: "Fetch a folder of a repository", Example: `steps:
  - id: fetch
    name: Fetch the pipelines
    action: fetch:plain
    input:
      url: https://github.com/platform/templates/tree/main/pipelines
      targetPath: .ci
`}}

var fetchFileExamples = []action.Example{{Description: "Fetch a file from beside the Template", Example: `steps:
  - id: license
    name: Fetch the licence
    action: fetch:plain:file
    input:
      url: ./skeleton/LICENSE
      targetPath: LICENSE
`}}

var templateExamples = []action.Example{
	{Description: "Fetch a skeleton and fill it in", Example: `steps:
  - id: skeleton
    name: Fetch the skeleton
    action: fetch:template
    input:
      url: ./skeleton
      targetPath: service
      values:
        name: payments
        port: 8080
`},
	{Description: "Leave diagrams and workflows as they are, and write over what is there", Example: `steps:
  - id: skeleton
    name: Fetch the skeleton
    action: fetch:template
    input:
      url: ./skeleton
      copyWithoutTemplating:
        - .github/workflows
        - "**/*.svg"
      replace: true
      values:
        name: payments
`},
}

var templateFileExamples = []action.Example{{Description: "Fill in one file", Example: `steps:
  - id: readme
    name: Write the introduction
    action: fetch:template:file
    input:
      url: ./skeleton/README.md
      targetPath: README.md
      values:
        name: payments
`}}

var writeExamples = []action.Example{{Description: "Write a script", Example: `steps:
  - id: script
    name: Write the script
    action: fs:write
    input:
      path: bin/run.sh
      executable: true
      content: |
        #!/bin/sh
        echo "payments"
`}}

var deleteExamples = []action.Example{{Description: "Delete a file, a folder and whatever a pattern chooses", Example: `steps:
  - id: tidy
    name: Tidy up
    action: fs:delete
    input:
      files:
        - README.md
        - drafts
        - "**/*.tmp"
`}}

var renameExamples = []action.Example{{Description: "Give files other names", Example: `steps:
  - id: names
    name: Rename the files
    action: fs:rename
    input:
      files:
        - from: service.yaml
          to: deploy/payments.yaml
        - from: notes.md
          to: README.md
          overwrite: true
`}}

var listExamples = []action.Example{{Description: "List a folder and those in it", Example: `steps:
  - id: list
    name: List the documentation
    action: fs:readdir
    input:
      paths:
        - docs
      recursive: true
`}}
