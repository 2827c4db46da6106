package task

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// TestMuchLog logs many lines: their order is kept, memory is bounded, and lines
// above the limit are dropped.
func TestMuchLog(t *testing.T) {
	line := strings.Repeat("x", 10_000)
	var most uint64
	w := start(t, onSQLite(t), Options{Actions: []action.Action{newAction("test:much", func(_ context.Context, c *action.Call) error {
		for i := range 7000 {
			c.Logf("%d %s", i, line)
			if i%500 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		return nil
	})}})
	id := w.create(order(t, `{steps: [{id: a, name: Much, action: test:much}]}`, `{}`))
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted {
		t.Errorf("task is %s, want completed", got.Status)
	}
	if most > 64<<20 {
		t.Errorf("%d MiB were in use, want at most 64", most>>20)
	}
	n, after, dropped := 0, int64(0), 0
	var last string
	err := w.tasks.Follow(t.Context(), id, 0, func(events []taskstore.TaskEvent) error {
		for _, e := range events {
			if e.N != after+1 {
				return fmt.Errorf("event %d follows %d", e.N, after)
			}
			after, last = e.N, eventText(t, e)
			switch {
			case strings.HasPrefix(last, fmt.Sprintf("log|a||%d x", n)):
				n++
			case last == "log|a||The rest of the log is dropped: the task has written more than 64 MiB":
				dropped++
			case strings.HasPrefix(last, "log|a||"):
				return fmt.Errorf("after %d lines comes %.40s", n, last)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 6600 || n > 6800 || dropped != 1 || last != "completion|||Run completed with status: completed" {
		t.Errorf("%d lines arrived, the drop was reported %d times, and the last event is %s", n, dropped, last)
	}
}

// TestLongLine checks that a message that is too long is cut.
func TestLongLine(t *testing.T) {
	t.Parallel()
	w := start(t, onSQLite(t), Options{Actions: []action.Action{newAction("test:long", func(_ context.Context, c *action.Call) error {
		c.Logf("%s", strings.Repeat("ä", 100_000))
		c.Logf("%s", "bad \xff\x00 bytes")
		return nil
	})}})
	id := w.create(order(t, `{steps: [{id: a, name: Long, action: test:long}]}`, `{}`))
	w.waitForEnd(id)
	events := w.events(id)
	want := "log|a||" + strings.Repeat("ä", 32<<10) + "… (134464 more bytes omitted)"
	if events[2] != want {
		t.Errorf("line is %.60s… %s", events[2], events[2][max(0, len(events[2])-60):])
	}
	if events[3] != "log|a||bad \uFFFD\x00 bytes" {
		t.Errorf("line is %q", events[3])
	}
}

// TestLogAtOnce logs from many goroutines, of which some continue after the
// step: the lines of each stay in order, and lines after the end are dropped.
func TestLogAtOnce(t *testing.T) {
	t.Parallel()
	const speakers, lines = 8, 200
	var all sync.WaitGroup
	w := start(t, onSQLite(t), Options{Actions: []action.Action{newAction("test:chat", func(_ context.Context, c *action.Call) error {
		var now sync.WaitGroup
		for i := range speakers {
			now.Go(func() {
				for n := range lines {
					c.Logf("%d %d", i, n)
				}
			})
		}
		now.Wait()
		all.Go(func() {
			for range 20 {
				time.Sleep(5 * time.Millisecond)
				c.Logf("late")
			}
		})
		return nil
	})}})
	id := w.create(order(t, `{steps: [{id: a, name: Chat, action: test:chat}]}`, `{}`))
	w.waitForEnd(id)
	all.Wait()
	next := map[int]int{}
	events := w.events(id)
	for _, e := range events {
		var i, n int
		if _, err := fmt.Sscanf(e, "log|a||%d %d", &i, &n); err != nil {
			continue
		}
		if next[i] != n {
			t.Fatalf("goroutine %d has line %d, want %d", i, n, next[i])
		}
		next[i]++
	}
	for i := range speakers {
		if next[i] != lines {
			t.Errorf("goroutine %d has %d lines, want all", i, next[i])
		}
	}
	if last := events[len(events)-1]; last != "completion|||Run completed with status: completed" {
		t.Errorf("last event is %s", last)
	}
}
