package portal_test

import (
	"strings"
	"testing"
)

// TestFeed checks that one portal can read the catalog of another without a
// token, and follows its changes.
func TestFeed(t *testing.T) {
	first := start(t, setup{})
	first.push("ci", component("a"), component("b"))
	second := start(t, setup{
		allow: []string{strings.TrimPrefix(first.base, "http://")},
		sections: map[string]any{"catalog": map[string]any{
			"locations":          []any{map[string]any{"type": "url", "target": first.base + "/api/catalog/feed.yaml?filter=kind=component"}},
			"processingInterval": "1s",
		}},
	})
	second.until("both are there", func() bool { return second.exists("component/default/a") && second.exists("component/default/b") })
	first.push("ci", component("b"), component("c"))
	second.until("one has gone and one has come", func() bool {
		return !second.exists("component/default/a") && second.exists("component/default/c")
	})
}
