package scaffolder_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

// holds are the steps that wait for a test, by name.
var holds = struct {
	mu    sync.Mutex
	begun map[string]chan struct{}
	freed map[string]chan struct{}
}{begun: map[string]chan struct{}{}, freed: map[string]chan struct{}{}}

// channelOf returns the channel of a name.
func channelOf(of map[string]chan struct{}, name string) chan struct{} {
	holds.mu.Lock()
	defer holds.mu.Unlock()
	if of[name] == nil {
		of[name] = make(chan struct{})
	}
	return of[name]
}

// hold is an action that waits until a test releases it, even if its task is
// cancelled. It stands for actions that cannot be interrupted.
var hold = action.Action{
	ID: "test:hold", Description: "Waits for a test", Input: tree.Obj(tree.F("type", tree.Str("object"))),
	Run: func(_ context.Context, c *action.Call) error {
		name := c.Input.Get("name").Str()
		free := channelOf(holds.freed, name)
		close(channelOf(holds.begun, name))
		<-free
		return nil
	},
}

// holdStep returns a step that waits.
func holdStep(name string) string {
	return "{id: hold, action: 'test:hold', input: {name: " + name + "}}"
}

// waitForHold waits until a step has begun to wait.
func waitForHold(t *testing.T, name string) {
	t.Helper()
	// The step ends with the test in any case, and the next step of that name
	// waits again.
	t.Cleanup(func() {
		release(name)
		holds.mu.Lock()
		defer holds.mu.Unlock()
		delete(holds.begun, name)
		delete(holds.freed, name)
	})
	select {
	case <-channelOf(holds.begun, name):
	case <-time.After(patience):
		t.Fatal("step does not begin")
	}
}

// release ends the wait of a step.
func release(name string) {
	free := channelOf(holds.freed, name)
	holds.mu.Lock()
	defer holds.mu.Unlock()
	select {
	case <-free:
	default:
		close(free)
	}
}
