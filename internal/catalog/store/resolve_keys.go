package store

import (
	"context"
	"slices"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// keyResolver finds the numbers of keys. A key without a number is one that no entity
// has.
type keyResolver struct {
	*index.Keys
	missing []string
}

// id returns the number of a key, which must be as it is indexed.
func (k *keyResolver) id(key string) (int64, bool) {
	n, ok := k.Get(key)
	if !ok && !index.TooLong(key) {
		k.missing = append(k.missing, key)
	}
	return n, ok
}

// resolveKeys calls resolve, and calls it again if it asked for keys that were not
// cached and are in the database, where another replica may have added them.
func (s *Store) resolveKeys(ctx context.Context, resolve func(*keyResolver)) error {
	k := &keyResolver{Keys: s.keys}
	resolve(k)
	found := map[string]int64{}
	for some := range slices.Chunk(k.missing, batch) {
		var b db.Statement
		b.Add("SELECT key, id FROM keys WHERE key IN ")
		b.List(some)
		err := b.Each(ctx, s.DB.Query, func(rows *db.Rows) error {
			var key string
			var id int64
			err := rows.Scan(&key, &id)
			found[key] = id
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(found) > 0 {
		s.keys.Put(found)
		resolve(k)
	}
	return nil
}
