package taskstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"example.dev/ingestor/internal/db"
)

// notOver and isOver are conditions on the status of a task.
const (
	notOver = "status IN ('" + TaskOpen + "', '" + TaskProcessing + "')"
	isOver  = "status IN ('" + TaskCompleted + "', '" + TaskFailed + "', '" + TaskCancelled + "')"
)

// cancelledEarly is the body of the event of a task that was cancelled before its
// first run.
const cancelledEarly = `{"message":"The task was cancelled before it began","status":"` + TaskCancelled + `"}`

// AddTask stores a new task, which is open and not begun, whatever else t says. It
// sets t.Created if that is zero. It returns ErrExists if a task with that id exists.
func (s *Store) AddTask(ctx context.Context, t *Task) error {
	doing := fmt.Sprintf("add task %q", t.ID)
	if !db.IsText(t.ID) {
		return db.Fail(doing, errors.New("id is not valid text; use another id"))
	}
	if err := s.Present(); err != nil {
		return db.Fail(doing, err)
	}
	var b db.Statement
	b.Add(`INSERT INTO tasks (id, status, created_by, template, caller, subject, created, beat, run, cancel, events, secrets) VALUES (%s, '`+TaskOpen+"', %s, %s, %s, %s, ",
		t.ID, db.Storable(t.CreatedBy), db.Storable(t.Template), db.OrNull(t.Caller), db.Storable(t.Subject))
	if t.Created.IsZero() {
		s.AddNow(&b)
	} else {
		b.Arg(t.Created.UnixMilli())
	}
	b.Add(", ")
	s.AddNow(&b)
	b.Add(", 0, 0, 0, %s) RETURNING created", db.OrNull(t.Secrets))
	var created int64
	err := s.InTx(ctx, func(tx *db.Tx) error {
		if err := tx.QueryRowContext(ctx, b.String(), b.Args...).Scan(&created); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO task_specs (task, spec) VALUES ($1, $2)", t.ID, db.NonNil(t.Spec))
		return err
	})
	if db.IsDuplicate(err) {
		err = db.ErrExists
	}
	if err != nil {
		return db.Fail(doing, err)
	}
	t.Status, t.Run, t.Created = TaskOpen, 0, db.FromMilli(created)
	return nil
}

// BeginTask begins a new run of a task that is not over, even if another run is
// active, which can write nothing from then on. It returns nil if there is no such
// task, or it is over.
func (s *Store) BeginTask(ctx context.Context, id string, events ...TaskEvent) (*Task, error) {
	var row taskRow
	found, _, err := s.editTask(ctx, edit{
		id: id, set: "run = run + 1, status = '" + TaskProcessing + "'", beats: true, where: notOver, events: events,
		returning: taskColumns + ", secrets, state, (SELECT spec FROM task_specs WHERE task = id)",
		dest:      append(row.dest(), &row.Secrets, &row.State, &row.Spec),
	})
	if err != nil || !found {
		return nil, db.Fail(fmt.Sprintf("begin task %q", id), err)
	}
	return row.task(), nil
}

// WriteTask writes for the run of a task with that number, which also counts as a
// heartbeat. It returns the number of the first event, zero if there is none, and
// ErrTaskLost if another run has begun the task since, or it is over.
func (s *Store) WriteTask(ctx context.Context, id string, run int64, c TaskChange) (first int64, err error) {
	t := running(id, run)
	t.events = c.Events
	var set []string
	if c.State != nil && c.Status != TaskCompleted {
		set = append(set, "state = %s")
		t.args = append(t.args, c.State)
	}
	if c.Status != "" {
		set = append(set, "status = %s")
		t.args = append(t.args, c.Status)
	}
	switch c.Status {
	case TaskCompleted:
		set = append(set, "secrets = NULL", "state = NULL")
	case TaskFailed, TaskCancelled:
		set = append(set, "secrets = NULL")
	}
	t.set = strings.Join(set, ", ")
	found, last, err := s.editTask(ctx, t)
	if err == nil && !found {
		err = ErrTaskLost
	}
	if err != nil || len(c.Events) == 0 {
		return 0, db.Fail(fmt.Sprintf("write task %q", id), err)
	}
	return last - int64(len(c.Events)) + 1, nil
}

// BeatTask writes the heartbeat of a task, and reports whether cancellation was
// requested. It returns ErrTaskLost if another run has begun the task since, or it is
// over.
func (s *Store) BeatTask(ctx context.Context, id string, run int64) (cancel bool, err error) {
	t := running(id, run)
	var asked int
	t.returning, t.dest = "cancel", []any{&asked}
	found, _, err := s.editTask(ctx, t)
	if err == nil && !found {
		err = ErrTaskLost
	}
	return asked != 0, db.Fail(fmt.Sprintf("write heartbeat of task %q", id), err)
}

// CancelTask ends an open task, and requests the cancellation of a running one. A
// task that is over stays unchanged. It returns the resulting task, nil if there is
// none, and whether this call ended it.
func (s *Store) CancelTask(ctx context.Context, id string) (t *Task, ended bool, err error) {
	doing := fmt.Sprintf("cancel task %q", id)
	for {
		ended, _, err = s.editTask(ctx, edit{
			id: id, set: "cancel = 1, secrets = NULL, status = '" + TaskCancelled + "'", where: "status = '" + TaskOpen + "'",
			events: []TaskEvent{{Type: EventCancelled, Body: []byte(cancelledEarly)}},
		})
		if err != nil {
			return nil, false, db.Fail(doing, err)
		}
		asked := false
		if !ended {
			asked, _, err = s.editTask(ctx, edit{id: id, set: "cancel = 1", where: "status = '" + TaskProcessing + "'"})
			if err != nil {
				return nil, false, db.Fail(doing, err)
			}
		}
		t, err = s.Task(ctx, id)
		if err != nil {
			return nil, false, db.Fail(doing, err)
		}
		// The status may have changed between the two updates.
		if ended || asked || t == nil || over(t.Status) {
			return t, ended, nil
		}
	}
}

// RetryTask reopens a task that failed or was cancelled, with an event and for the
// given caller. It returns false if the task is neither.
func (s *Store) RetryTask(ctx context.Context, id string, by TaskCaller, secrets []byte, e TaskEvent) (bool, error) {
	found, _, err := s.editTask(ctx, edit{
		id: id, set: "cancel = 0, status = '" + TaskOpen + "', secrets = %s, caller = %s, subject = %s",
		args: []any{db.OrNull(secrets), db.OrNull(by.Caller), db.Storable(by.Subject)}, beats: true,
		where: "status IN ('" + TaskFailed + "', '" + TaskCancelled + "')", events: []TaskEvent{e},
	})
	return found, db.Fail(fmt.Sprintf("retry task %q", id), err)
}

// TaskCaller is the caller a task acts for; see Task.
type TaskCaller struct {
	Caller  []byte
	Subject string
}

// CountOpenTasks returns how many tasks of a subject are not over.
func (s *Store) CountOpenTasks(ctx context.Context, subject string) (n int, err error) {
	err = s.Read.QueryRowContext(ctx, "SELECT count(*) FROM tasks WHERE "+notOver+" AND subject = $1", db.Storable(subject)).Scan(&n)
	return n, db.Fail("count the open tasks of "+subject, err)
}

func over(status string) bool {
	return status != TaskOpen && status != TaskProcessing
}

// edit is an update of the row of one task, if the row matches where, and events to
// append with it.
type edit struct {
	id string
	// run, unless it is zero, is the run that the row must have.
	run int64
	// set and where are SQL. Each %s in set is a placeholder for the next of args.
	set, where string
	args       []any
	// beats makes the update a heartbeat.
	beats  bool
	events []TaskEvent
	// returning are columns of the updated row, scanned into dest.
	returning string
	dest      []any
}

// running returns an edit by the run of a task with that number.
func running(id string, run int64) edit {
	// No run has the number zero, which means that the task was never begun.
	return edit{id: id, run: cmp.Or(run, -1), beats: true, where: "status = '" + TaskProcessing + "'"}
}

// editTask reports whether there is such a task, and returns the number of its last
// event. One statement changes the row and increments the number, so that other
// writers of the task wait only for this statement. With PostgreSQL, which is remote,
// everything is one round trip.
func (s *Store) editTask(ctx context.Context, t edit) (found bool, last int64, err error) {
	if !db.IsText(t.id) {
		return false, 0, nil
	}
	if err := s.Present(); err != nil {
		return false, 0, err
	}
	b := s.editing(t)
	dest := append([]any{&last}, t.dest...)
	if s.Client == db.Postgres {
		err = s.Write.QueryRowContext(ctx, s.appending(b, t), b.Args...).Scan(dest...)
	} else {
		err = s.InTx(ctx, func(tx *db.Tx) error {
			if err := tx.QueryRowContext(ctx, b.String(), b.Args...).Scan(dest...); err != nil {
				return err
			}
			return s.appendEvents(ctx, tx, t.id, last-int64(len(t.events)), t.events)
		})
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, 0, nil
	}
	return err == nil, last, err
}

// editing returns the statement that updates the row.
func (s *Store) editing(t edit) *db.Statement {
	var b db.Statement
	b.Add("UPDATE tasks SET events = events + %s", len(t.events))
	if t.set != "" {
		b.Add(", "+t.set, t.args...)
	}
	if t.beats {
		b.Add(", beat = ")
		s.AddNow(&b)
	}
	b.Add(" WHERE id = %s AND ", t.id)
	b.Add(t.where)
	if t.run != 0 {
		b.Add(" AND run = %s", t.run)
	}
	b.Add(" RETURNING events")
	if t.returning != "" {
		b.Add(", " + t.returning)
	}
	return &b
}

// appending extends the statement that updates the row so that it also appends the
// events, in the SQL dialect of PostgreSQL.
func (s *Store) appending(change *db.Statement, t edit) string {
	if len(t.events) == 0 {
		return change.String()
	}
	types, bodies, ages := make([]string, len(t.events)), make([][]byte, len(t.events)), make([]int64, len(t.events))
	for i, e := range t.events {
		types[i], bodies[i], ages[i] = db.Storable(e.Type), db.NonNil(e.Body), s.age(e)
	}
	var b db.Statement
	b.Args = change.Args
	b.Add("WITH edited AS (" + change.String() + "), written AS (INSERT INTO task_events (task, n, type, created, body)")
	b.Add(" SELECT %s, edited.events - %s + e.n, e.type, ", t.id, len(t.events))
	s.AddNow(&b)
	b.Add(" - e.age, e.body FROM edited, unnest(%s::text[], %s::bytea[], %s::bigint[]) WITH ORDINALITY AS e (type, body, age, n)) SELECT * FROM edited", types, bodies, ages)
	change.Args = b.Args
	return b.String()
}

// appendEvents appends events after the event of that number.
func (s *Store) appendEvents(ctx context.Context, tx *db.Tx, id string, behind int64, events []TaskEvent) error {
	now := s.Now().UnixMilli()
	return tx.Insert(ctx, "task_events (task, n, type, created, body)", "", 5, len(events), func(i int, args []any) []any {
		return append(args, id, behind+int64(i)+1, db.Storable(events[i].Type), now-s.age(events[i]), db.NonNil(events[i].Body))
	})
}

// age returns how long ago an event happened, in milliseconds.
func (s *Store) age(e TaskEvent) int64 {
	if e.Created.IsZero() {
		return 0
	}
	return max(0, s.Now().Sub(e.Created).Milliseconds())
}
