package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/engine"
	"example.dev/ingestor/xrd"
)

// TestTelling compares the entities of a composite with a reduced status with
// those of the complete status: they are equal, and contain no secrets.
func TestTelling(t *testing.T) {
	const status = `{"conditions":[{"type":"Ready","status":"False","reason":"Creating","message":"hunter2","lastTransitionTime":"2026-01-01T00:00:00Z"}, 7],
		"endpoint":"orders.example.org:8443","adminPassword":"hunter2","urls":["https://a.example.org","hunter2"],
		"atProvider":{"url":"https://b.example.org/x","key":"hunter2","deep":{"url":"https://hunter2.example.org"}},
		"credentials":{"url":"https://c.example.org/hunter2"},"note":"hunter2"}`
	full, err := wire.Decoder{}.Decode([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	with := func(status *tree.Node) func(*tree.Node, xrd.Role) *tree.Node {
		return func(n *tree.Node, role xrd.Role) *tree.Node {
			if role == xrd.RoleComposite {
				n = n.Clone()
				n.Set("status", status)
			}
			return n
		}
	}
	told := engine.Telling(full)
	if text := string(tree.AppendJSON(nil, told, "")); strings.Contains(text, "hunter2") {
		t.Errorf("reduced status contains a secret: %s", text)
	}
	set := examples(t)
	whole, less := inputs(set, with(full)), inputs(set, with(told))
	linked := false
	for i := range whole {
		want, _ := outcome(t, whole[i], nil)
		got, _ := outcome(t, less[i], nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entities of %q (-whole +reduced):\n%s", whole[i].Definition.Name, diff)
		}
		linked = linked || strings.Contains(got, "https://b.example.org/x")
	}
	if !linked {
		t.Error("no entity has a link from the status")
	}
}
