package write

import (
	"context"
	"slices"

	"example.dev/ingestor/internal/db"
)

// intern looks up the numbers of keys in the database, assigns numbers to new keys, and
// stores them all in w.kids.
func (w *transaction) intern(ctx context.Context, keys []string) error {
	var strange []string
	for _, key := range keys {
		if _, ok := w.kids[key]; ok {
			continue
		}
		n, ok := w.s.keys.Get(key)
		if !ok {
			strange = append(strange, key)
		}
		w.kids[key] = n
	}
	if len(strange) == 0 {
		return nil
	}
	err := w.s.db.SelectIn(ctx, w.Ask, "SELECT id, key FROM keys WHERE key IN ", slices.Clone(strange), func(rows *db.Rows) error {
		var n int64
		var key string
		if err := rows.Scan(&n, &key); err != nil {
			return err
		}
		w.kids[key] = n
		return nil
	})
	if err != nil {
		return err
	}
	var last int64
	if err := w.Tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM keys").Scan(&last); err != nil {
		return err
	}
	strange = slices.DeleteFunc(strange, func(key string) bool { return w.kids[key] != 0 })
	return w.Insert(ctx, "keys (id, key)", "", 2, len(strange), func(i int, args []any) []any {
		last++
		w.kids[strange[i]] = last
		return append(args, last, strange[i])
	})
}
