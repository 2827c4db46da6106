package auth

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/test/database"
)

func TestSessions(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
		open := func() *Storage { return NewStorage(openDB()) }
		s, replica := open(), open()
		now := time.UnixMilli(1_000_000).UTC()
		s.Now = func() time.Time { return now }
		revoke := func(id string, expires time.Time) {
			t.Helper()
			if err := s.RevokeSession(t.Context(), id, expires); err != nil {
				t.Fatal(err)
			}
		}
		want := func(id string, revoked bool) {
			t.Helper()
			for _, who := range []*Storage{s, replica} {
				if got, err := who.SessionRevoked(t.Context(), id); got != revoked || err != nil {
					t.Errorf("session %q is revoked: %v (%v), want %v", id, got, err, revoked)
				}
			}
		}
		want("a", false)
		revoke("a", now.Add(time.Hour))
		revoke("b", now.Add(2*time.Hour))
		// A second logout with an older cookie does not shorten the first.
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
			t.Errorf("cancelled read returned %v, %v", got, err)
		}
	})
}

func TestKeys(t *testing.T) {
	database.OnBoth(t, func(t *testing.T, openDB func() *db.DB) {
		open := func() *Storage { return NewStorage(openDB()) }
		s := open()
		now := time.UnixMilli(1_000_000).UTC()
		s.Now = func() time.Time { return now }
		b := keyring.Key{ID: "b", JWK: []byte(`{"kty":"EC"}`), Expires: now.Add(time.Hour)}
		a := keyring.Key{ID: "a", JWK: []byte(`{}`), Expires: now.Add(time.Minute)}
		for _, k := range []keyring.Key{b, a, a} {
			if err := s.AddKey(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		want := func(keys ...keyring.Key) {
			t.Helper()
			got, err := s.Keys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(keys, got); diff != "" {
				t.Error(diff)
			}
		}
		want(a, b)
		now = now.Add(time.Minute)
		want(b)
		if err := s.DropKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-time.Minute)
		want(b)
		b.Expires = b.Expires.Add(time.Hour)
		if err := s.AddKey(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		want(b)
	})
}
