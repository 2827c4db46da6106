package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/db"
)

// TestRun has a job done, with everything that was said about it, and soon.
func TestRun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		jobs := make(chan Job, 1)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { jobs <- j; return nil }})
		if !add(t, q, "scan", "a", How{Trigger: "manual", Args: []byte(`{"x":1}`), Attempts: 3}) {
			t.Error("the first Add added nothing")
		}
		waiting, err := q.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(map[string]int{"scan": 1}, waiting); d != "" {
			t.Errorf("what waits (-want, +got):\n%s", d)
		}
		run(t, q)
		got := await(t, "the job", jobs)
		got.Args = []byte(strings.ReplaceAll(string(got.Args), " ", ""))
		want := Job{ID: got.ID, Task: "scan", Key: "a", Attempt: 1, Attempts: 3, Trigger: "manual", Args: []byte(`{"x":1}`)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the job (-want, +got):\n%s", d)
		}
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "a"); return s == "completed" })
		// What counts is what is possible: the machine may have other work.
		best := time.Hour
		for range 20 {
			began := time.Now()
			add(t, q, "scan", "a", How{})
			await(t, "the job", jobs)
			best = min(best, time.Since(began))
		}
		t.Logf("from Add to its beginning: %s", best)
		if best > 100*time.Millisecond {
			t.Errorf("the quickest job began %s after Add", best)
		}
	})
}

// TestFailures has tasks fail in several ways.
func TestFailures(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		var mu sync.Mutex
		attempts := map[string][]Job{}
		times := map[string][]time.Time{}
		q.Handle(Task{Name: "fail", Run: func(ctx context.Context, j Job) error {
			mu.Lock()
			attempts[j.Key] = append(attempts[j.Key], j)
			times[j.Key] = append(times[j.Key], time.Now())
			mu.Unlock()
			switch {
			case j.Key == "panics":
				panic("out of paper")
			case j.Key == "takes too long":
				<-ctx.Done()
				return fmt.Errorf("cannot list: %w", ctx.Err())
			case j.Key == "succeeds at last" && j.Attempt == 3:
				return nil
			}
			return errors.New("no such cluster")
		}})
		run(t, q)
		cases := map[string]struct {
			reason          string
			how             How
			state, failure  string
			attempts, delay int
		}{
			"fails":            {"a job is tried once unless more is asked for", How{}, "discarded", "no such cluster", 1, 0},
			"fails thrice":     {"the delay is what was asked for", How{Attempts: 3, RetryDelay: time.Second}, "discarded", "no such cluster", 3, 1},
			"panics":           {"a panic is a failed attempt", How{Attempts: 2, RetryDelay: time.Millisecond}, "discarded", "the task panicked: out of paper", 2, 0},
			"takes too long":   {"the timeout is the job's", How{Timeout: 50 * time.Millisecond}, "discarded", "it took longer than 50ms: context deadline exceeded", 1, 0},
			"succeeds at last": {"a success ends it", How{Attempts: 5, RetryDelay: time.Millisecond}, "completed", "no such cluster", 3, 0},
		}
		for key, c := range cases {
			add(t, q, "fail", key, c.how)
		}
		for key, c := range cases {
			t.Run(key, func(t *testing.T) {
				var got, failure string
				eventually(t, "it ended", func() bool {
					got, failure = state(t, q, key)
					return got == "completed" || got == "discarded"
				})
				if d := cmp.Diff([]string{c.state, c.failure}, []string{got, failure}); d != "" {
					t.Errorf("%s (-want, +got):\n%s", c.reason, d)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(attempts[key]) != c.attempts {
					t.Fatalf("%s: %d attempts", c.reason, len(attempts[key]))
				}
				for i, j := range attempts[key] {
					if j.Attempt != i+1 {
						t.Errorf("%s: attempt %d calls itself %d", c.reason, i+1, j.Attempt)
					}
				}
				delay := time.Duration(c.delay) * time.Second
				for i := 1; i < len(times[key]); i++ {
					gap := times[key][i].Sub(times[key][i-1])
					t.Logf("between two attempts: %s", gap)
					// The queue's own delay would be 16 s after the second attempt; a busy machine adds some.
					if gap < delay-50*time.Millisecond || gap > delay+10*time.Second {
						t.Errorf("%s: it was tried again after %s", c.reason, gap)
					}
				}
			})
		}
	})
}

// TestAdd asks for jobs that wait, run, or wait for later.
func TestAdd(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		began, proceed := make(chan Job, 9), make(chan struct{})
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; <-proceed; return nil }})
		if !add(t, q, "scan", "a", How{}) || add(t, q, "scan", "a", How{}) {
			t.Error("while one waits another was added, or the first was not")
		}
		if !add(t, q, "scan", "b", How{After: time.Hour}) || !add(t, q, "other", "a", How{After: time.Hour}) {
			t.Error("a job of another key or task is in the way")
		}
		run(t, q)
		await(t, "the first", began)
		if !add(t, q, "scan", "a", How{Trigger: "watch"}) {
			t.Error("while one runs none was added")
		}
		if add(t, q, "scan", "a", How{Trigger: "manual"}) {
			t.Error("while one runs and one waits another was added")
		}
		proceed <- struct{}{}
		if j := await(t, "the second", began); j.Trigger != "watch" || j.Attempt != 1 {
			t.Errorf("the second is %+v", j)
		}
		proceed <- struct{}{}
		eventually(t, "nothing of a is left", func() bool { s, _ := state(t, q, "a"); return s == "completed" || s == "scheduled" })
		if add(t, q, "scan", "b", How{Hurry: true}) {
			t.Error("one that waits for later was added once more")
		}
		if j := await(t, "the one in a hurry", began); j.Key != "b" {
			t.Errorf("in a hurry is %+v", j)
		}
		proceed <- struct{}{}
		at := time.Now()
		add(t, q, "scan", "c", How{After: 500 * time.Millisecond})
		await(t, "the one after a moment", began)
		if took := time.Since(at); took < 450*time.Millisecond {
			t.Errorf("it began after %s", took)
		}
		proceed <- struct{}{}
		if len(began) > 0 {
			t.Errorf("another ran: %+v", <-began)
		}
		if _, err := q.Add(t.Context(), "scan", "a", How{Args: []byte("{")}); err == nil || !strings.Contains(err.Error(), "not JSON") {
			t.Errorf("bad arguments: %v", err)
		}
	})
}

var errEveryFifth = errors.New("every fifth fails")

// TestNothingIsLost has many ask for the same few jobs while they run, on two
// queues. No two run at once, and after the last who asked each runs once more.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		const keys, askers, asks = 3, 4, 25
		var asked, seen, running [keys]atomic.Int64
		var runs atomic.Int64
		task := Task{Name: "scan", Run: func(_ context.Context, j Job) error {
			k := int(j.Key[0] - 'a')
			if running[k].Add(1) > 1 {
				t.Errorf("two jobs of %s run at once", j.Key)
			}
			n := asked[k].Load()
			time.Sleep(5 * time.Millisecond)
			for {
				old := seen[k].Load()
				if old >= n || seen[k].CompareAndSwap(old, n) {
					break
				}
			}
			running[k].Add(-1)
			if runs.Add(1)%5 == 0 {
				return errEveryFifth
			}
			return nil
		}}
		// Both are open before one runs: SQLite takes what runs for abandoned.
		queues := []*Queue{open(t, opts), open(t, opts)}
		for _, q := range queues {
			q.Handle(task)
			run(t, q)
		}
		var group sync.WaitGroup
		for a := range askers {
			group.Go(func() {
				for i := range asks {
					k := (a + i) % keys
					asked[k].Add(1)
					if _, err := queues[a%2].Add(t.Context(), "scan", string(rune('a'+k)), How{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for k := range keys {
			eventually(t, "the last who asked was heard", func() bool { return seen[k].Load() == asked[k].Load() })
		}
		t.Logf("%d asks, %d runs", askers*asks, runs.Load())
	})
}

// TestEvery has two queues share schedules.
func TestEvery(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		const every = 500 * time.Millisecond
		var mu sync.Mutex
		began := map[string][]time.Time{}
		var triggers []string
		queues := []*Queue{open(t, opts), open(t, opts)}
		for _, q := range queues {
			q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
				mu.Lock()
				defer mu.Unlock()
				began[j.Key] = append(began[j.Key], time.Now())
				triggers = append(triggers, j.Trigger)
				return nil
			}})
			q.Every("scan", "often", time.Hour, How{}) // The next one counts.
			q.Every("scan", "often", every, How{})
			q.Every("scan", "seldom", time.Hour, How{})
			run(t, q)
		}
		eventually(t, "seven ticks", func() bool { mu.Lock(); defer mu.Unlock(); return len(began["often"]) >= 7 })
		mu.Lock()
		defer mu.Unlock()
		if len(began["seldom"]) != 1 {
			t.Errorf("an hour's schedule ran %d times", len(began["seldom"]))
		}
		if triggers[0] != Scheduled {
			t.Errorf("the trigger is %q", triggers[0])
		}
		// A tick may be late on a busy machine, but ticks are not more than
		// there are.
		all := began["often"]
		if took := all[len(all)-1].Sub(all[0]); took < time.Duration(len(all)-2)*every {
			t.Errorf("%d ticks in %s", len(all), took)
		}
	})
}

// TestStop stops a queue while a job runs. The next queue does it, and as if it
// were the first.
func TestStop(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		began := make(chan Job, 1)
		first := open(t, opts)
		first.Handle(Task{Name: "scan", Run: func(ctx context.Context, j Job) error {
			began <- j
			<-ctx.Done()
			return errors.New("the connection was closed")
		}})
		stop := run(t, first)
		add(t, first, "scan", "a", How{})
		await(t, "the first", began)
		stop()
		if s, failure := state(t, first, "a"); s != "available" || failure != "" {
			t.Errorf("after the stop it is %s %s", s, failure)
		}
		if err := first.Run(t.Context()); err == nil {
			t.Error("it ran twice")
		}
		second := open(t, opts)
		second.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; return nil }})
		run(t, second)
		if j := await(t, "the second", began); j.Attempt != 1 {
			t.Errorf("the second is %+v", j)
		}
	})
}

// TestMistakes are what Open and Run refuse.
func TestMistakes(t *testing.T) {
	t.Parallel()
	file := t.TempDir()
	opens := map[string]struct {
		reason string
		opts   Options
		want   string
	}{
		"NoClient": {"the client is named", Options{Client: "mysql"}, `cannot open the queue: there is no client "mysql"; use "sqlite" or "pg"`},
		"Folder":   {"a folder is no database", Options{Client: db.SQLite, Path: file}, "cannot open the queue " + file + ": "},
		"URL":      {"a connection string that cannot be read is not shown", Options{Client: db.Postgres, URL: "postgres://u:secret@%zz"}, "its connection string cannot be read"},
		"Nobody":   {"nobody listens there", Options{Client: db.Postgres, URL: "postgres://u:secret@127.0.0.1:1/x?sslmode=disable"}, "cannot open the queue: "},
	}
	for name, c := range opens {
		t.Run(name, func(t *testing.T) {
			c.opts.Now = time.Now
			_, err := Open(t.Context(), c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
	fine := Task{Name: "scan", Run: func(context.Context, Job) error { return nil }}
	runs := map[string]struct {
		reason string
		set    func(q *Queue)
		want   string
	}{
		"NoName":  {"a task has a name", func(q *Queue) { q.Handle(Task{Run: fine.Run}) }, "it needs a name and a function"},
		"Unknown": {"what is scheduled is handled", func(q *Queue) { q.Every("skan", "a", time.Hour, How{}) }, `cannot schedule task "skan" for "a": nobody handles it`},
		"Lane":    {"what has workers of its own has a plain name", func(q *Queue) { q.Handle(Task{Name: "A b", Run: fine.Run, Workers: 1}) }, `cannot handle task "A b" with 1 workers of its own: `},
		"Never":   {"every nothing is too often", func(q *Queue) { q.Every("scan", "a", 0, How{}) }, "every 0s is not possible"},
	}
	for name, c := range runs {
		t.Run(name, func(t *testing.T) {
			q := open(t, Options{Client: db.SQLite, Path: t.TempDir() + "/jobs.db", Now: time.Now})
			q.Handle(fine)
			c.set(q)
			if err := q.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}

// TestNewer opens a queue that a newer program has changed.
func TestNewer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		if _, err := q.db.ExecContext(t.Context(), "INSERT INTO river_migration (line, version) VALUES ('main', 9999)"); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), opts)
		if err == nil || !strings.Contains(err.Error(), "its tables have version 9999, and this program knows ") {
			t.Error(err)
		}
	})
}
