package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/keyring"
)

// Storage stores signing keys and revoked sessions. All methods may be called
// concurrently.
type Storage struct{ *db.DB }

// NewStorage returns the storage in a database.
func NewStorage(d *db.DB) *Storage { return &Storage{d} }

// RevokeSession records that a session has ended, until it expires. Revoking it again
// only changes the expiry, if that is later.
func (s *Storage) RevokeSession(ctx context.Context, id string, expires time.Time) error {
	_, err := s.Write.ExecContext(ctx, `INSERT INTO revoked_sessions (id, expires) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET expires = excluded.expires WHERE excluded.expires > revoked_sessions.expires`,
		id, expires.UnixMilli())
	return db.Fail("revoke session", err)
}

// SessionRevoked reports whether a session has been revoked.
func (s *Storage) SessionRevoked(ctx context.Context, id string) (bool, error) {
	var one int
	err := s.Read.QueryRowContext(ctx, "SELECT 1 FROM revoked_sessions WHERE id = $1", id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, db.Fail("read revoked sessions", err)
}

// DropSessions removes the revoked sessions that have expired.
func (s *Storage) DropSessions(ctx context.Context) error {
	_, err := s.Write.ExecContext(ctx, "DELETE FROM revoked_sessions WHERE expires <= $1", s.Now().UnixMilli())
	return db.Fail("remove expired sessions", err)
}

// AddKey stores the public half of a signing key, or updates an existing one.
func (s *Storage) AddKey(ctx context.Context, k keyring.Key) error {
	_, err := s.Write.ExecContext(ctx, `INSERT INTO signing_keys (id, jwk, expires) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET jwk = excluded.jwk, expires = excluded.expires`,
		k.ID, k.JWK, k.Expires.UnixMilli())
	return db.Fail(fmt.Sprintf("store signing key %q", k.ID), err)
}

// Keys returns the unexpired keys, sorted by id.
func (s *Storage) Keys(ctx context.Context) ([]keyring.Key, error) {
	const doing = "read signing keys"
	rows, err := s.Read.QueryContext(ctx,
		"SELECT id, jwk, expires FROM signing_keys WHERE expires > $1 ORDER BY id", s.Now().UnixMilli())
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	defer func() { _ = rows.Close() }()
	var keys []keyring.Key
	for rows.Next() {
		var k keyring.Key
		var expires int64
		if err := rows.Scan(&k.ID, &k.JWK, &expires); err != nil {
			return nil, db.Fail(doing, err)
		}
		k.Expires = time.UnixMilli(expires).UTC()
		keys = append(keys, k)
	}
	return keys, db.Fail(doing, rows.Err())
}

// DropKeys removes the keys that have expired.
func (s *Storage) DropKeys(ctx context.Context) error {
	_, err := s.Write.ExecContext(ctx, "DELETE FROM signing_keys WHERE expires <= $1", s.Now().UnixMilli())
	return db.Fail("remove expired signing keys", err)
}
