package taskstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"example.dev/ingestor/internal/db"
)

const (
	// mostBodies is about how many bytes of events are read at once.
	mostBodies = 1 << 20
	// droppedTasks is how many tasks are removed in one transaction, since other writers
	// wait for it.
	droppedTasks = 16
)

// taskColumns are the columns of a taskRow.
const taskColumns = "id, status, created_by, template, created, beat, run, cancel, caller, subject"

// taskRow scans rows of taskColumns.
type taskRow struct {
	Task
	created, beat int64
	cancel        int
}

func (r *taskRow) dest() []any {
	t := &r.Task
	return []any{&t.ID, &t.Status, &t.CreatedBy, &t.Template, &r.created, &r.beat, &t.Run, &r.cancel, &t.Caller, &t.Subject}
}

func (r *taskRow) task() *Task {
	t := r.Task
	t.Created, t.Cancel = db.FromMilli(r.created), r.cancel != 0
	if t.Run > 0 {
		t.Beat = db.FromMilli(r.beat)
	}
	return &t
}

// Task returns a task, nil if there is none.
func (s *Store) Task(ctx context.Context, id string) (*Task, error) {
	return s.oneTask(ctx, id, ", secrets, state, spec", func(t *Task) []any { return []any{&t.Secrets, &t.State, &t.Spec} })
}

// TaskBrief returns a task without secrets and state, which clients never see; the
// state can be large. It is nil if there is none.
func (s *Store) TaskBrief(ctx context.Context, id string) (*Task, error) {
	return s.oneTask(ctx, id, ", spec", func(t *Task) []any { return []any{&t.Spec} })
}

// TaskSubject returns the subject of a task, empty if the task has none or does not
// exist.
func (s *Store) TaskSubject(ctx context.Context, id string) (string, error) {
	if !db.IsText(id) {
		return "", nil
	}
	var subject string
	err := s.Read.QueryRowContext(ctx, "SELECT subject FROM tasks WHERE id = $1", id).Scan(&subject)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", db.Fail(fmt.Sprintf("read task %q", id), err)
	}
	return subject, nil
}

func (s *Store) oneTask(ctx context.Context, id, columns string, more func(*Task) []any) (*Task, error) {
	if !db.IsText(id) {
		return nil, nil
	}
	var row taskRow
	err := s.Read.QueryRowContext(ctx, "SELECT "+taskColumns+columns+" FROM tasks JOIN task_specs ON task = id WHERE id = $1", id).
		Scan(append(row.dest(), more(&row.Task)...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, db.Fail(fmt.Sprintf("read task %q", id), err)
	}
	return row.task(), nil
}

// Tasks returns the tasks that match q, without secrets and state, and how many there
// are without its limit.
func (s *Store) Tasks(ctx context.Context, q TaskQuery) (tasks []*Task, total int, err error) {
	total, err = s.EachTask(ctx, q, func(t *Task) error {
		tasks = append(tasks, t)
		return nil
	})
	return tasks, total, err
}

// EachTask passes the tasks that match q to each, as Tasks returns them, until each
// fails. The specs are loaded in batches, so that memory use stays small.
func (s *Store) EachTask(ctx context.Context, q TaskQuery, each func(*Task) error) (total int, err error) {
	const doing = "list tasks"
	order, err := taskOrder(q.Order)
	if err != nil {
		return 0, db.Fail(doing, err)
	}
	var tasks []*Task
	if q.Limit != 0 {
		if tasks, err = s.taskPage(ctx, q, order); err != nil {
			return 0, db.Fail(doing, err)
		}
	}
	if total = len(tasks); q.Offset > 0 || q.Limit >= 0 && total >= q.Limit {
		var b db.Statement
		b.Add("SELECT count(*) FROM tasks")
		addConditions(&b, q)
		if err := s.Read.QueryRowContext(ctx, b.String(), b.Args...).Scan(&total); err != nil {
			return 0, db.Fail(doing, err)
		}
	}
	return total, s.withSpecs(ctx, tasks, each)
}

// taskPage reads the rows without their specs, which may be large, so that the rows
// to sort stay narrow.
func (s *Store) taskPage(ctx context.Context, q TaskQuery, order string) ([]*Task, error) {
	var tasks []*Task
	err := selectTasks(q, order).Each(ctx, s.Query, func(rows *db.Rows) error {
		var row taskRow
		if err := rows.Scan(row.dest()...); err != nil {
			return err
		}
		tasks = append(tasks, row.task())
		return nil
	})
	return tasks, err
}

// withSpecs passes tasks with their specs to each, and reads the specs in batches. A
// task without a spec has just been removed and is skipped.
func (s *Store) withSpecs(ctx context.Context, tasks []*Task, each func(*Task) error) error {
	sizes := make(map[string]int, len(tasks))
	err := s.eachSpec(ctx, "length(spec)", tasks, func(rows *db.Rows, id *string) error {
		size := 0
		err := rows.Scan(id, &size)
		sizes[*id] = size
		return err
	})
	for err == nil && len(tasks) > 0 {
		n, size := 0, 0
		for n < len(tasks) && (n == 0 || size+sizes[tasks[n].ID] <= mostBodies) {
			size += sizes[tasks[n].ID]
			n++
		}
		specs := make(map[string][]byte, n)
		err = s.eachSpec(ctx, "spec", tasks[:n], func(rows *db.Rows, id *string) error {
			var spec []byte
			err := rows.Scan(id, &spec)
			specs[*id] = spec
			return err
		})
		if err != nil {
			break
		}
		for _, t := range tasks[:n] {
			var ok bool
			if t.Spec, ok = specs[t.ID]; !ok {
				continue
			}
			if err := each(t); err != nil {
				return err
			}
		}
		clear(tasks[:n])
		tasks = tasks[n:]
	}
	return db.Fail("list tasks", err)
}

// eachSpec reads a column or expression of the specs of tasks.
func (s *Store) eachSpec(ctx context.Context, column string, tasks []*Task, read func(rows *db.Rows, id *string) error) error {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	return s.SelectIn(ctx, s.Query, "SELECT task, "+column+" FROM task_specs WHERE task IN ", ids, func(rows *db.Rows) error {
		var id string
		return read(rows, &id)
	})
}

// selectTasks returns the statement for a page in an order.
func selectTasks(q TaskQuery, order string) *db.Statement {
	limit := q.Limit
	if limit < 0 {
		limit = math.MaxInt32
	}
	var b db.Statement
	b.Add("SELECT " + taskColumns + " FROM tasks")
	addConditions(&b, q)
	b.Add(" ORDER BY "+order+" LIMIT %s OFFSET %s", limit, max(0, q.Offset))
	return &b
}

// addConditions appends the WHERE clause of q.
func addConditions(b *db.Statement, q TaskQuery) {
	word := " WHERE "
	for _, in := range []struct {
		column string
		values []string
	}{{"created_by", q.CreatedBy}, {"status", q.Status}, {"template", q.Template}} {
		if len(in.values) == 0 {
			continue
		}
		values := make([]string, len(in.values))
		for i, v := range in.values {
			values[i] = db.Storable(v)
		}
		b.Add(word + in.column)
		word = " AND "
		if len(values) == 1 {
			b.Add(" = %s", values[0])
			continue
		}
		b.Add(" IN ")
		b.List(values)
	}
	if len(q.NotCreatedBy) > 0 {
		b.Add(word + "created_by NOT IN ")
		b.List(q.NotCreatedBy)
	}
}

// taskOrder returns an order as SQL. Ties are broken by id in the direction of the
// last field, which is how the indexes are sorted.
func taskOrder(order []TaskOrder) (string, error) {
	columns := map[string]string{
		"created": "created", "status": "status", "createdBy": "created_by", "template": "template",
		// A task that was never begun has no heartbeat.
		"beat": "CASE WHEN run = 0 THEN 0 ELSE beat END",
	}
	if len(order) == 0 {
		order = []TaskOrder{{Field: "created", Desc: true}}
	}
	var terms []string
	direction := ""
	for _, o := range order {
		column, ok := columns[o.Field]
		if !ok {
			return "", fmt.Errorf("cannot order tasks by %q; use created, status, createdBy, template or beat", o.Field)
		}
		if direction = " ASC"; o.Desc {
			direction = " DESC"
		}
		terms = append(terms, column+direction)
	}
	return strings.Join(append(terms, "id"+direction), ", "), nil
}

// TaskEvents returns the events of a task after the given number, in order: at most
// the given number of them, NoLimit for all, and fewer if they are large, but at
// least one if there is one.
func (s *Store) TaskEvents(ctx context.Context, id string, after int64, most int) ([]TaskEvent, error) {
	if !db.IsText(id) {
		return nil, nil
	}
	if most < 0 {
		most = math.MaxInt32
	}
	// The query looks at the sizes first, because PostgreSQL sends every row it is asked
	// for. SQLite prepares a statement again each time its limit is passed as an
	// argument.
	query := fmt.Sprintf(`SELECT e.n, e.type, e.created, e.body FROM (
			SELECT n, sum(size) OVER (ORDER BY n) - size AS before FROM (
				SELECT n, length(body) AS size FROM task_events WHERE task = $1 AND n > $2 ORDER BY n LIMIT %d) AS sizes) AS page
		JOIN task_events e ON e.task = $1 AND e.n = page.n WHERE page.before < $3 ORDER BY e.n`, most)
	var events []TaskEvent
	err := db.Each(ctx, s.Query, query, []any{id, after, mostBodies}, func(rows *db.Rows) error {
		var e TaskEvent
		var created int64
		if err := rows.Scan(&e.N, &e.Type, &created, &e.Body); err != nil {
			return err
		}
		e.Created = db.FromMilli(created)
		events = append(events, e)
		return nil
	})
	return events, db.Fail(fmt.Sprintf("read the events of task %q", id), err)
}

// TaskMarks returns the number of the last event of each task that has events.
func (s *Store) TaskMarks(ctx context.Context, ids []string) (map[string]int64, error) {
	marks := make(map[string]int64, len(ids))
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if db.IsText(id) {
			names = append(names, id)
		}
	}
	err := s.SelectIn(ctx, s.Query, "SELECT id, events FROM tasks WHERE events > 0 AND id IN ", names, func(rows *db.Rows) error {
		var id string
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return err
		}
		marks[id] = n
		return nil
	})
	return marks, db.Fail("find new events of tasks", err)
}

// IdleTasks returns the ids of tasks that are not over and whose last heartbeat is
// older than the given duration, in the order of their creation.
func (s *Store) IdleTasks(ctx context.Context, than time.Duration) ([]string, error) {
	var b db.Statement
	b.Add("SELECT id FROM tasks WHERE " + notOver + " AND beat < ")
	s.AddNow(&b)
	b.Add(" - %s ORDER BY created, id", than.Milliseconds())
	ids, err := s.Texts(ctx, b.String(), b.Args...)
	return ids, db.Fail("find idle tasks", err)
}

// DropTasks removes the tasks that are over and were created before a time, and
// returns how many.
func (s *Store) DropTasks(ctx context.Context, before time.Time) (int, error) {
	const doing = "remove old tasks"
	for all := 0; ; {
		if err := s.Present(); err != nil {
			return all, db.Fail(doing, err)
		}
		n, err := s.dropSome(ctx, before)
		if err != nil {
			return all, db.Fail(doing, err)
		}
		if all += n; n < droppedTasks {
			return all, nil
		}
	}
}

// dropSome removes one batch. The rows of tasks are deleted first: a writer of such a
// task waits until its other rows are deleted too.
func (s *Store) dropSome(ctx context.Context, before time.Time) (n int, err error) {
	query := "DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE created < $1 AND " + isOver + " ORDER BY created, id LIMIT $2"
	if s.Client == db.Postgres {
		// Another replica may be doing the same.
		query += " FOR UPDATE SKIP LOCKED"
	}
	err = s.InTx(ctx, func(tx *db.Tx) error {
		var ids []string
		err := db.Each(ctx, tx.Ask, query+") RETURNING id", []any{before.UnixMilli(), droppedTasks}, func(rows *db.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
		if err != nil {
			return err
		}
		n = len(ids)
		for _, table := range []string{"task_events", "task_objects", "task_specs"} {
			if err := tx.DeleteIn(ctx, table, "task", ids); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
