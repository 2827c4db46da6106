package jobs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.dev/ingestor/internal/db"
)

var errDown = errors.New("connection refused")

// TestPersistEnds checks for how long writing the end of a job is retried while
// the database is unavailable: until another process may take over the job.
func TestPersistEnds(t *testing.T) {
	const timeout, grace, pause = time.Hour, time.Minute, 2 * time.Second
	cases := map[string]struct {
		reason string
		// down is for how long the database is unavailable, and stop when the queue stops.
		down, stop  time.Duration
		least, most time.Duration
		written     bool
	}{
		"Up":      {"The end of a job is written at once.", 0, 0, 0, 0, true},
		"Moment":  {"The end is written soon after the database is back.", time.Minute, 0, time.Minute, time.Minute + pause, true},
		"Long":    {"The job cannot be taken over before its timeout and the grace period.", timeout, 0, timeout, timeout + pause, true},
		"TooLong": {"After the grace period the job may belong to another process.", 10 * timeout, 0, timeout + grace, timeout + grace + pause, false},
		"Stop":    {"A queue that stops does not wait.", timeout, time.Minute, time.Minute, time.Minute + pause, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &Queue{opts: Options{Now: time.Now, grace: grace}, log: slog.New(slog.DiscardHandler)}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.stop > 0 {
					time.AfterFunc(tc.stop, cancel)
				}
				began, written := time.Now(), false
				q.persist(ctx, newWork("scan", "a", How{Timeout: timeout}), func(context.Context) error {
					if time.Since(began) < tc.down {
						return errDown
					}
					written = true
					return nil
				})
				if took := time.Since(began); took < tc.least || took > tc.most || written != tc.written {
					t.Errorf("%s: writing took %s, and the end was written: %v", tc.reason, took, written)
				}
			})
		})
	}
}

// TestAttemptEnds checks when the context of an attempt ends, and with which error the
// attempt fails then.
func TestAttemptEnds(t *testing.T) {
	const timeout = time.Minute
	waits := func(ctx context.Context, _ Job) error { <-ctx.Done(); return ctx.Err() }
	cases := map[string]struct {
		reason string
		run    func(ctx context.Context, j Job) error
		// stop is when the queue stops; zero means that it does not.
		stop, took time.Duration
		want       error
	}{
		"Success": {"A task that returns in time succeeds.", func(context.Context, Job) error { return nil }, 0, 0, nil},
		"Failure": {"The error of the task is returned.", func(context.Context, Job) error { return errDown }, 0, 0, errDown},
		"Timeout": {"The context ends at the timeout.", waits, 0, timeout, context.DeadlineExceeded},
		"Stop":    {"The context ends with that of the queue.", waits, time.Second, time.Second, context.Canceled},
		"Late":    {"A task that ignores its context is not interrupted.", func(context.Context, Job) error { time.Sleep(2 * timeout); return nil }, 0, 2 * timeout, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &Queue{log: slog.New(slog.DiscardHandler)}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.stop > 0 {
					time.AfterFunc(tc.stop, cancel)
				}
				began := time.Now()
				err := q.try(ctx, Task{Run: tc.run}, Job{}, timeout)
				if took := time.Since(began); took != tc.took || !errors.Is(err, tc.want) {
					t.Errorf("%s: attempt returned %v after %s, want %v after %s", tc.reason, err, took, tc.want, tc.took)
				}
			})
		})
	}
}

// flaky is an engine whose first inserts fail.
type flaky struct {
	engine
	failures atomic.Int32
}

func (f *flaky) insert(ctx context.Context, w work, opts *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	if f.failures.Add(-1) >= 0 {
		return nil, errDown
	}
	return f.engine.insert(ctx, w, opts)
}

// TestScheduleSurvivesOutage lets the database fail when scheduled jobs are due.
// All of them are queued later, although their next time is in an hour.
func TestScheduleSurvivesOutage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		down := &flaky{engine: q.engine}
		down.failures.Store(2)
		q.engine = down
		began := make(chan Job, 9)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; return nil }})
		missing := map[string]bool{"a": true, "b": true, "c": true}
		for key := range missing {
			q.Every("scan", key, time.Hour, How{})
		}
		run(t, q)
		for len(missing) > 0 {
			delete(missing, await(t, "a scheduled job", began).Key)
		}
	})
}

// TestLostAttempts takes over a job twice, each time in its second attempt. The
// first attempt counts; the lost one does not.
func TestLostAttempts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		add(t, q, "scan", "a", How{Attempts: 3, RetryDelay: 10 * time.Millisecond})
		for range 2 {
			_, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 2, attempted_at = '2020-01-01 00:00:00' WHERE state = 'available'")
			if err != nil {
				t.Fatal(err)
			}
			if err := q.takeOverLost(t.Context(), &lostProcesses{}); err != nil {
				t.Fatal(err)
			}
		}
		began := make(chan Job, 9)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { began <- j; return errDown }})
		run(t, q)
		if j := await(t, "the last attempt", began); j.Attempt != 3 || j.Attempts != 3 {
			t.Errorf("attempt after two lost ones is %+v, want the last of 3", j)
		}
		eventually(t, "the job is discarded", func() bool { s, _ := state(t, q, "a"); return s == "discarded" })
		if len(began) > 0 {
			t.Errorf("job was attempted once more: %+v", <-began)
		}
	})
}

// TestEachSettingIsCurrent stores jobs that differ from the current settings in
// one of them.
func TestEachSettingIsCurrent(t *testing.T) {
	t.Parallel()
	current := How{Timeout: 2 * time.Second, Attempts: 2, RetryDelay: 10 * time.Millisecond}
	cases := map[string]struct {
		reason string
		stored How
	}{
		"timeout":  {"An attempt ends after the current timeout.", How{Timeout: time.Hour, Attempts: current.Attempts, RetryDelay: current.RetryDelay}},
		"attempts": {"The current number of attempts applies.", How{Timeout: current.Timeout, Attempts: 5, RetryDelay: current.RetryDelay}},
		"delay":    {"The next attempt comes after the current delay.", How{Timeout: current.Timeout, Attempts: current.Attempts, RetryDelay: time.Hour}},
	}
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		var attempts [3]atomic.Int32
		index := map[string]int{"timeout": 0, "attempts": 1, "delay": 2}
		q.Handle(Task{
			Name: "scan",
			Run: func(ctx context.Context, j Job) error {
				attempts[index[j.Key]].Add(1)
				if j.Attempts != current.Attempts {
					t.Errorf("%s: job has %d attempts, want the current setting", j.Key, j.Attempts)
				}
				if j.Key == "timeout" {
					<-ctx.Done()
					return ctx.Err()
				}
				return errDown
			},
			How: func(string) (How, bool) { return current, true },
		})
		for key, tc := range cases {
			add(t, q, "scan", key, tc.stored)
		}
		run(t, q)
		for key, tc := range cases {
			eventually(t, tc.reason, func() bool { s, _ := state(t, q, key); return s == "discarded" })
			if n := attempts[index[key]].Load(); n != int32(current.Attempts) {
				t.Errorf("%s: job was attempted %d times", tc.reason, n)
			}
		}
	})
}

// TestFileIsPrivate checks that other users cannot read the files of SQLite, as
// the arguments of tasks may be confidential.
func TestFileIsPrivate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	q := open(t, Options{Client: db.SQLite, Path: filepath.Join(folder, "jobs.db"), Now: time.Now})
	add(t, q, "scan", "a", How{Args: []byte(`{"secret":"x"}`)})
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s, want no access for others", filepath.Base(path), info.Mode())
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files were checked (%v), want some", files, err)
	}
}
