package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/scaffolder/taskstore"
)

// TestFollow follows a task of the same process, and one of another process: log
// lines arrive while the step runs. A follower that is slow, leaves or fails
// does not block the others.
func TestFollow(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"Here": false, "Elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			say, proceed := make(chan string), make(chan struct{})
			talk := newAction("test:talk", func(_ context.Context, c *action.Call) error {
				for s := range say {
					c.Logf("%s", s)
				}
				<-proceed
				return nil
			})
			at := onPostgres(t)
			w := start(t, at, Options{Actions: []action.Action{talk}})
			follower := w
			if elsewhere {
				follower = open(t, at, Options{})
			}
			id := w.create(order(t, `{steps: [{id: a, name: Talk, action: test:talk}]}`, `{}`))
			heard := make(chan string, 100)
			var followers sync.WaitGroup
			follow := func(ctx context.Context, after int64, want error, each func([]taskstore.TaskEvent) error) {
				followers.Go(func() {
					if err := follower.tasks.Follow(ctx, id, after, each); !errors.Is(err, want) {
						t.Errorf("Follow ended with %v, want %v", err, want)
					}
				})
			}
			hear := func(events []taskstore.TaskEvent) error {
				for _, e := range events {
					heard <- eventText(t, e)
				}
				return nil
			}
			stuck := make(chan struct{})
			leaving, leave := context.WithCancel(t.Context())
			broken := errors.New("the client is gone")
			follow(t.Context(), 0, nil, hear)
			follow(t.Context(), 0, nil, func([]taskstore.TaskEvent) error { <-stuck; return nil })
			follow(leaving, 0, context.Canceled, func([]taskstore.TaskEvent) error { leave(); return nil })
			follow(t.Context(), 0, broken, func([]taskstore.TaskEvent) error { return broken })
			var got []string
			for range 2 {
				got = append(got, await(t, "the beginning", heard))
			}
			var worst time.Duration
			for i := range 10 {
				began := time.Now()
				say <- fmt.Sprint(i)
				got = append(got, await(t, "the log line", heard))
				worst = max(worst, time.Since(began))
			}
			t.Logf("lines arrived after at most %s", worst)
			close(say)
			close(proceed)
			got = append(got, await(t, "the end", heard), await(t, "the end", heard))
			close(stuck)
			followers.Wait()
			if diff := cmp.Diff(w.events(id), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			follower.tasks.hub.mu.Lock()
			if n, stop := len(follower.tasks.hub.topics), follower.tasks.hub.stop; n != 0 || stop != nil {
				t.Errorf("%d tasks are still followed", n)
			}
			follower.tasks.hub.mu.Unlock()

			// The task is over: a late follower gets the events at once.
			for after, want := range map[int64]int{0: 14, 3: 11, 13: 1, 14: 0, 99: 0} {
				n := 0
				err := follower.tasks.Follow(t.Context(), id, after, func(e []taskstore.TaskEvent) error { n += len(e); return nil })
				if err != nil || n != want {
					t.Errorf("after event %d there are %d events, want %d: %v", after, n, want, err)
				}
			}
		})
	}
}
