package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// These are the numbers of rows or values in one statement. There are few of
// them, so that statements can be prepared and kept. More rows make fewer trips
// to PostgreSQL. SQLite is not far away, and its driver goes through all values
// to find each, so that its number of rows depends on how many values they have.
var (
	sqliteBatches   = []int{16, 4, 1}
	sqliteNarrow    = []int{32, 8, 1}
	sqliteAsked     = []int{64, 16, 4, 1}
	postgresBatches = []int{256, 16, 1}
	// sqliteRuns are for rows that differ in one column.
	sqliteRuns = []int{32, 8}
)

// writer is a transaction that changes entities, or what ingestion remembers.
type writer struct {
	s  *Store
	tx *sql.Tx
	// n is the revision or the stamp of the transaction.
	n int64
	// prepared are the statements of this transaction by their text.
	prepared map[string]*sql.Stmt
	// kids are the numbers of keys met so far.
	kids map[string]int64
	// args is memory that is used again.
	args []any
	// trace, if it is there, is of all that the transaction changes.
	trace *trace
	// changed are the references of entities whose fields it writes or removes.
	changed []string
}

// change runs do in a transaction that raises the revision. Whoever else wants
// to change entities waits; readers see all of it or nothing.
func (s *Store) change(ctx context.Context, do func(*writer) error) error {
	return s.transact(ctx, s.changing, "revision", func(w *writer) error {
		if err := do(w); err != nil {
			return err
		}
		return w.logChanges(ctx)
	})
}

// observe is change for what ingestion remembers. Neither waits for the other,
// but for SQLite, which has one writer.
func (s *Store) observe(ctx context.Context, do func(*writer) error) error {
	return s.transact(ctx, s.observing, "stamp", do)
}

// transact runs do in a transaction that raises the number in a table, whose row
// is the lock.
func (s *Store) transact(ctx context.Context, turns chan struct{}, table string, do func(*writer) error) error {
	if err := s.present(); err != nil {
		return err
	}
	end, err := s.turn(ctx, turns)
	if err != nil {
		return err
	}
	defer end()
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	w := &writer{s: s, tx: tx, prepared: map[string]*sql.Stmt{}, kids: map[string]int64{}}
	defer func() { _ = tx.Rollback() }()
	if s.opts.Client == Postgres {
		// A replica that vanished must not keep the others waiting for good.
		_, err := tx.ExecContext(ctx, fmt.Sprintf(
			"SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %[1]d", s.patience.Milliseconds()))
		if err != nil {
			return err
		}
	}
	if err := tx.QueryRowContext(ctx, "UPDATE "+table+" SET n = n + 1 RETURNING n").Scan(&w.n); err != nil {
		return err
	}
	if err := inFence(ctx, tx); err != nil {
		return err
	}
	if err := do(w); err != nil {
		return err
	}
	if err := s.traces.leave(w.n, w.trace, tx.Commit); err != nil {
		return err
	}
	s.keys.put(w.kids)
	return nil
}

// turn waits until nobody else in this process has the turn, and returns how to
// end that. Those who wait for a row would hold a connection each, and leave
// none to whoever reads. SQLite has one connection for all of them.
func (s *Store) turn(ctx context.Context, turns chan struct{}) (end func(), err error) {
	if s.opts.Client == SQLite {
		return func() {}, nil
	}
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-patience.C:
		return nil, unavailable{errors.New("others are writing to it, and have been for too long")}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// insert writes rows: into is the table with its columns, tail what is behind
// the values, and row appends the columns of one row.
func (w *writer) insert(ctx context.Context, into, tail string, columns, rows int, row func(i int, args []any) []any) error {
	head := w.s.inserting(into)
	var stmt *sql.Stmt
	for i, size := 0, 0; i < rows; i += size {
		if next := w.s.batch(columns, rows-i); next != size {
			var err error
			if stmt, err = w.prepare(ctx, head+w.s.values(0, next, columns)+tail); err != nil {
				return err
			}
			size = next
		}
		w.args = w.args[:0]
		for j := range size {
			w.args = row(i+j, w.args)
		}
		if err := w.exec(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// inserting is how a statement begins that writes rows.
func (s *Store) inserting(into string) string {
	if s.opts.Client == SQLite {
		// Whatever fails, the transaction is undone as a whole, so SQLite
		// need not be able to undo the statement alone, which costs a copy of
		// every page.
		return "INSERT OR FAIL INTO " + into + " VALUES "
	}
	return "INSERT INTO " + into + " VALUES "
}

// insertRuns is insert for rows of which many in a row are the same but for the
// last column: SQLite is told once what they share, since to hand it a value is a
// good part of the work.
func (w *writer) insertRuns(
	ctx context.Context, into string, columns, rows int, same func(i, j int) bool, row func(i int, args []any) []any,
) error {
	// Rows from alone on are in no run.
	alone := 0
	flush := func(end int) error {
		from := alone
		return w.insert(ctx, into, "", columns, end-from, func(i int, args []any) []any { return row(from+i, args) })
	}
	if w.s.opts.Client != SQLite {
		return flush(rows)
	}
	stmts := make([]*sql.Stmt, len(sqliteRuns))
	for i := 0; i < rows; {
		end := i + 1
		for end < rows && same(i, end) {
			end++
		}
		if end-i < sqliteRuns[len(sqliteRuns)-1] {
			i = end
			continue
		}
		if err := flush(i); err != nil {
			return err
		}
		for k, size := range sqliteRuns {
			for ; end-i >= size; i += size {
				if stmts[k] == nil {
					var err error
					if stmts[k], err = w.prepare(ctx, w.s.inserting(into)+alike(columns, size)); err != nil {
						return err
					}
				}
				w.args = row(i, w.args[:0])
				for j := 1; j < size; j++ {
					whole := row(i+j, w.args)
					w.args = append(w.args, whole[len(whole)-1])
				}
				if err := w.exec(ctx, stmts[k]); err != nil {
					return err
				}
			}
		}
		alone, i = i, end
	}
	return flush(rows)
}

// alike writes the placeholders of rows that share all columns but the last:
// (?1,?2),(?1,?3).
func alike(columns, rows int) string {
	var b strings.Builder
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('(')
		for j := 1; j < columns; j++ {
			fmt.Fprintf(&b, "?%d,", j)
		}
		fmt.Fprintf(&b, "?%d)", columns+i)
	}
	return b.String()
}

// someAdded is how many new entities make it worth counting anew.
const someAdded = 200

// analyze has PostgreSQL count what it has after so many entities were added, as long
// as most of the rows are new: it would do so of its own accord some minutes later, and
// plans badly until then.
func (w *writer) analyze(ctx context.Context, added int) error {
	if added < someAdded || w.s.opts.Client != Postgres {
		return nil
	}
	var have int
	if err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM entities").Scan(&have); err != nil || have > 3*added {
		return err
	}
	_, err := w.tx.ExecContext(ctx, "ANALYZE entities, documents, search, fields, terms, relations")
	return err
}

// equal is a condition of a statement.
type equal struct {
	column string
	value  any
}

// deleteIn deletes the rows of a table whose column is one of the values, and
// for which the other conditions hold.
func (w *writer) deleteIn(ctx context.Context, table, column string, in []string, and ...equal) error {
	for i, size := 0, 0; i < len(in); i += size {
		size = w.s.batch(1, len(in)-i)
		w.args = w.args[:0]
		for _, v := range in[i : i+size] {
			w.args = append(w.args, v)
		}
		query := "DELETE FROM " + table + " WHERE " + column + " IN " + w.s.values(0, 1, size)
		for _, e := range and {
			w.args = append(w.args, e.value)
			query += " AND " + e.column + " = " + w.s.placeholder(len(w.args))
		}
		stmt, err := w.prepare(ctx, query)
		if err != nil {
			return err
		}
		if err := w.exec(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement with the arguments in w.args.
func (w *writer) exec(ctx context.Context, stmt *sql.Stmt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := stmt.ExecContext(w.s.brief(ctx), w.args...)
	return err
}

// ask asks the transaction.
func (w *writer) ask(ctx context.Context, query string, args ...any) (*rows, error) {
	stmt, err := w.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &rows{Rows: found}, nil
}

// prepare returns a statement that the end of the transaction closes.
func (w *writer) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := w.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.tx.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	w.prepared[query] = stmt
	return stmt, nil
}

// selectIn runs a query that ends in "IN" for the values, which it sorts, and
// calls scan for each row. before are the parameters before that word.
func (s *Store) selectIn(ctx context.Context, ask asker, query string, in []string, scan func(*rows) error, before ...any) error {
	sizes := sqliteAsked
	if s.opts.Client == Postgres {
		sizes = postgresBatches
	}
	slices.Sort(in)
	args := make([]any, 0, len(before)+sizes[0])
	args = append(args, before...)
	for i, size := 0, 0; i < len(in); i += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		size = batchOf(sizes, len(in)-i)
		args = args[:len(before)]
		for _, v := range in[i : i+size] {
			args = append(args, v)
		}
		if err := eachRow(s.brief(ctx), ask, query+s.values(len(before), 1, size), args, scan); err != nil {
			return err
		}
	}
	return nil
}

// batchOf returns the largest batch that left rows fill.
func batchOf(sizes []int, left int) int {
	for _, size := range sizes {
		if left >= size {
			return size
		}
	}
	return left
}

// batch is batchOf for rows of so many columns that are written.
func (s *Store) batch(columns, left int) int {
	switch {
	case s.opts.Client == Postgres:
		return batchOf(postgresBatches, left)
	case columns <= 2:
		return batchOf(sqliteNarrow, left)
	}
	return batchOf(sqliteBatches, left)
}

// values writes so many rows of placeholders: ($1,$2),($3,$4), behind others.
// SQLite gets question marks, because its driver would look for numbers by their
// text.
func (s *Store) values(before, rows, columns int) string {
	var b strings.Builder
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range columns {
			b.WriteByte("(,"[min(j, 1)])
			b.WriteString(s.placeholder(before + i*columns + j + 1))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// placeholder is the n-th of a statement.
func (s *Store) placeholder(n int) string {
	if s.opts.Client == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}
