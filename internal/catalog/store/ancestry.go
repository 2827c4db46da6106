package store

import (
	"context"
	"fmt"

	"example.dev/ingestor/internal/db"
)

// Ancestry returns the entity with a reference, the entity that named it, the parent of
// that entity, and so on.
func (s *Store) Ancestry(ctx context.Context, ref string) ([]Entity, error) {
	doing := fmt.Sprintf("read the ancestry of entity %q", ref)
	if !db.IsText(ref) {
		return nil, db.Fail(doing, db.ErrNotFound)
	}
	found := map[string]Entity{}
	var b db.Statement
	// UNION takes each reference once, so that a cycle ends.
	b.Add(`WITH RECURSIVE line (ref) AS (
		SELECT a.ref FROM entities a WHERE a.ref = %s UNION
		SELECT b.ref FROM line l JOIN entities a ON a.ref = l.ref JOIN entities b ON b.ref = a.parent)
		`+selectEntity+`e.ref IN (SELECT line.ref FROM line)`, ref)
	var row entityRow
	err := b.Each(ctx, s.DB.Query, func(rows *db.Rows) error {
		e, err := row.scan(rows)
		found[e.Ref] = e
		return err
	})
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	var line []Entity
	for {
		e, ok := found[ref]
		if !ok {
			break
		}
		line = append(line, e)
		delete(found, ref)
		ref = e.Parent
	}
	if len(line) == 0 {
		return nil, db.Fail(doing, db.ErrNotFound)
	}
	return line, nil
}
