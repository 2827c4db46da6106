// Package taskstore stores tasks of the scaffolder and their events.
package taskstore

import (
	"errors"
	"time"

	"example.dev/ingestor/internal/db"
)

// Store is the storage of tasks. All methods may be called concurrently.
type Store struct{ *db.DB }

// New returns the storage in a database.
func New(d *db.DB) *Store { return &Store{d} }

// NoLimit as a limit means all.
const NoLimit = -1

// Statuses of a task. An open task waits to be run; the last three are over.
const (
	TaskOpen       = "open"
	TaskProcessing = "processing"
	TaskCompleted  = "completed"
	TaskFailed     = "failed"
	TaskCancelled  = "cancelled"
)

// Types of events.
const (
	EventLog        = "log"
	EventCompletion = "completion"
	EventCancelled  = "cancelled"
	EventRecovered  = "recovered"
)

// ErrTaskLost is returned to a run whose task another run has begun since, or whose
// task is over: nothing was written.
var ErrTaskLost = errors.New("task has ended, or another run has taken it over")

// Task is a request to run a Template.
type Task struct {
	ID string
	// Spec is JSON, as clients see it. It is immutable.
	Spec   []byte
	Status string
	// CreatedBy is the reference of the requesting user, Template that of the Template,
	// both in lower case.
	CreatedBy, Template string
	Created             time.Time
	// Beat is the time of the last heartbeat; zero if the task was never begun.
	Beat time.Time
	// Run counts how often the task was begun. A run writes with this number, which
	// detects that another run has begun the task since.
	Run int64
	// Cancel says that cancellation was requested.
	Cancel bool
	// Secrets and State are opaque to the store; nil if there are none. Secrets are
	// deleted when the task is over.
	Secrets, State []byte
	// Caller is JSON that describes the caller the task acts for, nil in a task of an
	// older version. Subject is the same as a single string, for counting.
	Caller  []byte
	Subject string
}

// TaskEvent is something that happened in a task. N numbers the events of a task from
// 1 and is assigned by the store.
type TaskEvent struct {
	N    int64
	Type string
	// Body is JSON.
	Body []byte
	// Created is when the event happened. A writer that stores an event later sets it;
	// zero means now.
	Created time.Time
}

// TaskQuery selects tasks. A task matches a list if it has any of its values; an
// empty list matches every task.
type TaskQuery struct {
	CreatedBy, Status, Template []string
	// NotCreatedBy excludes the tasks of these creators.
	NotCreatedBy []string
	// Order is by created (the default, newest first), status, createdBy, template or
	// beat; ties are broken by id.
	Order []TaskOrder
	// Limit is the maximum number of tasks, NoLimit for all.
	Limit, Offset int
}

// TaskOrder is one field to order tasks by.
type TaskOrder struct {
	Field string
	Desc  bool
}

// TaskChange is what a run writes to its task.
type TaskChange struct {
	Events []TaskEvent
	// State replaces the state, unless it is nil.
	State []byte
	// Status replaces the status, unless it is empty. A final status deletes the
	// secrets, and a completed one also the state.
	Status string
}
