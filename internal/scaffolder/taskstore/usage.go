package taskstore

import (
	"context"
	"time"

	"example.dev/ingestor/internal/db"
)

// mostUsed is how many Templates TemplateUsage returns.
const mostUsed = 1000

// Usage is how often a Template was run.
type Usage struct {
	// Template is the reference, in lower case.
	Template string
	Count    int
	// Last is when its last task was created.
	Last time.Time
}

// Creator selects the tasks of one caller: those that the user created, or, if CreatedBy
// is empty, those of the subject.
type Creator struct{ CreatedBy, Subject string }

// TemplateUsage counts the tasks of each Template that were created since a time, by one
// caller or, if by is nil, by all; the Template with the most tasks first.
func (s *Store) TemplateUsage(ctx context.Context, since time.Time, by *Creator) ([]Usage, error) {
	var b db.Statement
	b.Add("SELECT template, count(*), max(created) FROM tasks WHERE created >= %s", since.UnixMilli())
	if by != nil {
		b.Add(" AND created_by = %s", db.Storable(by.CreatedBy))
		if by.CreatedBy == "" {
			b.Add(" AND subject = %s", db.Storable(by.Subject))
		}
	}
	b.Add(" GROUP BY template ORDER BY count(*) DESC, max(created) DESC, template LIMIT %s", mostUsed)
	var all []Usage
	err := b.Each(ctx, s.Query, func(rows *db.Rows) error {
		var u Usage
		var last int64
		err := rows.Scan(&u.Template, &u.Count, &last)
		u.Last = db.FromMilli(last)
		all = append(all, u)
		return err
	})
	return all, db.Fail("count the tasks of Templates", err)
}
