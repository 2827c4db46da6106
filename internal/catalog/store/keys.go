package store

import (
	"context"
	"maps"
	"slices"
	"sync"

	"example.dev/ingestor/internal/db"
)

// keyNumbers caches the numbers of keys, which never change in the database.
type keyNumbers struct {
	mu     sync.RWMutex
	number map[string]int64
}

func (k *keyNumbers) get(key string) (int64, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	n, ok := k.number[key]
	return n, ok
}

// all returns the numbers of keys, if all of them are cached.
func (k *keyNumbers) all(keys []string) (map[string]int64, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	numbers := make(map[string]int64, len(keys))
	for _, key := range keys {
		n, ok := k.number[key]
		if !ok {
			return nil, false
		}
		numbers[key] = n
	}
	return numbers, true
}

// put caches the numbers of keys. These must be of committed rows only.
func (k *keyNumbers) put(numbers map[string]int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.number == nil {
		k.number = map[string]int64{}
	}
	maps.Copy(k.number, numbers)
}

// keyResolver finds the numbers of keys. A key without a number is one that no entity
// has.
type keyResolver struct {
	*keyNumbers
	missing []string
}

// id returns the number of a key, which must be as it is indexed.
func (k *keyResolver) id(key string) (int64, bool) {
	n, ok := k.get(key)
	if !ok && !tooLong(key) {
		k.missing = append(k.missing, key)
	}
	return n, ok
}

// resolveKeys calls resolve, and calls it again if it asked for keys that were not
// cached and are in the database, where another replica may have added them.
func (s *Store) resolveKeys(ctx context.Context, resolve func(*keyResolver)) error {
	k := &keyResolver{keyNumbers: &s.keys}
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
		s.keys.put(found)
		resolve(k)
	}
	return nil
}

// intern looks up the numbers of keys in the database, assigns numbers to new keys, and
// stores them all in w.kids.
func (w *writer) intern(ctx context.Context, keys []string) error {
	var strange []string
	for _, key := range keys {
		if _, ok := w.kids[key]; ok {
			continue
		}
		n, ok := w.s.keys.get(key)
		if !ok {
			strange = append(strange, key)
		}
		w.kids[key] = n
	}
	if len(strange) == 0 {
		return nil
	}
	err := w.s.SelectIn(ctx, w.Ask, "SELECT id, key FROM keys WHERE key IN ", slices.Clone(strange), func(rows *db.Rows) error {
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
