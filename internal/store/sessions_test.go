package store

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSessions(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		now := time.UnixMilli(1_000_000).UTC()
		s.opts.Now = func() time.Time { return now }
		revoke := func(id string, expires time.Time) {
			t.Helper()
			if err := s.RevokeSession(t.Context(), id, expires); err != nil {
				t.Fatal(err)
			}
		}
		want := func(id string, revoked bool) {
			t.Helper()
			for _, who := range []*Store{s, replica} {
				if got, err := who.SessionRevoked(t.Context(), id); got != revoked || err != nil {
					t.Errorf("session %q is revoked: %v (%v), want %v", id, got, err, revoked)
				}
			}
		}
		want("a", false)
		revoke("a", now.Add(time.Hour))
		revoke("b", now.Add(2*time.Hour))
		// A second logout, with an older cookie, does not shorten the first.
		revoke("b", now.Add(time.Minute))
		want("a", true)
		want("b", true)
		want("A", false)
		now = now.Add(time.Hour)
		if err := s.DropSessions(t.Context()); err != nil {
			t.Fatal(err)
		}
		want("a", false)
		want("b", true)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := s.SessionRevoked(ctx, "b"); !errors.Is(err, context.Canceled) || got {
			t.Errorf("a read that did not happen: got %v, %v", got, err)
		}
	})
}
