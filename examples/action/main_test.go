package main

import (
	"testing"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/actiontest"
)

// TestSlug runs the action with the input of its example, and with an empty
// one.
func TestSlug(t *testing.T) {
	s := actiontest.New(t, []action.Action{slug})
	got, err := s.Run("example:slug", `{words: Orders  of TODAY}`, nil)
	if err != nil || got.Get("name").Str() != "orders-of-today" {
		t.Errorf("%v (%v)", got.Get("name").Str(), err)
	}
	if _, err := s.Run("example:slug", `{words: " "}`, nil); err == nil || err.Error() != "cannot make a name: there are no words" {
		t.Errorf("action without words returned %v", err)
	}
}
