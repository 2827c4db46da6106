package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/process"
)

// childEnv makes the test program a process that runs a queue, given as JSON,
// until it is killed.
const childEnv = "JOBS_TEST_CHILD"

// child prints the jobs that start and never ends them.
func child() {
	var opts Options
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &opts); err != nil {
		panic(err)
	}
	opts.Now = time.Now
	ctx, cancel := context.WithCancel(context.Background())
	// The parent process may end first.
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel(); os.Exit(1) }()
	q, err := patientOpen(ctx, opts)
	if err != nil {
		panic(err)
	}
	work := func(_ context.Context, j Job) error {
		fmt.Println(j.Key)
		if j.Key == "tick" {
			return nil
		}
		select {}
	}
	q.Handle(Task{Name: "scan", Run: work})
	q.Handle(Task{Name: "own", Run: work, Workers: 2})
	q.Every("scan", "tick", 500*time.Millisecond, How{Timeout: time.Second})
	fmt.Println("ready")
	panic(q.Run(ctx))
}

// startChild starts a child, and returns its output and a function that kills
// it.
func startChild(t *testing.T, opts Options) (says <-chan string, kill func()) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Client": opts.Client, "Path": opts.Path, "URL": opts.URL})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
	}()
	kill = func() {
		_ = cmd.Process.Kill() // The child may have ended already.
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	return lines, kill
}

// awaitLine waits for a line of a child.
func awaitLine(t *testing.T, says <-chan string, want string) {
	t.Helper()
	for await(t, want, says) != want {
	}
}

// TestKilled kills a process in the middle of a job, which is also the leader.
// Another process runs the job and the schedules.
func TestKilled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		asker := open(t, opts)
		says, kill := startChild(t, opts)
		awaitLine(t, says, "tick")
		add(t, asker, "scan", "a", How{Timeout: time.Second, Attempts: 2})
		awaitLine(t, says, "a")
		kill()
		killed := time.Now()

		opts.grace, opts.look = time.Second, 100*time.Millisecond
		began, ticks := make(chan Job, 10), make(chan Job, 100)
		q := open(t, opts)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
			if j.Key == "tick" {
				ticks <- j
				return nil
			}
			began <- j
			return nil
		}})
		q.Every("scan", "tick", 500*time.Millisecond, How{Timeout: time.Second})
		run(t, q)
		if j := await(t, "the job", began); j.Attempt != 1 || j.Attempts != 2 {
			t.Errorf("job was taken over as %+v, want attempt 1 of 2", j)
		}
		t.Logf("job was taken over after %s", time.Since(killed))
		await(t, "a tick", ticks)
		await(t, "another tick", ticks)
		t.Logf("schedules continued after %s", time.Since(killed))
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "a"); return s == "completed" })
	})
}

// TestKilledSoon kills a process in the middle of jobs with a timeout of an
// hour. Another process runs them some seconds later, in their lanes: with
// PostgreSQL one that runs already, with SQLite one that starts then.
func TestKilledSoon(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		asker := open(t, opts)
		asker.Handle(Task{Name: "own", Run: func(context.Context, Job) error { return nil }, Workers: 2})
		says, kill := startChild(t, opts)
		awaitLine(t, says, "ready")
		for task, key := range map[string]string{"scan": "a", "own": "b"} {
			add(t, asker, task, key, How{Timeout: time.Hour})
			awaitLine(t, says, key)
		}
		if opts.Client == db.SQLite {
			kill()
		}
		began := make(chan Job, 1000)
		work := func(_ context.Context, j Job) error { began <- j; return nil }
		q := open(t, opts)
		q.Handle(Task{Name: "scan", Run: work})
		q.Handle(Task{Name: "own", Run: work, Workers: 2})
		run(t, q)
		kill()
		killed := time.Now()
		for left := map[string]bool{"a": true, "b": true}; len(left) > 0; {
			j := await(t, "the job", began)
			if j.Key == "tick" {
				continue
			}
			delete(left, j.Key)
			if j.Attempt != 1 {
				t.Errorf("job was taken over as %+v, want attempt 1", j)
			}
			t.Logf("%s was taken over after %s", j.Key, time.Since(killed))
		}
		for key, lane := range map[string]string{"a": "default", "b": "task-own"} {
			eventually(t, "the job is completed", func() bool { s, _ := state(t, q, key); return s == "completed" })
			if got := laneOf(t, q, key); got != lane {
				t.Errorf("%s ran in lane %q", key, got)
			}
		}
	})
}

// TestAbsent has a process disappear, return and disappear for good. Its job is
// taken over only after the process was not seen for a while.
func TestAbsent(t *testing.T) {
	t.Parallel()
	url := shared.Database(t)
	now := time.Now()
	q := open(t, Options{Client: db.Postgres, URL: url, Now: func() time.Time { return now }})
	add(t, q, "scan", "a", How{})
	_, err := q.db.ExecContext(t.Context(),
		"UPDATE river_job SET state = 'running', attempt = 2, attempted_at = now(), attempted_by = ARRAY[$1, 'gone']", q.id)
	if err != nil {
		t.Fatal(err)
	}
	lost := &lostProcesses{}
	looks := func(after time.Duration, reason, want string) {
		t.Helper()
		now = now.Add(after)
		if err := q.takeOverLost(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
		if s, _ := state(t, q, "a"); s != want {
			t.Fatalf("%s: job is %s", reason, s)
		}
	}
	looks(time.Hour, "the first check proves nothing", "running")
	looks(absence-time.Second, "the process was not absent for long enough", "running")

	session, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	session.RuntimeParams["application_name"] = sessions + "gone"
	conn, err := pgx.ConnectConfig(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	looks(time.Hour, "the process has a session", "running")
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is closed", func() bool {
		ids, err := q.connected(t.Context())
		return err == nil && !ids["gone"]
	})
	looks(time.Hour, "the process was seen at the last check", "running")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.takeOverLost(ended, lost); err == nil {
		t.Error("failed check returned no error")
	}
	looks(time.Hour, "no process could be seen at the last check", "running")
	looks(absence, "the process was absent for long enough", "available")
}

// laneOf returns the lane of the newest job of a key.
func laneOf(t *testing.T, q *Queue, key string) (lane string) {
	t.Helper()
	err := q.db.QueryRowContext(t.Context(), "SELECT queue FROM river_job WHERE args ->> 'key' = $1 ORDER BY id DESC LIMIT 1", key).Scan(&lane)
	if err != nil {
		t.Fatal(err)
	}
	return lane
}

// TestLost takes over a job repeatedly until it is discarded. That is an error
// only if the job is not queued again.
func TestLost(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		how    How
		want   string
	}{
		"Once":     {"A job that is not queued again ends with an error.", How{}, `level=ERROR msg="job ended: its process ended too often; it will not be queued again" task=scan key=a times=6`},
		"Requeued": {"A job that another replica queues again ends with a notice.", How{Requeued: true}, `level=INFO msg="job ended: its process ended too often; it will be queued again" task=scan key=a times=6`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, opts Options) {
				var log process.Log
				opts.Log = slog.New(slog.NewTextHandler(&log, nil))
				q := open(t, opts)
				add(t, q, "scan", "a", tc.how)
				for n := range mostLost + 1 {
					if s, _ := state(t, q, "a"); s != "available" {
						t.Fatalf("after %d takeovers the job is %s, want available", n, s)
					}
					_, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = '2020-01-01 00:00:00' WHERE state = 'available'")
					if err != nil {
						t.Fatal(err)
					}
					if err := q.takeOverLost(t.Context(), &lostProcesses{}); err != nil {
						t.Fatal(err)
					}
				}
				if s, failure := state(t, q, "a"); s != "discarded" || failure != errLost.Error() {
					t.Errorf("job ended as %s: %s, want it discarded", s, failure)
				}
				if !strings.Contains(log.String(), tc.want) {
					t.Errorf("%s: log is\n%s\nwant %s", tc.reason, log.String(), tc.want)
				}
			})
		})
	}
}

// TestNotOverdue checks that a job that may still run is not taken over.
func TestNotOverdue(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		add(t, q, "scan", "a", How{Timeout: 2 * time.Hour})
		_, err := q.db.ExecContext(t.Context(), "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = created_at")
		if err != nil {
			t.Fatal(err)
		}
		if err := q.takeOverLost(t.Context(), &lostProcesses{}); err != nil {
			t.Fatal(err)
		}
		if s, _ := state(t, q, "a"); s != "running" {
			t.Errorf("job is %s, want running", s)
		}
	})
}

// TestDeadLeader checks that schedules run although the lease of a leader that
// is gone lasts another hour.
func TestDeadLeader(t *testing.T) {
	t.Parallel()
	opts := Options{Client: db.Postgres, URL: shared.Database(t), Now: time.Now}
	q := open(t, opts)
	_, err := q.db.ExecContext(t.Context(), "INSERT INTO river_leader (leader_id, elected_at, expires_at) VALUES ('gone', now(), now() + interval '1 hour')")
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan Job, 9)
	q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error { ticks <- j; return nil }})
	q.Every("scan", "tick", time.Hour, How{Timeout: time.Second})
	run(t, q)
	await(t, "the tick", ticks)

	// A leader that is alive stays.
	other := open(t, opts)
	connected, err := other.connected(t.Context())
	if err == nil {
		err = other.depose(t.Context(), connected)
	}
	if err != nil {
		t.Fatal(err)
	}
	var leader string
	if err := q.db.QueryRowContext(t.Context(), "SELECT leader_id FROM river_leader").Scan(&leader); err != nil || leader != q.id {
		t.Errorf("leader is %q, want %q: %v", leader, q.id, err)
	}
}

// TestSlow has a task ignore its timeout. The job is taken over, does not run
// concurrently, and runs once more.
func TestSlow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		opts.grace, opts.look = 50*time.Millisecond, 20*time.Millisecond
		q := open(t, opts)
		var running atomic.Int64
		began, proceed := make(chan int64, 9), make(chan struct{})
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
			began <- running.Add(1)
			defer running.Add(-1)
			<-proceed
			return nil
		}})
		run(t, q)
		add(t, q, "scan", "a", How{Timeout: 50 * time.Millisecond})
		await(t, "the job", began)
		eventually(t, "the job is taken over", func() bool { s, _ := state(t, q, "a"); return s != "running" })
		proceed <- struct{}{}
		if n := await(t, "the other job", began); n != 1 {
			t.Errorf("%d jobs run at the same time, want 1", n)
		}
		close(proceed)
		eventually(t, "the job is completed", func() bool { s, _ := state(t, q, "a"); return s == "completed" })
	})
}
