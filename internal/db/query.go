package db

import (
	"container/list"
	"context"
	"database/sql"
	"slices"
	"sync"
)

// keptStatements is how many statements for reading are kept prepared.
const keptStatements = 128

// statements caches prepared statements for reading from SQLite, the most recently used
// ones. PostgreSQL's driver has its own cache.
type statements struct {
	mu     sync.Mutex
	byText map[string]*list.Element
	recent list.List
}

// prepared is a statement and the number of its users.
type prepared struct {
	text    string
	stmt    *sql.Stmt
	users   int
	dropped bool
}

// get returns the prepared statement, which the caller must return with giveBack.
func (k *statements) get(ctx context.Context, db *sql.DB, text string) (*prepared, error) {
	if p := k.find(text); p != nil {
		return p, nil
	}
	stmt, err := db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return k.keep(text, stmt), nil
}

func (k *statements) find(text string) *prepared {
	k.mu.Lock()
	defer k.mu.Unlock()
	el, ok := k.byText[text]
	if !ok {
		return nil
	}
	k.recent.MoveToFront(el)
	p := el.Value.(*prepared)
	p.users++
	return p
}

func (k *statements) keep(text string, stmt *sql.Stmt) *prepared {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byText == nil {
		k.byText = map[string]*list.Element{}
	}
	p := &prepared{text: text, stmt: stmt, users: 1}
	if _, ok := k.byText[text]; ok {
		// Another goroutine was faster: this statement is used once.
		p.dropped = true
		return p
	}
	k.byText[text] = k.recent.PushFront(p)
	if len(k.byText) > keptStatements {
		last := k.recent.Remove(k.recent.Back()).(*prepared)
		delete(k.byText, last.text)
		if last.dropped = true; last.users == 0 {
			_ = last.stmt.Close()
		}
	}
	return p
}

func (k *statements) giveBack(p *prepared) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.users--; p.users == 0 && p.dropped {
		_ = p.stmt.Close()
	}
}

// Rows are the result of a query. The caller must close them.
type Rows struct {
	*sql.Rows
	release func()
}

// Close closes the rows and releases their statement.
func (r *Rows) Close() error {
	err := r.Rows.Close()
	if r.release != nil {
		r.release()
	}
	return err
}

// Asker runs a query on the database, on a snapshot or in a transaction.
type Asker func(ctx context.Context, text string, args ...any) (*Rows, error)

// Query runs a query on the database. It is an Asker.
func (d *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	return d.query(ctx, nil, text, args...)
}

func (d *DB) query(ctx context.Context, tx *sql.Tx, text string, args ...any) (*Rows, error) {
	r := &Rows{}
	var err error
	if d.Client != SQLite {
		if tx != nil {
			r.Rows, err = tx.QueryContext(ctx, text, args...)
		} else {
			r.Rows, err = d.Read.QueryContext(ctx, text, args...)
		}
		return r, err
	}
	p, err := d.statements.get(ctx, d.Read, text)
	if err != nil {
		return nil, err
	}
	stmt := p.stmt
	if tx != nil {
		stmt = tx.StmtContext(ctx, stmt)
	}
	r.release = func() { d.statements.giveBack(p) }
	if r.Rows, err = stmt.QueryContext(ctx, args...); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// Each runs a query and calls f for each row.
func Each(ctx context.Context, ask Asker, text string, args []any, f func(*Rows) error) error {
	rows, err := ask(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error.
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Texts returns the only column of a query.
func (d *DB) Texts(ctx context.Context, query string, args ...any) ([]string, error) {
	var all []string
	err := Each(ctx, d.Query, query, args, func(rows *Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		all = append(all, text)
		return nil
	})
	return all, err
}

// SelectIn runs a query that ends in "IN" for the values, which it sorts, in batches,
// and calls scan for each row. before are the parameters before the values.
func (d *DB) SelectIn(ctx context.Context, ask Asker, query string, in []string, scan func(*Rows) error, before ...any) error {
	sizes := sqliteAsked
	if d.Client == Postgres {
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
		if err := Each(d.Brief(ctx), ask, query+d.values(len(before), 1, size), args, scan); err != nil {
			return err
		}
	}
	return nil
}

// Brief returns the context for a statement that touches a few rows. With SQLite it is
// not cancelable: watching a context costs as much as the statement, which does not
// wait for anything.
func (d *DB) Brief(ctx context.Context) context.Context {
	if d.Client == SQLite {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// snapshots limits the number of concurrent snapshots. Each holds a connection, for a
// list as long as its reader takes, and other calls need connections too.
type snapshots struct {
	once  sync.Once
	turns chan struct{}
}

// begin waits for one of n slots.
func (k *snapshots) begin(ctx context.Context, n int) error {
	k.once.Do(func() { k.turns = make(chan struct{}, n) })
	select {
	case k.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *snapshots) end() { <-k.turns }

// LongSnapshot calls f with an Asker that reads one snapshot. f may take long.
func (d *DB) LongSnapshot(ctx context.Context, f func(Asker) error) error {
	return d.snapshot(ctx, &d.lists, max(1, d.Read.Stats().MaxOpenConnections/2), f)
}

// Snapshot is LongSnapshot for short reads, which do not wait for long ones.
func (d *DB) Snapshot(ctx context.Context, f func(Asker) error) error {
	return d.snapshot(ctx, &d.pages, max(1, d.Read.Stats().MaxOpenConnections/4), f)
}

func (d *DB) snapshot(ctx context.Context, k *snapshots, n int, f func(Asker) error) error {
	if err := k.begin(ctx, n); err != nil {
		return err
	}
	defer k.end()
	tx, err := d.Read.BeginTx(ctx, &sql.TxOptions{Isolation: d.isolation(), ReadOnly: true})
	if err != nil {
		return err
	}
	// There is nothing to commit.
	defer func() { _ = tx.Rollback() }()
	return f(func(ctx context.Context, text string, args ...any) (*Rows, error) {
		return d.query(ctx, tx, text, args...)
	})
}

// isolation returns the isolation level of a snapshot: with SQLite every transaction is
// a snapshot.
func (d *DB) isolation() sql.IsolationLevel {
	if d.Client == SQLite {
		return sql.LevelDefault
	}
	return sql.LevelRepeatableRead
}
