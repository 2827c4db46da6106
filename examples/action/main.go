// Command action is a portal's backend with an additional action: a step that
// makes a name from several words. Run it instead of portal-backend:
//
//	go run ./examples/action
package main

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/cmd/portal-backend/backend"
	"example.dev/ingestor/document/tree"
)

func main() { backend.Main(backend.Options{Actions: []action.Action{slug}}) }

// slug is the action example:slug.
var slug = action.Action{
	ID:          "example:slug",
	Description: "Makes a name of several words, such as orders-of-today",
	// The input is validated against its schema before the action runs.
	Input: action.Schema(
		action.Field{Name: "words", Type: "string", Description: "What the name is made of", Required: true},
	),
	Output: action.Schema(
		action.Field{Name: "name", Type: "string", Description: "The name"},
	),
	Examples: []action.Example{{Description: "Name a bucket after its purpose", Example: `steps:
  - id: name
    action: example:slug
    input:
      words: ${{ parameters.purpose }}
`}},
	// It has no side effects, so a dry run can execute it.
	DryRun: true,
	Run: func(_ context.Context, c *action.Call) error {
		name := strings.Join(strings.Fields(strings.ToLower(c.Input.Get("words").Str())), "-")
		if name == "" {
			return &action.Error{Err: errors.New("cannot make a name: there are no words"), Hint: "write at least one"}
		}
		c.Logf("the name is %s", name)
		c.Output("name", tree.Str(name))
		return nil
	},
}
