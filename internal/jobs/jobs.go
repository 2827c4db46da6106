// Package jobs runs tasks: soon, later, again or periodically, in this process or in
// another one that shares its database. It is a small API on top of a River queue: a
// task has a name and a function, a job is one task for one key, and of all jobs of the
// same task and key at most one waits and at most one runs, across all replicas.
//
// A job runs at least once. If its process is killed before the job ends, another
// process runs the job from the beginning, some seconds later. Tasks share the workers
// of a process, unless they have dedicated ones: a lane.
//
// It is one package because the queue in the database and the queue in the process have
// the same semantics, which are written once.
package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Defaults for zero values of Options and How.
const (
	defaultWorkers    = 8
	defaultTimeout    = time.Hour
	defaultAttempts   = 1
	defaultRetryDelay = time.Second
)

// Scheduled is the trigger of a job that a schedule created, if its How names no other.
const Scheduled = "schedule"

// Options configure the queue.
type Options struct {
	// Client is db.SQLite or db.Postgres.
	Client string
	// Path is the file of SQLite, which only the queue uses; its folder is created. One
	// process at a time uses it.
	Path string
	// URL is the connection string of PostgreSQL. It may contain a password and is never
	// shown.
	URL string
	// Workers is how many jobs run concurrently in this process, eight if it is zero, not
	// counting those of tasks with dedicated workers.
	Workers int
	// Log receives errors of tasks; nil discards them.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Registry, if not nil, gets the metrics of the queue.
	Registry prometheus.Registerer
	// Tracer, if not nil, makes a span of every attempt at a job.
	Tracer trace.Tracer

	// grace is how long after its timeout a running job is taken over, absence how long a
	// process must have no session before its jobs are taken over, and look the interval
	// of these checks. Tests shorten them.
	grace, absence, look time.Duration
}

// Task is a kind of work.
type Task struct {
	Name string
	// Run runs a job. Its context ends with the job's timeout and when the process stops;
	// Run must return soon after. An error, unless it is Later, or a panic is a failed
	// attempt. Run may be called concurrently for different keys.
	Run func(ctx context.Context, j Job) error
	// How, if not nil, returns the current settings of the job of a key. Its Timeout,
	// Attempts and RetryDelay override those that the job was stored with, possibly by a
	// process with another configuration. False keeps the stored ones.
	How func(key string) (How, bool)
	// Workers, unless it is zero, is how many jobs of the task run concurrently in this
	// process, on dedicated workers: the task and other tasks do not wait for each other's
	// workers. The name of such a task consists of lowercase letters, digits, and single
	// hyphens or underscores between them.
	Workers int
}

// Later returns the error with which Run postpones a job: the job runs again after a
// while, and takes no worker until then. This does not count as an attempt. Like all
// waiting jobs, a postponed job survives a restart of the process.
func Later(after time.Duration) error { return &later{after} }

type later struct{ after time.Duration }

// Error returns for how long the job is postponed.
func (l *later) Error() string { return fmt.Sprintf("postponed for %s", l.after) }

// Job is one task for one key.
type Job struct {
	// ID identifies the job in the log. A job that was taken over gets a new one.
	ID int64
	// Task is the name of the task, and Key distinguishes its jobs, such as by the name of
	// a source.
	Task, Key string
	// Attempt is 1 for the first attempt, and Attempts is the maximum. An attempt that
	// ended because the process stopped is not counted.
	Attempt, Attempts int
	// Trigger is what requested the job, and Args are its arguments.
	Trigger string
	Args    []byte
}

// How is how a job is run. The zero value is valid.
type How struct {
	// Trigger is what requests the job: schedule, manual, watch.
	Trigger string
	// Args is JSON for the task, a few kilobytes at most. White space and the order of
	// keys may change in storage.
	Args []byte
	// Timeout is for one attempt, an hour if it is zero. A job whose process was killed is
	// started again some seconds later, regardless of the timeout; with SQLite, when the
	// file is opened again. A job whose process is alive but does not end the job is
	// started again soon after the timeout.
	Timeout time.Duration
	// Attempts is the maximum number of attempts, one if it is zero, and RetryDelay the
	// time between them, a second if it is zero.
	Attempts   int
	RetryDelay time.Duration
	// After is the delay before the first attempt.
	After time.Duration
	// Hurry makes a job that waits, because of After or between two attempts, available at
	// once: a user is waiting for it.
	Hurry bool
	// Requeued reports that a job that is abandoned because its process ended too often is
	// queued again, by a schedule or by another component on any replica. Then that is not
	// logged as an error. Jobs of schedules have it set.
	Requeued bool
}

// kind is the only job kind in River; tasks are distinguished in this package.
const kind = "task"

// work is a job as it is stored.
type work struct {
	Task    string          `json:"task" river:"unique"`
	Key     string          `json:"key" river:"unique"`
	Trigger string          `json:"trigger"`
	Args    json.RawMessage `json:"args,omitempty"`
	// Timeout and RetryDelay are in seconds, which SQL can add to a time.
	Timeout    float64 `json:"timeout"`
	RetryDelay float64 `json:"retryDelay"`
	Attempts   int     `json:"attempts"`
	// Tried counts the attempts before the job was taken over, and Lost how often it was
	// taken over.
	Tried int `json:"tried,omitempty"`
	Lost  int `json:"lost,omitempty"`
	// Requeued is that of How.
	Requeued bool `json:"requeued,omitempty"`
}

// Kind returns the kind of the job in River.
func (work) Kind() string { return kind }

func newWork(task, key string, how How) work {
	w := work{Task: task, Key: key, Trigger: how.Trigger, Args: how.Args, Requeued: how.Requeued,
		Timeout: how.Timeout.Seconds(), RetryDelay: how.RetryDelay.Seconds(), Attempts: how.Attempts}
	if how.Timeout <= 0 {
		w.Timeout = defaultTimeout.Seconds()
	}
	if how.RetryDelay <= 0 {
		w.RetryDelay = defaultRetryDelay.Seconds()
	}
	if how.Attempts <= 0 {
		w.Attempts = defaultAttempts
	}
	return w
}

// now returns the job with the Timeout, Attempts and RetryDelay of how.
func (w work) now(how How) work {
	n := newWork(w.Task, w.Key, how)
	w.Timeout, w.RetryDelay, w.Attempts = n.Timeout, n.RetryDelay, n.Attempts
	return w
}

// name identifies a job in this process.
func (w work) name() string { return w.Task + "\x00" + w.Key }

func (w work) timeout() time.Duration    { return seconds(w.Timeout) }
func (w work) retryDelay() time.Duration { return seconds(w.RetryDelay) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
