package store

import (
	"context"
	"fmt"

	"example.dev/ingestor/internal/db"
)

// Dangling is a target of relations that does not exist.
type Dangling struct {
	Ref, Type string
	// Sources counts the entities that name the target; First is the first of them.
	Sources int
	First   string
}

// Dangling returns the missing owners and systems of entities whose provider has a
// prefix, in order, at most limit. For example:
//
//	SELECT r.target, r.type, count(*), min(r.source) FROM relations r
//	JOIN entities e ON e.ref = r.source AND e.provider >= 'definition:' AND e.provider < 'definition;'
//	LEFT JOIN entities t ON t.ref = r.target
//	WHERE r.type IN ('ownedBy', 'partOf') AND r.declarer = r.source AND t.ref IS NULL
//	GROUP BY r.target, r.type ORDER BY r.target, r.type LIMIT 100
func (s *Store) Dangling(ctx context.Context, prefix string, limit int) ([]Dangling, error) {
	const query = `SELECT r.target, r.type, count(*), min(r.source) FROM relations r
		JOIN entities e ON e.ref = r.source AND e.provider >= $1 AND e.provider < $2
		LEFT JOIN entities t ON t.ref = r.target
		WHERE r.type IN ('ownedBy', 'partOf') AND r.declarer = r.source AND t.ref IS NULL
		GROUP BY r.target, r.type ORDER BY r.target, r.type LIMIT %d`
	prefix = db.Storable(prefix)
	var all []Dangling
	err := db.Each(ctx, s.DB.Query, fmt.Sprintf(query, max(0, limit)), []any{prefix, db.After(prefix)}, func(rows *db.Rows) error {
		var m Dangling
		err := rows.Scan(&m.Ref, &m.Type, &m.Sources, &m.First)
		all = append(all, m)
		return err
	})
	return all, db.Fail("find missing relation targets", err)
}
