package store

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// keptStatements is how many statements for reading are kept prepared.
const keptStatements = 128

// statements are prepared statements for reading from SQLite, the ones used
// last. PostgreSQL's driver keeps its own.
type statements struct {
	mu     sync.Mutex
	byText map[string]*list.Element
	recent list.List
}

// prepared is a statement and how many are using it.
type prepared struct {
	text    string
	stmt    *sql.Stmt
	users   int
	dropped bool
}

// get returns the prepared statement, to be given back.
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
		// Somebody else was faster: this one is used once.
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

// rows are what a statement finds. Close them.
type rows struct {
	*sql.Rows
	release func()
}

func (r *rows) close() {
	_ = r.Close()
	if r.release != nil {
		r.release()
	}
}

// asker asks the database, or a transaction.
type asker func(ctx context.Context, text string, args ...any) (*rows, error)

// rows asks the database.
func (s *Store) rows(ctx context.Context, text string, args ...any) (*rows, error) {
	return s.ask(ctx, nil, text, args...)
}

func (s *Store) ask(ctx context.Context, tx *sql.Tx, text string, args ...any) (*rows, error) {
	r := &rows{}
	var err error
	if s.opts.Client != SQLite {
		if tx != nil {
			r.Rows, err = tx.QueryContext(ctx, text, args...)
		} else {
			r.Rows, err = s.read.QueryContext(ctx, text, args...)
		}
		return r, err
	}
	p, err := s.statements.get(ctx, s.read, text)
	if err != nil {
		return nil, err
	}
	stmt := p.stmt
	if tx != nil {
		stmt = tx.StmtContext(ctx, stmt)
	}
	r.release = func() { s.statements.giveBack(p) }
	if r.Rows, err = stmt.QueryContext(ctx, args...); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// each asks and calls f for each row.
func each(ctx context.Context, ask asker, b *statement, f func(*rows) error) error {
	return eachRow(ctx, ask, b.String(), b.args, f)
}

func eachRow(ctx context.Context, ask asker, text string, args []any, f func(*rows) error) error {
	rows, err := ask(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// snapshots bounds how many snapshots there are at once. Each holds a connection,
// of a list for as long as somebody takes to read it, and other calls need some
// too.
type snapshots struct {
	once  sync.Once
	turns chan struct{}
}

// begin waits for a turn out of n, to be ended.
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

// list calls f with an asker for which nothing changes meanwhile. It may take
// its time.
func (s *Store) list(ctx context.Context, f func(asker) error) error {
	return s.snapshot(ctx, &s.lists, max(1, s.read.Stats().MaxOpenConnections/2), f)
}

// page is list for what ends at once, and does not wait for lists.
func (s *Store) page(ctx context.Context, f func(asker) error) error {
	return s.snapshot(ctx, &s.pages, max(1, s.read.Stats().MaxOpenConnections/4), f)
}

func (s *Store) snapshot(ctx context.Context, k *snapshots, n int, f func(asker) error) error {
	if err := k.begin(ctx, n); err != nil {
		return err
	}
	defer k.end()
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{Isolation: s.isolation(), ReadOnly: true})
	if err != nil {
		return err
	}
	// There is nothing to commit.
	defer func() { _ = tx.Rollback() }()
	return f(func(ctx context.Context, text string, args ...any) (*rows, error) {
		return s.ask(ctx, tx, text, args...)
	})
}

// isolation is what a snapshot takes: with SQLite every transaction is one.
func (s *Store) isolation() sql.IsolationLevel {
	if s.opts.Client == SQLite {
		return sql.LevelDefault
	}
	return sql.LevelRepeatableRead
}
