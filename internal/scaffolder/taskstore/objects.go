package taskstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"example.dev/ingestor/internal/db"
)

// Object identifies an object in a cluster, in any version of its API.
type Object struct{ Cluster, Group, Kind, Namespace, Name string }

// key returns the object as the table has it. No name contains a newline.
func (o Object) key() string {
	return db.Storable(strings.Join([]string{o.Cluster, o.Group, o.Kind, o.Namespace, o.Name}, "\n"))
}

// ObjectChange is what a task has done to an object.
type ObjectChange struct {
	Task, Template, CreatedBy string
	At                        time.Time
	// Operation is create, update or delete.
	Operation string
	// Fields are the paths of the fields that an update has changed.
	Fields []string
}

// AddObjectChange records what a task has done to an object. Of the change, the task, the
// operation and the fields count.
func (s *Store) AddObjectChange(ctx context.Context, o Object, c ObjectChange) error {
	const doing = "record a change of an object"
	fields, err := json.Marshal(c.Fields)
	if err != nil {
		return db.Fail(doing, err)
	}
	var b db.Statement
	b.Add("INSERT INTO task_objects (object, at, task, operation, fields) VALUES (%s, ", o.key())
	s.AddNow(&b)
	// A step may change an object twice within a millisecond.
	b.Add(", %s, %s, %s) ON CONFLICT DO NOTHING", c.Task, c.Operation, fields)
	return s.InTx(ctx, func(tx *db.Tx) error {
		if _, err := tx.ExecContext(ctx, b.String(), b.Args...); err != nil {
			return db.Fail(doing, err)
		}
		return nil
	})
}

// ObjectChanges returns the last changes of an object, the latest first. They are kept as
// long as the tasks.
func (s *Store) ObjectChanges(ctx context.Context, o Object, most int) ([]ObjectChange, error) {
	var out []ObjectChange
	const query = "SELECT o.at, o.task, o.operation, o.fields, t.template, t.created_by FROM task_objects o JOIN tasks t ON t.id = o.task WHERE o.object = $1 ORDER BY o.at DESC, o.task DESC LIMIT $2"
	err := db.Each(ctx, s.Query, query, []any{o.key(), most}, func(rows *db.Rows) error {
		var c ObjectChange
		var at int64
		var fields []byte
		if err := rows.Scan(&at, &c.Task, &c.Operation, &fields, &c.Template, &c.CreatedBy); err != nil {
			return err
		}
		c.At = db.FromMilli(at)
		out = append(out, c)
		return json.Unmarshal(fields, &out[len(out)-1].Fields)
	})
	if err != nil {
		return nil, db.Fail("read the changes of an object", err)
	}
	return out, nil
}
