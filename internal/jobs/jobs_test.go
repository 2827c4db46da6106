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

// TestRun checks that a job runs soon, with all its settings.
func TestRun(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		jobs := make(chan Job, 1)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { jobs <- j; return nil }})
		if !add(t, q, "scan", "a", How{Trigger: "manual", Args: []byte(`{"x":1}`), Attempts: 3}) {
			t.Error("first Add added no job")
		}
		waiting, err := q.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(map[string]int{"scan": 1}, waiting); d != "" {
			t.Errorf("waiting jobs (-want, +got):\n%s", d)
		}
		run(t, q)
		got := await(t, "the job", jobs)
		got.Args = []byte(strings.ReplaceAll(string(got.Args), " ", ""))
		want := Job{ID: got.ID, Task: "scan", Key: "a", Attempt: 1, Attempts: 3, Trigger: "manual", Args: []byte(`{"x":1}`)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("job (-want, +got):\n%s", d)
		}
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "a"); return s == "completed" })
		// The best of several measurements counts, as the machine may be busy.
		best := time.Hour
		for range 20 {
			began := time.Now()
			add(t, q, "scan", "a", How{})
			await(t, "the job", jobs)
			best = min(best, time.Since(began))
		}
		t.Logf("time from Add to the start of the job: %s", best)
		if best > 100*time.Millisecond {
			t.Errorf("fastest job started %s after Add, want at most 100ms", best)
		}
	})
}

// TestFailures checks tasks that fail in several ways.
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
			"fails":            {"A job is attempted once by default.", How{}, "discarded", "no such cluster", 1, 0},
			"fails thrice":     {"The delay between attempts is that of the job.", How{Attempts: 3, RetryDelay: time.Second}, "discarded", "no such cluster", 3, 1},
			"panics":           {"A panic is a failed attempt.", How{Attempts: 2, RetryDelay: time.Millisecond}, "discarded", "panic: out of paper", 2, 0},
			"takes too long":   {"The timeout is that of the job.", How{Timeout: 50 * time.Millisecond}, "discarded", "timeout of 50ms exceeded: context deadline exceeded", 1, 0},
			"succeeds at last": {"A successful attempt ends the job.", How{Attempts: 5, RetryDelay: time.Millisecond}, "completed", "no such cluster", 3, 0},
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
					t.Fatalf("%s: job was attempted %d times", c.reason, len(attempts[key]))
				}
				for i, j := range attempts[key] {
					if j.Attempt != i+1 {
						t.Errorf("%s: attempt %d has the number %d", c.reason, i+1, j.Attempt)
					}
				}
				delay := time.Duration(c.delay) * time.Second
				for i := 1; i < len(times[key]); i++ {
					gap := times[key][i].Sub(times[key][i-1])
					t.Logf("delay between two attempts: %s", gap)
					// The default delay of the queue would be 16 s after the second attempt; a busy
					// machine adds some.
					if gap < delay-50*time.Millisecond || gap > delay+10*time.Second {
						t.Errorf("%s: job was retried after %s", c.reason, gap)
					}
				}
			})
		}
	})
}

// TestAdd requests jobs that wait, run, or are scheduled for later.
func TestAdd(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		began, proceed := make(chan Job, 9), make(chan struct{})
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; <-proceed; return nil }})
		if !add(t, q, "scan", "a", How{}) || add(t, q, "scan", "a", How{}) {
			t.Error("Add added a second waiting job, or not the first")
		}
		if !add(t, q, "scan", "b", How{After: time.Hour}) || !add(t, q, "other", "a", How{After: time.Hour}) {
			t.Error("Add added no job, although only another key or task waits")
		}
		run(t, q)
		await(t, "the first", began)
		if !add(t, q, "scan", "a", How{Trigger: "watch"}) {
			t.Error("Add added no job while one runs")
		}
		if add(t, q, "scan", "a", How{Trigger: "manual"}) {
			t.Error("Add added a job while one runs and one waits")
		}
		proceed <- struct{}{}
		if j := await(t, "the second", began); j.Trigger != "watch" || j.Attempt != 1 {
			t.Errorf("second job is %+v, want the trigger watch and attempt 1", j)
		}
		proceed <- struct{}{}
		eventually(t, "no job of a is left", func() bool { s, _ := state(t, q, "a"); return s == "completed" || s == "scheduled" })
		if add(t, q, "scan", "b", How{Hurry: true}) {
			t.Error("Add added a second job for later")
		}
		if j := await(t, "the hurried job", began); j.Key != "b" {
			t.Errorf("hurried job is %+v, want key b", j)
		}
		proceed <- struct{}{}
		at := time.Now()
		add(t, q, "scan", "c", How{After: 500 * time.Millisecond})
		await(t, "the delayed job", began)
		if took := time.Since(at); took < 450*time.Millisecond {
			t.Errorf("delayed job started after %s", took)
		}
		proceed <- struct{}{}
		if len(began) > 0 {
			t.Errorf("another job ran: %+v", <-began)
		}
		if _, err := q.Add(t.Context(), "scan", "a", How{Args: []byte("{")}); err == nil || !strings.Contains(err.Error(), "not JSON") {
			t.Errorf("Add with invalid arguments returned %v, want an error", err)
		}
	})
}

var errEveryFifth = errors.New("every fifth fails")

// TestNothingIsLost has many callers request the same few jobs while they run,
// on two queues. No two jobs of a key run at the same time, and each runs once
// more after the last request.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		const keys, askers, asks = 3, 4, 25
		var asked, seen, running [keys]atomic.Int64
		var runs atomic.Int64
		task := Task{Name: "scan", Run: func(_ context.Context, j Job) error {
			k := int(j.Key[0] - 'a')
			if running[k].Add(1) > 1 {
				t.Errorf("two jobs of %s ran at the same time", j.Key)
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
		// Both are opened before one runs, as SQLite takes running jobs for abandoned.
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
			eventually(t, "a job ran after the last request", func() bool { return seen[k].Load() == asked[k].Load() })
		}
		t.Logf("%d requests, %d runs", askers*asks, runs.Load())
	})
}

// TestEvery checks that two queues share schedules.
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
			q.Every("scan", "often", time.Hour, How{}) // The later call counts.
			q.Every("scan", "often", every, How{})
			q.Every("scan", "seldom", time.Hour, How{})
			run(t, q)
		}
		eventually(t, "seven ticks", func() bool { mu.Lock(); defer mu.Unlock(); return len(began["often"]) >= 7 })
		mu.Lock()
		defer mu.Unlock()
		if len(began["seldom"]) != 1 {
			t.Errorf("hourly schedule ran %d times, want once", len(began["seldom"]))
		}
		if triggers[0] != Scheduled {
			t.Errorf("trigger is %q, want scheduled", triggers[0])
		}
		// A tick may be late on a busy machine, but there are no extra ticks.
		all := began["often"]
		if took := all[len(all)-1].Sub(all[0]); took < time.Duration(len(all)-2)*every {
			t.Errorf("schedule ran %d times in %s, want fewer", len(all), took)
		}
	})
}

// TestStop stops a queue while a job runs. The next queue runs the job again as
// its first attempt.
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
			t.Errorf("job after the stop is %s with the failure %s, want it available without one", s, failure)
		}
		if err := first.Run(t.Context()); err == nil {
			t.Error("Run succeeded a second time, want an error")
		}
		second := open(t, opts)
		second.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; return nil }})
		run(t, second)
		if j := await(t, "the second", began); j.Attempt != 1 {
			t.Errorf("second job is %+v, want attempt 1", j)
		}
	})
}

// TestMistakes checks what Open and Run refuse.
func TestMistakes(t *testing.T) {
	t.Parallel()
	file := t.TempDir()
	opens := map[string]struct {
		reason string
		opts   Options
		want   string
	}{
		"NoClient": {"An unknown client is refused by name.", Options{Client: "mysql"}, `cannot open the queue: there is no client "mysql"; use "sqlite" or "pg"`},
		"Folder":   {"A folder is not a database.", Options{Client: db.SQLite, Path: file}, "cannot open the queue " + file + ": "},
		"URL":      {"An invalid connection string is not shown.", Options{Client: db.Postgres, URL: "postgres://u:secret@%zz"}, "invalid connection string"},
		"Closed":   {"A server that does not listen is an error.", Options{Client: db.Postgres, URL: "postgres://u:secret@127.0.0.1:1/x?sslmode=disable"}, "cannot open the queue: "},
	}
	for name, c := range opens {
		t.Run(name, func(t *testing.T) {
			c.opts.Now = time.Now
			_, err := Open(t.Context(), c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: Open returned %v", c.reason, err)
			}
		})
	}
	fine := Task{Name: "scan", Run: func(context.Context, Job) error { return nil }}
	runs := map[string]struct {
		reason string
		set    func(q *Queue)
		want   string
	}{
		"NoName":  {"A task needs a name.", func(q *Queue) { q.Handle(Task{Run: fine.Run}) }, "it needs a name and a function"},
		"Unknown": {"A scheduled task must be handled.", func(q *Queue) { q.Every("skan", "a", time.Hour, How{}) }, `cannot schedule task "skan" for "a": the task is not handled`},
		"Lane":    {"A task with dedicated workers needs a plain name.", func(q *Queue) { q.Handle(Task{Name: "A b", Run: fine.Run, Workers: 1}) }, `cannot handle task "A b" with 1 workers of its own: `},
		"Never":   {"An interval of zero is refused.", func(q *Queue) { q.Every("scan", "a", 0, How{}) }, "every 0s is not possible"},
	}
	for name, c := range runs {
		t.Run(name, func(t *testing.T) {
			q := open(t, Options{Client: db.SQLite, Path: t.TempDir() + "/jobs.db", Now: time.Now})
			q.Handle(fine)
			c.set(q)
			if err := q.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: Run returned %v", c.reason, err)
			}
		})
	}
}

// TestNewer opens a queue with the schema of a newer version.
func TestNewer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		if _, err := q.db.ExecContext(t.Context(), "INSERT INTO river_migration (line, version) VALUES ('main', 9999)"); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), opts)
		if err == nil || !strings.Contains(err.Error(), "its tables have version 9999, and this program supports up to ") {
			t.Error(err)
		}
	})
}
