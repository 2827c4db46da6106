package debug

import (
	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

const (
	withNames    = "with-filenames"
	withContents = "with-contents"
)

var logInput = action.Schema(
	action.Field{Name: "message", Type: "string", Description: "Message to log"},
	action.Field{
		Name: "listWorkspace",
		Schema: tree.Obj(tree.F("anyOf", tree.Arr(
			tree.Obj(tree.F("type", tree.Str("boolean"))),
			tree.Obj(tree.F("type", tree.Str("string")), tree.F("enum", tree.Strs([]string{withNames, withContents}))),
		))),
		Description: "Lists the files of the workspace; " + withContents + " also shows their contents",
	},
	action.Field{Name: "extra", Description: "Any value, which is logged as JSON"},
)

var waitInput = action.Schema(
	action.Field{Name: "minutes", Type: "number", Description: "Number of minutes"},
	action.Field{Name: "seconds", Type: "number", Description: "Number of seconds, added to the minutes"},
	action.Field{Name: "milliseconds", Type: "number", Description: "Number of milliseconds, added to the others"},
)

var logExamples = []action.Example{
	{Description: "Tell what was filled in", Example: `steps:
  - id: tell
    name: Tell what was filled in
    action: debug:log
    input:
      message: A database of the size ${{ parameters.size }}
      extra: ${{ parameters }}
`},
	{Description: "List the files of the workspace and what is in them", Example: `steps:
  - id: list
    name: List the workspace
    action: debug:log
    input:
      listWorkspace: with-contents
`},
}

var waitExamples = []action.Example{{Description: "Wait for a minute and a half", Example: `steps:
  - id: wait
    name: Wait
    action: debug:wait
    input:
      minutes: 1
      seconds: 30
`}}
