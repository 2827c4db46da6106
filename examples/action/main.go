// Command action is a portal's backend whose Templates can do one thing more: a
// step that makes a name of several words. Run it in place of portal-backend:
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
	// The input is checked against its schema before the action runs.
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
	// It changes nothing anywhere, so it can be tried out as it is.
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
