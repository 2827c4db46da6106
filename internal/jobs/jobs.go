// Package jobs runs tasks: what is to be done soon, later, again or every ten
// minutes, by this process or by another that shares its database. It is a
// River queue behind a small surface: a task has a name and a function, a job
// is one task for one key, and of two jobs of the same task and key at most one
// waits and at most one runs, wherever.
//
// A job is done at least once. What its process did not bring to an end because
// it was killed, another does from the beginning, some seconds later. Tasks share
// the workers of a process, unless they have some of their own: a lane.
package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What How says when it says nothing.
const (
	defaultWorkers    = 8
	defaultTimeout    = time.Hour
	defaultAttempts   = 1
	defaultRetryDelay = time.Second
)

// Scheduled is the trigger of a job that a schedule made, if its How names no
// other.
const Scheduled = "schedule"

// Options are where the queue is and how it works.
type Options struct {
	// Client is store.SQLite or store.Postgres.
	Client string
	// Path is the file of SQLite, which the queue has for itself; its folder is
	// made. One process at a time uses it.
	Path string
	// URL is the connection string of PostgreSQL. It may hold a password and is
	// never shown.
	URL string
	// Workers is how many jobs run at once here, eight if it is zero, without
	// those of tasks that have workers of their own.
	Workers int
	// Log is told what went wrong with a task; nil is nobody.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Registry has the numbers of the queue, unless it is nil.
	Registry prometheus.Registerer

	// grace is how long after its timeout a job that still runs is taken from
	// whoever runs it, absence how long a process must be unseen until its jobs
	// are, and look how often somebody looks. Tests are impatient.
	grace, absence, look time.Duration
}

// Task is a kind of work.
type Task struct {
	Name string
	// Run does a job. Its context ends with the job's timeout and when the
	// process stops; it must return soon after. An error, or a panic, is a
	// failed attempt, unless it is Later. It may be called at once for different
	// keys.
	Run func(ctx context.Context, j Job) error
	// How, if not nil, returns the current settings of the job of a key. Its Timeout,
	// Attempts and RetryDelay override those that the job was stored with, possibly
	// by a process with another configuration. False keeps the stored ones.
	How func(key string) (How, bool)
	// Workers, unless it is zero, is how many of its jobs run at once in this
	// process, beside those of others: neither waits for the other's workers. A
	// task that has some has a name of small letters, digits, and single
	// hyphens or underscores between them.
	Workers int
}

// Later is the error with which Run postpones a job: it is done again after a
// while, and takes no worker until then. That is no attempt. A job that is
// postponed outlives the process, as all that wait do.
func Later(after time.Duration) error { return &later{after} }

type later struct{ after time.Duration }

// Error says for how long.
func (l *later) Error() string { return fmt.Sprintf("postponed for %s", l.after) }

// Job is one task for one key.
type Job struct {
	// ID names the job in the log. One that was taken over has another.
	ID int64
	// Task is the task's name, and Key tells its jobs from one another, such as
	// by the name of a source.
	Task, Key string
	// Attempt is 1 for the first, and Attempts the most there will be. One that
	// ended because the process did is not counted.
	Attempt, Attempts int
	// Trigger says who asked, and Args what else they said.
	Trigger string
	Args    []byte
}

// How is how a job is done. The zero How is good.
type How struct {
	// Trigger says who asks: schedule, manual, watch.
	Trigger string
	// Args is JSON for the task, a few kilobytes at most. White space and the
	// order of keys may change on the way.
	Args []byte
	// Timeout is for one attempt, an hour if it is zero. A job whose process
	// was killed is begun again some seconds later, however long it is: with
	// SQLite when the file is opened again. One whose process is there and does
	// not end it is begun again soon after it.
	Timeout time.Duration
	// Attempts is how often it is tried before it is given up, once if it is
	// zero, and RetryDelay the time between, a second if it is zero.
	Attempts   int
	RetryDelay time.Duration
	// After is how long it waits at first.
	After time.Duration
	// Hurry makes a job that waits for later, because of After or between two
	// attempts, one that waits no longer: somebody stands by.
	Hurry bool
	// Requeued says that a job that is given up because its process ended too
	// often is queued again: by a schedule, or by whoever looks after its task on
	// any replica. Then that is no error. Jobs of schedules have it.
	Requeued bool
}

// kind is the one kind of job that River knows; tasks are told apart here.
const kind = "task"

// work is a job as it is stored.
type work struct {
	Task    string          `json:"task" river:"unique"`
	Key     string          `json:"key" river:"unique"`
	Trigger string          `json:"trigger"`
	Args    json.RawMessage `json:"args,omitempty"`
	// Timeout and RetryDelay are seconds, which SQL can add to a time.
	Timeout    float64 `json:"timeout"`
	RetryDelay float64 `json:"retryDelay"`
	Attempts   int     `json:"attempts"`
	// Tried counts the attempts before the job was taken over, and Lost how
	// often that was.
	Tried int `json:"tried,omitempty"`
	Lost  int `json:"lost,omitempty"`
	// Requeued is that of How.
	Requeued bool `json:"requeued,omitempty"`
}

// Kind returns River's name for it.
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

// name tells jobs apart in this process.
func (w work) name() string { return w.Task + "\x00" + w.Key }

func (w work) timeout() time.Duration    { return seconds(w.Timeout) }
func (w work) retryDelay() time.Duration { return seconds(w.RetryDelay) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
