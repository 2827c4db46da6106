package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"example.dev/ingestor/internal/ingestion/state"
)

// fence is the number that somebody was given when they began something.
type fence struct {
	name string
	n    int64
}

// fenceKey is where a context has its fences.
type fenceKey struct{}

// Fence returns a context for doing something that others may do as well, in
// this process or in another: from the moment that one of them asks for a fence of
// the same name, whatever is written with the context of an earlier one fails with
// state.ErrSuperseded. What the later one reads and writes is the newer by that,
// however long the earlier one stood still in between.
func (s *Store) Fence(ctx context.Context, name string) (context.Context, error) {
	doing := fmt.Sprintf("begin %q", name)
	if err := s.present(); err != nil {
		return nil, fail(doing, err)
	}
	f := fence{name: storable(name)}
	if err := s.write.QueryRowContext(ctx, raiseFence, f.name).Scan(&f.n); err != nil {
		return nil, fail(doing, err)
	}
	return f.around(ctx), nil
}

// raiseFence gives the next number of a name.
const raiseFence = `INSERT INTO fences (name, n) VALUES ($1, 1)
	ON CONFLICT (name) DO UPDATE SET n = fences.n + 1 RETURNING n`

// FenceOf returns the number that a context has of the fence of a name, which is
// one more than that of whoever asked before; 0 if it has none.
func FenceOf(ctx context.Context, name string) int64 {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		if f.name == name {
			return f.n
		}
	}
	return 0
}

// around returns a context with one more fence.
func (f fence) around(ctx context.Context) context.Context {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	return context.WithValue(ctx, fenceKey{}, append(slices.Clip(all), f))
}

// inFence returns state.ErrSuperseded if a fence of the context is not the last of
// its name. Whoever asks for one while the transaction goes on begins after it.
func inFence(ctx context.Context, tx *sql.Tx) error {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		var n int64
		err := tx.QueryRowContext(ctx, "SELECT n FROM fences WHERE name = $1", f.name).Scan(&n)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if n != f.n {
			return state.ErrSuperseded
		}
	}
	return nil
}

// fencesHold is the condition that a statement holds in, which is the same, and
// its arguments, behind those that there are.
func fencesHold(ctx context.Context, args []any) (string, []any) {
	where := "1 = 1"
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		where += fmt.Sprintf(" AND (SELECT n FROM fences WHERE name = $%d) = $%d", len(args)+1, len(args)+2)
		args = append(args, f.name, f.n)
	}
	return where, args
}
