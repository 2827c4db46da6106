package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// fence is the fencing token of a caller.
type fence struct {
	name string
	n    int64
}

// fenceKey is the context key of fences.
type fenceKey struct{}

// Fence returns a context for work that several callers may do, in this process or in
// another: once one of them has called Fence with the same name, all writes with the
// context of an earlier caller fail with ErrSuperseded. So stale data of an earlier
// caller never overwrites what a later one has read and written, however long the
// earlier one was suspended.
func (d *DB) Fence(ctx context.Context, name string) (context.Context, error) {
	doing := fmt.Sprintf("raise fence %q", name)
	if err := d.Present(); err != nil {
		return nil, Fail(doing, err)
	}
	f := fence{name: Storable(name)}
	if err := d.Write.QueryRowContext(ctx, raiseFence, f.name).Scan(&f.n); err != nil {
		return nil, Fail(doing, err)
	}
	return f.around(ctx), nil
}

// raiseFence returns the next number of a name.
const raiseFence = `INSERT INTO fences (name, n) VALUES ($1, 1)
	ON CONFLICT (name) DO UPDATE SET n = fences.n + 1 RETURNING n`

// FenceOf returns the number of the fence of that name in a context, one more than that
// of the previous caller; 0 if there is none.
func FenceOf(ctx context.Context, name string) int64 {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		if f.name == name {
			return f.n
		}
	}
	return 0
}

// around returns a context with the fence added.
func (f fence) around(ctx context.Context) context.Context {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	return context.WithValue(ctx, fenceKey{}, append(slices.Clip(all), f))
}

// checkFences returns ErrSuperseded if a fence of the context is not the latest of its
// name. A caller that raises it during the transaction starts after this transaction.
func checkFences(ctx context.Context, tx *sql.Tx) error {
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		var n int64
		err := tx.QueryRowContext(ctx, "SELECT n FROM fences WHERE name = $1", f.name).Scan(&n)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if n != f.n {
			return ErrSuperseded
		}
	}
	return nil
}

// FencesHold returns the same check as a condition for a single statement, and args
// with its arguments appended:
//
//	1 = 1 AND (SELECT n FROM fences WHERE name = $3) = $4
func FencesHold(ctx context.Context, args []any) (string, []any) {
	where := "1 = 1"
	all, _ := ctx.Value(fenceKey{}).([]fence)
	for _, f := range all {
		where += fmt.Sprintf(" AND (SELECT n FROM fences WHERE name = $%d) = $%d", len(args)+1, len(args)+2)
		args = append(args, f.name, f.n)
	}
	return where, args
}
