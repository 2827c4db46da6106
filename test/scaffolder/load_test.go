package scaffolder_test

import (
	"context"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/tree"
)

// flood is an action that logs more than anybody reads: so many lines of so many
// bytes.
var flood = action.Action{
	ID: "test:flood", Description: "Logs a lot",
	Input: tree.Obj(tree.F("type", tree.Str("object"))),
	Run: func(ctx context.Context, c *action.Call) error {
		line := strings.Repeat("x", int(1000))
		for i := 0; i < 100 && ctx.Err() == nil; i++ {
			c.Logf("%d %s", i, line)
		}
		return ctx.Err()
	},
}
