package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/internal/db"
)

// TestRotation simulates two days: keys are rotated, and every token is valid
// for its hour.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newShelf(time.Now)
		a := newAuth(t, Options{Config: guests, Keys: keys})
		b := newAuth(t, Options{Config: guests, Keys: keys})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		wg.Go(func() { b.Run(ctx) })
		used := map[string]bool{}
		for range 24 * 2 {
			used[signingKey(t, a)] = true
			token := guestToken(t, a)
			time.Sleep(DefaultLifetime - time.Second)
			for _, p := range []*Auth{a, b} {
				if _, err := ask(p, "Bearer "+token); err != nil {
					t.Fatalf("token with a second left returned, after %d keys, %v", len(used), errors.Unwrap(err))
				}
			}
			time.Sleep(time.Second)
			for _, p := range []*Auth{a, b} {
				if _, err := ask(p, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
					t.Fatalf("expired token returned %v, want 403", err)
				}
			}
		}
		cancel()
		wg.Wait()
		if len(used) < 20 || len(used) > 25 {
			t.Errorf("%d keys signed in 48 hours, want one every two", len(used))
		}
		// Each key lasts five hours; expired keys are dropped when the next is created.
		if n := len(keys.ids()); n > 2*4 {
			t.Errorf("%d keys are left", n)
		}
	})
}

// TestRevoked revokes a key: within a minute its tokens are refused by all
// replicas, and its owner has created another.
func TestRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newShelf(time.Now)
		a, b := newAuth(t, Options{Config: guests, Keys: keys}), newAuth(t, Options{Config: guests, Keys: keys})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		wg.Go(func() { b.Run(ctx) })
		old := guestToken(t, a)
		id := signingKey(t, a)
		// Both replicas cache the token as long as possible.
		remembers := func() {
			for _, p := range []*Auth{a, b} {
				_, _ = ask(p, "Bearer "+old)
			}
		}
		remembers()
		time.Sleep(10 * time.Second)
		keys.mu.Lock()
		delete(keys.keys, id)
		keys.mu.Unlock()
		for range 60 {
			time.Sleep(time.Second)
			remembers()
		}
		for _, p := range []*Auth{a, b} {
			if _, err := ask(p, "Bearer "+old); statusOf(t, err) != http.StatusForbidden {
				t.Errorf("token of a revoked key returned %v, want 403", err)
			}
			if _, err := ask(p, "Bearer "+guestToken(t, a)); err != nil {
				t.Errorf("new token returned %v", errors.Unwrap(err))
			}
		}
		cancel()
		wg.Wait()
	})
}

// TestStoreGone checks an outage of the store: known keys stay valid, unknown
// keys are 503, and everything works afterwards.
func TestStoreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said diary
		keys := newShelf(time.Now)
		a := newAuth(t, Options{Config: guests, Keys: keys, Log: said.log()})
		b := newAuth(t, Options{Config: guests, Keys: keys})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		synctest.Wait()
		late := newAuth(t, Options{Config: guests, Keys: keys})
		keys.fail(errGone)
		for range 10 {
			if _, err := ask(a, "Bearer "+guestToken(t, b)); err != nil {
				t.Errorf("token of a known key returned %v", err)
			}
			for range 5 {
				if _, err := ask(a, "Bearer "+guestToken(t, late)); statusOf(t, err) != http.StatusServiceUnavailable || !errors.Is(err, db.ErrUnavailable) {
					t.Errorf("token of an unknown key returned %v, want 503", err)
				}
			}
			time.Sleep(10 * time.Second)
		}
		// It is time for a new key, which cannot be published.
		time.Sleep(DefaultRotation)
		if _, err := ask(a, "Bearer "+guestToken(t, a)); err != nil {
			t.Errorf("old key does not sign any more: %v", err)
		}
		time.Sleep(DefaultRotation)
		if _, err := a.issue(t.Context(), a.guest); statusOf(t, err) != http.StatusServiceUnavailable {
			t.Errorf("token that would outlast its key returned %v, want 503", err)
		}
		keys.fail(nil)
		if _, err := ask(a, "Bearer "+guestToken(t, a)); err != nil {
			t.Errorf("token was refused after the store is back: %v", err)
		}
		time.Sleep(tendEvery)
		synctest.Wait()
		cancel()
		wg.Wait()
		if got := strings.Count(said.String(), "signing key and session maintenance"); got != 2 || strings.Count(said.String(), "WARN") != 1 {
			t.Errorf("outage was not logged with its start and end:\n%s", said.String())
		}
	})
}

// TestUnknownKeys checks that tokens with unknown keys do not overload the
// store, and that a new replica is known at once.
func TestUnknownKeys(t *testing.T) {
	c := newClock()
	keys := newShelf(c.now)
	a := newAuth(t, Options{Config: guests, Keys: keys, Now: c.now})
	key := newKey(t)
	made := func(id string) string { return "Bearer " + sign(t, jose.ES256, key, id, tokenType, claims{}) }
	for i := range 20 {
		for range 50 {
			if _, err := ask(a, made("made-up")); statusOf(t, err) != http.StatusForbidden {
				t.Fatalf("token with an unknown key returned %v, want 403", err)
			}
		}
		if want := 3 + i; keys.reads > want {
			t.Fatalf("keys were read %d times in %d seconds", keys.reads, i)
		}
		c.forward(time.Second)
	}
	c.forward(10 * time.Second)
	b := newAuth(t, Options{Config: guests, Keys: keys, Now: c.now})
	token := guestToken(t, b)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := ask(a, "Bearer "+token); err != nil {
				t.Errorf("token of a new replica returned %v", errors.Unwrap(err))
			}
		})
	}
	wg.Wait()
}

func TestMemory(t *testing.T) {
	now := time.Now()
	m := newMemory[int](10)
	for i := range 100 {
		m.put([32]byte{byte(i)}, i, now.Add(time.Minute), now, m.mark())
	}
	if n := len(m.young) + len(m.old); n > 20 {
		t.Errorf("%d values are cached, want 20 at most", n)
	}
	if v, ok := m.get([32]byte{99}, now); !ok || v != 99 {
		t.Errorf("last value is %d, %v; want 99", v, ok)
	}
	if v, ok := m.get([32]byte{85}, now); !ok || v != 85 {
		t.Errorf("older value is %d, %v; want 85", v, ok)
	}
	if _, ok := m.get([32]byte{1}, now); ok {
		t.Error("first value is cached forever")
	}
	if _, ok := m.get([32]byte{99}, now.Add(time.Minute)); ok {
		t.Error("expired value is cached")
	}
	before := m.mark()
	m.drop(func(v int) bool { return v == 99 || v == 85 })
	for _, i := range []byte{99, 85} {
		if _, ok := m.get([32]byte{i}, now); ok {
			t.Errorf("%d was dropped but is cached", i)
		}
	}
	if _, ok := m.get([32]byte{98}, now); !ok {
		t.Error("98 was not dropped but is not cached")
	}
	m.put([32]byte{99}, 99, now.Add(time.Minute), now, before)
	if _, ok := m.get([32]byte{99}, now); ok {
		t.Error("value computed before the drop is cached after it")
	}
}
