package auth

import (
	"context"
	"errors"
	"time"

	"example.dev/ingestor/internal/identity/keyring"
)

// SessionStore is where replicas share the sessions that a logout has ended. It must
// be safe for concurrent use; *Storage is one.
type SessionStore interface {
	// RevokeSession records that a session has ended, until it expires.
	RevokeSession(ctx context.Context, id string, expires time.Time) error
	// SessionRevoked reports whether a session has been revoked.
	SessionRevoked(ctx context.Context, id string) (bool, error)
	// DropSessions removes the revoked sessions that have expired.
	DropSessions(ctx context.Context) error
}

const (
	// longestLifetime is the maximum lifetime of a token that the configuration accepts.
	// A token issued at the last moment of a session outlives the session by that much.
	longestLifetime = 24 * time.Hour
	// dropSessionsEvery is how often expired sessions are removed from the store.
	dropSessionsEvery = time.Hour
)

// errRevoked is the reason why a cookie or a token of a revoked session is refused.
var errRevoked = errors.New("session was ended by a logout")

// revoke ends a session: on this replica at once, on others when they next verify a
// token of it. It completes even if the client disconnects.
func (a *Auth) revoke(ctx context.Context, s session) error {
	expires := s.Began.Add(sessionLasts + longestLifetime)
	if s.ID == "" || !a.now().Before(expires) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyring.Timeout)
	defer cancel()
	if err := a.sessions.RevokeSession(ctx, s.ID, expires); err != nil {
		return unavailable(err)
	}
	a.seen.drop(func(c Caller) bool { return c.Session == s.ID })
	a.users.renewals.recent.drop(func(renewed session) bool { return renewed.ID == s.ID })
	return nil
}

// checkSession returns errRevoked for a revoked session, and a fault with status 503
// if the store cannot be read.
func (a *Auth) checkSession(ctx context.Context, id string) error {
	revoked, err := a.sessions.SessionRevoked(ctx, id)
	switch {
	case err != nil:
		return unavailable(err)
	case revoked:
		return errRevoked
	}
	return nil
}

// dropSessions removes expired sessions from the store, unless that was done in the
// last hour. Only Run calls it.
func (a *Auth) dropSessions(ctx context.Context) error {
	now := a.now()
	if now.Before(a.sessionsDropped.Add(dropSessionsEvery)) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyring.Timeout)
	defer cancel()
	if err := a.sessions.DropSessions(ctx); err != nil {
		return err
	}
	a.sessionsDropped = now
	return nil
}
