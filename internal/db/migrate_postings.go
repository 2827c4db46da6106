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

// lockForPostings locks the tables that replicas of the version before read and write, until
// the end of the transaction. Their writers update revision first, so that it comes first
// here, too: a lock of another table would meet a writer that waits for it and holds the
// next one. A reader that does so is a deadlock, which ends one of the two transactions
// before anything was done.
const lockForPostings = "LOCK TABLE revision, entities, search, terms, fields, documents IN ACCESS EXCLUSIVE MODE;\n"

// posting is the key of a set in postings.
type posting struct {
	kid             int64
	value, original string
}

// postingRow is a row of postings.
type postingRow struct {
	posting
	idset.Row
}

// mover moves search and terms into postings.
type mover struct {
	tx *Tx
	// ids are the ids of all entities, by reference, so that the two tables are read without
	// a join: about 100 bytes for each entity.
	ids map[string]uint32
	// has are the entities that have a value, by the number of the key.
	has map[int64]*idset.Set
	// last is the value that was read last, and open has its entities by spelling.
	last posting
	open map[string]*idset.Set
	// rows are to be inserted.
	rows []postingRow
}

// movePostings fills postings from search and terms, and drops them.
func movePostings(ctx context.Context, tx *sql.Tx, client string) error {
	m := mover{
		tx:  &Tx{Tx: tx, d: &DB{Options: Options{Client: client}}, prepared: map[string]*sql.Stmt{}},
		ids: map[string]uint32{}, has: map[int64]*idset.Set{}, open: map[string]*idset.Set{},
	}
	if err := m.entities(ctx); err != nil {
		return err
	}
	if err := m.search(ctx); err != nil {
		return err
	}
	if err := m.terms(ctx); err != nil {
		return err
	}
	for kid, set := range m.has {
		if err := m.add(posting{kid: -kid}, set); err != nil {
			return err
		}
	}
	if err := m.insert(ctx); err != nil {
		return err
	}
	then := "DROP TABLE search; DROP TABLE terms"
	if client == Postgres {
		// The first queries would be slow until autovacuum has analyzed the tables.
		then += "; ANALYZE entities, postings"
	}
	_, err := tx.ExecContext(ctx, then)
	return err
}

// entities reads the ids, and adds the set of all.
func (m *mover) entities(ctx context.Context) error {
	rows, err := m.tx.QueryContext(ctx, "SELECT ref, id FROM entities")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	all := roaring.New()
	for rows.Next() {
		var ref string
		var id uint32
		if err := rows.Scan(&ref, &id); err != nil {
			return err
		}
		m.ids[ref] = id
		all.Add(id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return m.add(posting{}, all)
}

// search moves the rows of search, in the order of their key.
func (m *mover) search(ctx context.Context) error {
	const query = `SELECT kid, value, coalesce(original, ''), ref FROM search
		WHERE (kid, value, ref) > ($1, $2, $3) ORDER BY kid, value, ref LIMIT $4`
	var p posting
	var ref string
	return m.move(ctx, func() (*sql.Rows, error) { return m.tx.QueryContext(ctx, query, p.kid, p.value, ref, moveBatch) },
		func(rows *sql.Rows) (posting, string, error) {
			err := rows.Scan(&p.kid, &p.value, &p.original, &ref)
			return p, ref, err
		})
}

// terms moves the rows of terms, in the order of their key.
func (m *mover) terms(ctx context.Context) error {
	const query = "SELECT word, ref FROM terms WHERE (word, ref) > ($1, $2) ORDER BY word, ref LIMIT $3"
	var word, ref string
	return m.move(ctx, func() (*sql.Rows, error) { return m.tx.QueryContext(ctx, query, word, ref, moveBatch) },
		func(rows *sql.Rows) (posting, string, error) {
			err := rows.Scan(&word, &ref)
			return posting{value: word}, ref, err
		})
}

// move reads rows in batches, and inserts the sets of each value after its last row.
func (m *mover) move(ctx context.Context, next func() (*sql.Rows, error), scan func(*sql.Rows) (posting, string, error)) error {
	for {
		rows, err := next()
		if err != nil {
			return err
		}
		n, err := m.read(rows, scan)
		if err != nil {
			return err
		}
		if n < moveBatch {
			if err := m.end(); err != nil {
				return err
			}
		}
		// Rows are inserted when those that were read are closed: a connection does one thing at
		// a time.
		if err := m.insert(ctx); err != nil || n < moveBatch {
			return err
		}
	}
}

// read reads a batch of rows and returns their number.
func (m *mover) read(rows *sql.Rows, scan func(*sql.Rows) (posting, string, error)) (n int, err error) {
	defer func() { _ = rows.Close() }()
	for ; rows.Next(); n++ {
		p, ref, err := scan(rows)
		if err != nil {
			return n, err
		}
		id, ok := m.ids[ref]
		if !ok {
			continue
		}
		if p.kid != m.last.kid || p.value != m.last.value {
			if err := m.end(); err != nil {
				return n, err
			}
			m.last = p
		}
		addTo(m.open, p.original, id)
		if p.kid != 0 && p.value != MaxText {
			addTo(m.has, p.kid, id)
		}
	}
	return n, rows.Err()
}

func addTo[K comparable](sets map[K]*idset.Set, key K, id uint32) {
	if sets[key] == nil {
		sets[key] = roaring.New()
	}
	sets[key].Add(id)
}

// end adds the sets of the last value.
func (m *mover) end() error {
	for original, set := range m.open {
		if err := m.add(posting{m.last.kid, m.last.value, original}, set); err != nil {
			return err
		}
	}
	clear(m.open)
	return nil
}

// add adds the rows of a set.
func (m *mover) add(p posting, set *idset.Set) error {
	rows, err := idset.Rows(set, false)
	for _, row := range rows {
		m.rows = append(m.rows, postingRow{p, row})
	}
	return err
}

// insert inserts the rows that were added.
func (m *mover) insert(ctx context.Context) error {
	err := m.tx.Insert(ctx, "postings (kid, value, original, block, n, ids)", "", 6, len(m.rows), func(i int, args []any) []any {
		r := &m.rows[i]
		return append(args, r.kid, r.value, r.original, r.Block, r.N, r.IDs)
	})
	m.rows = m.rows[:0]
	return err
}
