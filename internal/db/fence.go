package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// fence is the fencing number that a caller was given.
type fence struct {
	name string
	n    int64
}

// fenceKey is the key of a context's fences.
type fenceKey struct{}

// Fence returns a context for work that other callers may do as well, in this process
// or in another: once one of them has asked for a fence of the same name, everything
// that is written with the context of an earlier one fails with ErrSuperseded. Whatever
// the later one reads is newer for that reason, however long the earlier one stood
// still in between.
func (d *DB) Fence(ctx context.Context, name string) (context.Context, error) {
	doing := fmt.Sprintf("begin %q", name)
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
// of the caller before; 0 if there is none.
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

// checkFences returns ErrSuperseded if a fence of the context is not the last of its
// name. A caller that asks for one while the transaction goes on begins after it.
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
