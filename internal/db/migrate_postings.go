package db

import (
	"context"
	"database/sql"

	"github.com/RoaringBitmap/roaring/v2"

	"example.dev/ingestor/internal/idset"
)

// postingsVersion is the migration that replaces search and terms by postings.
const postingsVersion = 16

// moveBatch is how many rows of search are read at a time.
const moveBatch = 20_000

// posting is the key of a set in postings.
type posting struct {
	kid             int64
	value, original string
}

// mover moves search and terms into postings.
type mover struct {
	tx *sql.Tx
	// has are the entities that have a value, by the number of the key.
	has map[int64]*idset.Set
	// open are the sets of the last value that was read, by its spellings.
	open map[posting]*idset.Set
}

// movePostings fills postings from search and terms, and drops them.
func movePostings(ctx context.Context, tx *sql.Tx) error {
	m := mover{tx: tx, has: map[int64]*idset.Set{}, open: map[posting]*idset.Set{}}
	if err := m.search(ctx); err != nil {
		return err
	}
	if err := m.terms(ctx); err != nil {
		return err
	}
	for kid, set := range m.has {
		if err := m.store(ctx, posting{kid: -kid}, set); err != nil {
			return err
		}
	}
	if err := m.all(ctx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DROP TABLE search; DROP TABLE terms")
	return err
}

// search moves the rows of search, in the order of their key.
func (m *mover) search(ctx context.Context) error {
	const query = `SELECT s.kid, s.value, coalesce(s.original, ''), s.ref, e.id FROM search s JOIN entities e ON e.ref = s.ref
		WHERE (s.kid, s.value, s.ref) > ($1, $2, $3) ORDER BY s.kid, s.value, s.ref LIMIT $4`
	var p posting
	var ref string
	var id uint32
	return m.move(ctx, func() (*sql.Rows, error) { return m.tx.QueryContext(ctx, query, p.kid, p.value, ref, moveBatch) },
		func(rows *sql.Rows) (posting, uint32, error) {
			err := rows.Scan(&p.kid, &p.value, &p.original, &ref, &id)
			if err == nil && p.value != MaxText {
				add(m.has, p.kid, id)
			}
			return p, id, err
		})
}

// terms moves the rows of terms, in the order of their key.
func (m *mover) terms(ctx context.Context) error {
	const query = `SELECT t.word, t.ref, e.id FROM terms t JOIN entities e ON e.ref = t.ref
		WHERE (t.word, t.ref) > ($1, $2) ORDER BY t.word, t.ref LIMIT $3`
	var word, ref string
	var id uint32
	return m.move(ctx, func() (*sql.Rows, error) { return m.tx.QueryContext(ctx, query, word, ref, moveBatch) },
		func(rows *sql.Rows) (posting, uint32, error) {
			err := rows.Scan(&word, &ref, &id)
			return posting{value: word}, id, err
		})
}

func add[K comparable](sets map[K]*idset.Set, key K, id uint32) {
	if sets[key] == nil {
		sets[key] = roaring.New()
	}
	sets[key].Add(id)
}

// move reads rows in batches, and stores the sets of each value after its last row.
func (m *mover) move(ctx context.Context, next func() (*sql.Rows, error), scan func(*sql.Rows) (posting, uint32, error)) error {
	var last posting
	for more := true; more; {
		rows, err := next()
		if err != nil {
			return err
		}
		// Sets are stored when the rows are closed: a connection does one thing at a time.
		var done []map[posting]*idset.Set
		n := 0
		for rows.Next() {
			p, id, err := scan(rows)
			if err != nil {
				_ = rows.Close() // The first error says more.
				return err
			}
			if p.kid != last.kid || p.value != last.value {
				done, m.open = append(done, m.open), map[posting]*idset.Set{}
			}
			add(m.open, p, id)
			last = p
			n++
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if more = n == moveBatch; !more {
			done, m.open = append(done, m.open), map[posting]*idset.Set{}
		}
		for _, sets := range done {
			for p, set := range sets {
				if err := m.store(ctx, p, set); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// all stores the set of all entities.
func (m *mover) all(ctx context.Context) error {
	rows, err := m.tx.QueryContext(ctx, "SELECT id FROM entities")
	if err != nil {
		return err
	}
	all := roaring.New()
	for rows.Next() {
		var id uint32
		if err := rows.Scan(&id); err != nil {
			_ = rows.Close() // The first error says more.
			return err
		}
		all.Add(id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return m.store(ctx, posting{}, all)
}

// store stores a set.
func (m *mover) store(ctx context.Context, p posting, set *idset.Set) error {
	rows, err := idset.Rows(set, false)
	if err != nil {
		return err
	}
	for _, row := range rows {
		_, err := m.tx.ExecContext(ctx, "INSERT INTO postings (kid, value, original, block, n, ids) VALUES ($1, $2, $3, $4, $5, $6)",
			p.kid, p.value, p.original, row.Block, row.N, row.IDs)
		if err != nil {
			return err
		}
	}
	return nil
}
