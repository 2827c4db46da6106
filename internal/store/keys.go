package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// keyNumbers remembers the numbers of keys that are in the database for good.
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

// all returns the numbers of keys, if it knows them all.
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

// put remembers the numbers of keys. It must be told committed rows only.
func (k *keyNumbers) put(numbers map[string]int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.number == nil {
		k.number = map[string]int64{}
	}
	maps.Copy(k.number, numbers)
}

// intern finds out the numbers that keys have in the database, and gives numbers
// to those that have none. They are in w.kids then.
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
	err := w.s.selectIn(ctx, w.ask, "SELECT id, key FROM keys WHERE key IN ", slices.Clone(strange), func(rows *rows) error {
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
	if err := w.tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM keys").Scan(&last); err != nil {
		return err
	}
	strange = slices.DeleteFunc(strange, func(key string) bool { return w.kids[key] != 0 })
	return w.insert(ctx, "keys (id, key)", "", 2, len(strange), func(i int, args []any) []any {
		last++
		w.kids[strange[i]] = last
		return append(args, last, strange[i])
	})
}

// secretSize is the number of random bytes of a secret.
const secretSize = 32

// Secret returns random bytes that are made when they are first asked for, and
// are the same for everybody who shares the database.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	doing := fmt.Sprintf("read secret %q", name)
	var value []byte
	get := func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT value FROM secrets WHERE name = $1", name).Scan(&value)
	}
	err := get(s.read)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return value, fail(doing, err)
	}
	fresh := make([]byte, secretSize)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fail(doing, err)
	}
	// Whoever comes first decides.
	if _, err := s.write.ExecContext(ctx,
		"INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
		return nil, fail(doing, err)
	}
	return value, fail(doing, get(s.write))
}

// AddKey stores the public half of a signing key, or a new time for one that
// is there.
func (s *Store) AddKey(ctx context.Context, k Key) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO signing_keys (id, jwk, expires) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET jwk = excluded.jwk, expires = excluded.expires`,
		k.ID, k.JWK, k.Expires.UnixMilli())
	return fail(fmt.Sprintf("store signing key %q", k.ID), err)
}

// Keys returns the keys that have not expired, by id.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	const doing = "read the signing keys"
	rows, err := s.read.QueryContext(ctx,
		"SELECT id, jwk, expires FROM signing_keys WHERE expires > $1 ORDER BY id", s.opts.Now().UnixMilli())
	if err != nil {
		return nil, fail(doing, err)
	}
	defer func() { _ = rows.Close() }()
	var keys []Key
	for rows.Next() {
		var k Key
		var expires int64
		if err := rows.Scan(&k.ID, &k.JWK, &expires); err != nil {
			return nil, fail(doing, err)
		}
		k.Expires = time.UnixMilli(expires).UTC()
		keys = append(keys, k)
	}
	return keys, fail(doing, rows.Err())
}

// DropKeys removes the keys that have expired.
func (s *Store) DropKeys(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, "DELETE FROM signing_keys WHERE expires <= $1", s.opts.Now().UnixMilli())
	return fail("remove expired signing keys", err)
}
