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

// What a task can be. One that is open waits for its turn; the last three are
// over.
const (
	TaskOpen       = "open"
	TaskProcessing = "processing"
	TaskCompleted  = "completed"
	TaskFailed     = "failed"
	TaskCancelled  = "cancelled"
)

// The types of events.
const (
	EventLog        = "log"
	EventCompletion = "completion"
	EventCancelled  = "cancelled"
	EventRecovered  = "recovered"
)

// ErrTaskLost is what whoever runs a task is told when another has begun it
// anew, or it is over: nothing was written.
var ErrTaskLost = errors.New("another runs the task now, or it is over")

// Task is what a Template was asked to do.
type Task struct {
	ID string
	// Spec is JSON, as clients see it. It does not change.
	Spec   []byte
	Status string
	// CreatedBy is the reference of whoever asked, Template that of what was
	// asked, both in lower case.
	CreatedBy, Template string
	Created             time.Time
	// Beat is when whoever runs it last said so; zero if nobody has yet.
	Beat time.Time
	// Run counts how often it was begun. Whoever runs it writes under this
	// number, and so finds out that another has begun it since.
	Run int64
	// Cancel says that somebody wants it to stop.
	Cancel bool
	// Secrets and State mean something to whoever runs it; nil if there are
	// none. Secrets go when it is over.
	Secrets, State []byte
	// Caller is JSON that says who it acts for, nil in a task of an older
	// program. Subject is the same in one word, for counting.
	Caller  []byte
	Subject string
}

// TaskEvent is something that happened in a task. N counts the events of a task
// from 1; whoever writes one leaves it and Created out.
type TaskEvent struct {
	N    int64
	Type string
	// Body is JSON.
	Body []byte
	// Created is when it happened. Whoever writes an event later than that says
	// so; zero means now.
	Created time.Time
}

// TaskQuery asks for tasks. Of a list any of its values will do; an empty one
// asks for nothing in particular.
type TaskQuery struct {
	CreatedBy, Status, Template []string
	// NotCreatedBy are those whose tasks are not asked for.
	NotCreatedBy []string
	// Order is by created (the default, newest first), status, createdBy,
	// template or beat; equal ones are ordered by id.
	Order []TaskOrder
	// Limit is the most tasks, NoLimit for all.
	Limit, Offset int
}

// TaskOrder is one field to order tasks by.
type TaskOrder struct {
	Field string
	Desc  bool
}

// TaskChange is what whoever runs a task writes.
type TaskChange struct {
	Events []TaskEvent
	// State replaces the state, unless it is nil.
	State []byte
	// Status replaces the status, unless it is empty. One that is over takes the
	// secrets with it, and a completed one the state.
	Status string
}
