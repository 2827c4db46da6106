package taskstore

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/test/database"
)

func TestTemplateUsage(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		at := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
		for i, task := range []Task{
			{Template: "template:default/a", CreatedBy: "user:default/ann", Subject: "user user:default/ann", Created: at(-1)},
			{Template: "template:default/a", CreatedBy: "user:default/ann", Subject: "user user:default/ann", Created: at(1)},
			{Template: "template:default/b", CreatedBy: "user:default/bob", Subject: "user user:default/bob", Created: at(3)},
			{Template: "template:default/b", CreatedBy: "user:default/ann", Created: at(2)},
			{Template: "template:default/c", Subject: "service ci", Created: at(2)},
			{Template: "template:default/c", Subject: "service other", Created: at(4)},
		} {
			task.ID = fmt.Sprint(i)
			if err := s.AddTask(t.Context(), &task); err != nil {
				t.Fatal(err)
			}
		}
		a, b, c := "template:default/a", "template:default/b", "template:default/c"
		cases := map[string]struct {
			reason string
			since  int
			by     *Creator
			want   []Usage
		}{
			"All":     {"The most used is first, then the last used.", 0, nil, []Usage{{c, 2, at(4)}, {b, 2, at(3)}, {a, 1, at(1)}}},
			"Since":   {"Earlier tasks do not count.", 3, nil, []Usage{{c, 1, at(4)}, {b, 1, at(3)}}},
			"Ann":     {"A user's own tasks count, also those of earlier versions.", -5, &Creator{CreatedBy: "user:default/ann"}, []Usage{{a, 2, at(1)}, {b, 1, at(2)}}},
			"Service": {"Tasks of a service have no user.", 0, &Creator{Subject: "service ci"}, []Usage{{c, 1, at(2)}}},
			"Unknown": {"Others have none.", 0, &Creator{CreatedBy: "user:default/' OR 1=1 --"}, nil},
			"Future":  {"No task is of the future.", 5, nil, nil},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				got, err := s.TemplateUsage(t.Context(), at(tc.since), tc.by)
				if diff := gocmp.Diff(tc.want, got); diff != "" || err != nil {
					t.Errorf("%s (-want +got):\n%s%v", tc.reason, diff, err)
				}
			})
		}
	})
}

func BenchmarkTemplateUsage(b *testing.B) {
	s := New(database.Open(b, database.SQLite(b)))
	tx, err := s.Write.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for i := range 50_000 {
		_, err := tx.ExecContext(b.Context(), `INSERT INTO tasks (id, status, created_by, template, caller, subject, created, beat, run, cancel, events, state)
			VALUES ($1, 'completed', $2, $3, $4, 'user x', $5, 0, 1, 0, 9, NULL)`,
			fmt.Sprint("task-", i), fmt.Sprint("user:default/u", i%200), fmt.Sprint("template:default/t", i%50), make([]byte, 300), now.Add(-time.Duration(i)*time.Minute).UnixMilli())
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	for name, by := range map[string]*Creator{"All": nil, "Mine": {CreatedBy: "user:default/u7"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got, err := s.TemplateUsage(b.Context(), now.Add(-90*24*time.Hour), by); err != nil || len(got) == 0 {
					b.Fatal(got, err)
				}
			}
		})
	}
}
