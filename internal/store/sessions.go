package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// RevokeSession records that a session has ended, until it expires. To revoke
// one that is revoked already changes nothing, unless it expires later now.
func (s *Store) RevokeSession(ctx context.Context, id string, expires time.Time) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO revoked_sessions (id, expires) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET expires = excluded.expires WHERE excluded.expires > revoked_sessions.expires`,
		id, expires.UnixMilli())
	return fail("revoke a session", err)
}

// SessionRevoked reports whether a session has been revoked.
func (s *Store) SessionRevoked(ctx context.Context, id string) (bool, error) {
	var one int
	err := s.read.QueryRowContext(ctx, "SELECT 1 FROM revoked_sessions WHERE id = $1", id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, fail("read the revoked sessions", err)
}

// DropSessions removes the revoked sessions that have expired.
func (s *Store) DropSessions(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, "DELETE FROM revoked_sessions WHERE expires <= $1", s.opts.Now().UnixMilli())
	return fail("remove expired sessions", err)
}
