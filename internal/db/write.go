package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// These are the numbers of rows or values per statement. There are few different ones,
// so that statements can be prepared and reused. More rows save round trips to
// PostgreSQL. SQLite has no round trips, and its driver scans all values to find each,
// so that its number of rows depends on the number of columns.
var (
	sqliteBatches   = []int{16, 4, 1}
	sqliteNarrow    = []int{32, 8, 1}
	sqliteAsked     = []int{64, 16, 4, 1}
	postgresBatches = []int{256, 16, 1}
)

// Tx is a transaction that writes.
type Tx struct {
	*sql.Tx
	// N is the new value of the number that Transact increased.
	N int64
	// AroundCommit, if not nil, is called with the function that commits, and must call
	// it.
	AroundCommit func(commit func() error) error

	d *DB
	// prepared are the statements of this transaction by their text.
	prepared map[string]*sql.Stmt
	// args is a buffer that is reused.
	args []any
}

// Writers lets one goroutine of a process write at a time. Goroutines that wait for a
// row lock of PostgreSQL would hold a connection each, and leave none to readers.
// SQLite has one write connection anyway.
type Writers struct{ turn chan struct{} }

// NewWriters returns Writers without an active writer.
func NewWriters() Writers { return Writers{make(chan struct{}, 1)} }

// wait waits for the turn to write, and returns a function that ends it.
func (d *DB) wait(ctx context.Context, w Writers) (end func(), err error) {
	if d.Client == SQLite {
		return func() {}, nil
	}
	patience := time.NewTimer(d.Patience)
	defer patience.Stop()
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn }, nil
	case <-patience.C:
		return nil, Unavailable(errors.New("timed out waiting for other writers"))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Transact runs do in a transaction that increases the number n in a table with one
// row, whose row lock serializes the transactions of all replicas. Readers see all of
// the transaction or nothing. It fails with ErrSuperseded if a fence of the context was
// raised.
func (d *DB) Transact(ctx context.Context, w Writers, table string, do func(*Tx) error) (err error) {
	defer func() { d.wrote(err) }()
	if err := d.Present(); err != nil {
		return err
	}
	end, err := d.wait(ctx, w)
	if err != nil {
		return err
	}
	defer end()
	tx, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if d.Client == Postgres {
		// A replica that disappeared must not block the others forever.
		_, err := tx.ExecContext(ctx, fmt.Sprintf(
			"SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %[1]d", d.Patience.Milliseconds()))
		if err != nil {
			return err
		}
	}
	if err := tx.QueryRowContext(ctx, "UPDATE "+table+" SET n = n + 1 RETURNING n").Scan(&tx.N); err != nil {
		return err
	}
	if err := checkFences(ctx, tx.Tx); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	if tx.AroundCommit != nil {
		return tx.AroundCommit(tx.Commit)
	}
	return tx.Commit()
}

// InTx runs do in a transaction that does not wait for Transact, except with SQLite,
// which has one writer.
func (d *DB) InTx(ctx context.Context, do func(*Tx) error) (err error) {
	defer func() { d.wrote(err) }()
	tx, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (d *DB) begin(ctx context.Context) (*Tx, error) {
	tx, err := d.Write.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, d: d, prepared: map[string]*sql.Stmt{}}, nil
}

// Insert writes rows: into is the table with its columns, tail follows the values, and
// row appends the columns of one row.
func (tx *Tx) Insert(ctx context.Context, into, tail string, columns, rows int, row func(i int, args []any) []any) error {
	return tx.ExecValues(ctx, tx.d.inserting(into), tail, columns, rows, row)
}

// ExecValues runs a statement that has rows of values between head and tail:
//
//	head ($1,$2),($3,$4) tail
//
// as often as the number of rows requires.
func (tx *Tx) ExecValues(ctx context.Context, head, tail string, columns, rows int, row func(i int, args []any) []any) error {
	var stmt *sql.Stmt
	for i, size := 0, 0; i < rows; i += size {
		if next := tx.d.batch(columns, rows-i); next != size {
			var err error
			if stmt, err = tx.prepare(ctx, head+tx.d.values(0, next, columns)+tail); err != nil {
				return err
			}
			size = next
		}
		tx.args = tx.args[:0]
		for j := range size {
			tx.args = row(i+j, tx.args)
		}
		if err := tx.exec(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// InsertMissing inserts the rows that do not exist. constants follow the values of each row.
// It calls exists with the range of rows of each statement that met an existing row, and
// inserted the others.
func (tx *Tx) InsertMissing(
	ctx context.Context, into, constants string, columns, rows int, row func(i int, args []any) []any, exists func(from, to int),
) error {
	for i, size := 0, 0; i < rows; i += size {
		size = tx.d.batch(columns, rows-i)
		stmt, err := tx.prepare(ctx, "INSERT INTO "+into+" VALUES "+strings.ReplaceAll(tx.d.values(0, size, columns), ")", constants+")")+" ON CONFLICT DO NOTHING")
		if err != nil {
			return err
		}
		tx.args = tx.args[:0]
		for j := range size {
			tx.args = row(i+j, tx.args)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		res, err := stmt.ExecContext(tx.d.Brief(ctx), tx.args...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n < int64(size) {
			exists(i, i+size)
		}
	}
	return nil
}

// SelectValues runs a query that has rows of values between head and tail, as ExecValues
// does, and calls scan for each row that it returns.
func (tx *Tx) SelectValues(
	ctx context.Context, head, tail string, columns, rows int, row func(i int, args []any) []any, scan func(*Rows) error,
) error {
	for i, size := 0, 0; i < rows; i += size {
		size = tx.d.batch(columns, rows-i)
		tx.args = tx.args[:0]
		for j := range size {
			tx.args = row(i+j, tx.args)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := Each(tx.d.Brief(ctx), tx.Ask, head+tx.d.values(0, size, columns)+tail, tx.args, scan); err != nil {
			return err
		}
	}
	return nil
}

// inserting returns the beginning of an INSERT statement.
func (d *DB) inserting(into string) string {
	if d.Client == SQLite {
		// On any failure, the whole transaction is rolled back, so that SQLite need not be
		// able to roll back the single statement, which costs a copy of every page.
		return "INSERT OR FAIL INTO " + into + " VALUES "
	}
	return "INSERT INTO " + into + " VALUES "
}

// Equal is a condition of a statement.
type Equal struct {
	Column string
	Value  any
}

// DeleteIn deletes the rows of a table whose column is one of the values, and for which
// the other conditions hold.
func (tx *Tx) DeleteIn(ctx context.Context, table, column string, in []string, and ...Equal) error {
	for i, size := 0, 0; i < len(in); i += size {
		size = tx.d.batch(1, len(in)-i)
		tx.args = tx.args[:0]
		for _, v := range in[i : i+size] {
			tx.args = append(tx.args, v)
		}
		query := "DELETE FROM " + table + " WHERE " + column + " IN " + tx.d.values(0, 1, size)
		for _, e := range and {
			tx.args = append(tx.args, e.Value)
			query += " AND " + e.Column + " = " + tx.d.Placeholder(len(tx.args))
		}
		stmt, err := tx.prepare(ctx, query)
		if err != nil {
			return err
		}
		if err := tx.exec(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement with the arguments in tx.args.
func (tx *Tx) exec(ctx context.Context, stmt *sql.Stmt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := stmt.ExecContext(tx.d.Brief(ctx), tx.args...)
	return err
}

// Ask runs a query in the transaction. It is an Asker.
func (tx *Tx) Ask(ctx context.Context, query string, args ...any) (*Rows, error) {
	stmt, err := tx.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	found, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &Rows{Rows: found}, nil
}

// prepare returns a statement that is closed at the end of the transaction.
func (tx *Tx) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := tx.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := tx.Tx.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	tx.prepared[query] = stmt
	return stmt, nil
}

// batchOf returns the largest batch size that the remaining rows fill.
func batchOf(sizes []int, left int) int {
	for _, size := range sizes {
		if left >= size {
			return size
		}
	}
	return left
}

// batch is batchOf for writing rows with that many columns.
func (d *DB) batch(columns, left int) int {
	switch {
	case d.Client == Postgres:
		return batchOf(postgresBatches, left)
	case columns <= 2:
		return batchOf(sqliteNarrow, left)
	}
	return batchOf(sqliteBatches, left)
}

// values returns rows of placeholders, ($1,$2),($3,$4), that follow before other
// parameters. SQLite gets question marks, because its driver would look up numbered
// parameters by their text.
func (d *DB) values(before, rows, columns int) string {
	var b strings.Builder
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range columns {
			b.WriteByte("(,"[min(j, 1)])
			b.WriteString(d.Placeholder(before + i*columns + j + 1))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// Placeholder returns the n-th parameter of a statement: $n, or ? with SQLite.
func (d *DB) Placeholder(n int) string {
	if d.Client == Postgres {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}
