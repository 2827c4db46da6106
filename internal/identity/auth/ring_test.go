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

// TestRotation lets a day pass: keys come and go, and every token is good for
// its hour and no longer.
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
			used[a.ring.current.Load().id] = true
			token := guestToken(t, a)
			time.Sleep(DefaultLifetime - time.Second)
			for _, p := range []*Auth{a, b} {
				if _, err := ask(p, "Bearer "+token); err != nil {
					t.Fatalf("after %d keys, a token that has a second left: %v", len(used), errors.Unwrap(err))
				}
			}
			time.Sleep(time.Second)
			for _, p := range []*Auth{a, b} {
				if _, err := ask(p, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
					t.Fatalf("a token that has ended: %v", err)
				}
			}
		}
		cancel()
		wg.Wait()
		if len(used) < 20 || len(used) > 25 {
			t.Errorf("%d keys signed in 48 hours, want one every two", len(used))
		}
		// Each lasts five hours; what has expired is dropped when the next is made.
		if n := len(keys.ids()); n > 2*4 {
			t.Errorf("%d keys are left", n)
		}
	})
}

// TestRevoked takes a key back: within a minute nobody accepts what it signed,
// and its owner has made another.
func TestRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newShelf(time.Now)
		a, b := newAuth(t, Options{Config: guests, Keys: keys}), newAuth(t, Options{Config: guests, Keys: keys})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		wg.Go(func() { b.Run(ctx) })
		old := guestToken(t, a)
		id := a.ring.current.Load().id
		// Both remember it as long as they may.
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
				t.Errorf("a token of a key that was taken back: %v", err)
			}
			if _, err := ask(p, "Bearer "+guestToken(t, a)); err != nil {
				t.Errorf("a new token: %v", errors.Unwrap(err))
			}
		}
		cancel()
		wg.Wait()
	})
}

// TestStoreGone has the store fail: what is known stays, what must be asked for
// is to be tried later, and nothing is wrong afterwards.
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
				t.Errorf("a token of a key that is known: %v", err)
			}
			for range 5 {
				if _, err := ask(a, "Bearer "+guestToken(t, late)); statusOf(t, err) != http.StatusServiceUnavailable || !errors.Is(err, db.ErrUnavailable) {
					t.Errorf("a token of a key that is not known: %v", err)
				}
			}
			time.Sleep(10 * time.Second)
		}
		// It is time for another key, and there is nobody to publish it to.
		time.Sleep(DefaultRotation)
		if _, err := ask(a, "Bearer "+guestToken(t, a)); err != nil {
			t.Errorf("the old key does not sign any more: %v", err)
		}
		time.Sleep(DefaultRotation)
		if _, err := a.issue(t.Context(), a.guest); statusOf(t, err) != http.StatusServiceUnavailable {
			t.Errorf("a token that its key would not outlast: %v", err)
		}
		keys.fail(nil)
		if _, err := ask(a, "Bearer "+guestToken(t, a)); err != nil {
			t.Errorf("the store is back, and a token is refused: %v", err)
		}
		time.Sleep(tendEvery)
		synctest.Wait()
		cancel()
		wg.Wait()
		if got := strings.Count(said.String(), "cannot maintain signing keys"); got != 2 || strings.Count(said.String(), "WARN") != 1 {
			t.Errorf("an outage has a beginning and an end:\n%s", said.String())
		}
	})
}

// TestUnknownKeys sees that strangers with made-up keys do not wear the store
// out, and that a replica that has just started is known to all at once.
func TestUnknownKeys(t *testing.T) {
	c := newClock()
	keys := newShelf(c.now)
	a := newAuth(t, Options{Config: guests, Keys: keys, Now: c.now})
	key := newKey(t)
	made := func(id string) string { return "Bearer " + sign(t, jose.ES256, key, id, tokenType, claims{}) }
	for i := range 20 {
		for range 50 {
			if _, err := ask(a, made("made-up")); statusOf(t, err) != http.StatusForbidden {
				t.Fatalf("got %v", err)
			}
		}
		if want := readBurst + i; keys.reads > want {
			t.Fatalf("the keys were read %d times in %d seconds", keys.reads, i)
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
				t.Errorf("a token of a replica that has just started: %v", errors.Unwrap(err))
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
		t.Errorf("%d are remembered, want 20 at most", n)
	}
	if v, ok := m.get([32]byte{99}, now); !ok || v != 99 {
		t.Errorf("got %d, %v for the last", v, ok)
	}
	if v, ok := m.get([32]byte{85}, now); !ok || v != 85 {
		t.Errorf("got %d, %v for an old one", v, ok)
	}
	if _, ok := m.get([32]byte{1}, now); ok {
		t.Error("the first is remembered for ever")
	}
	if _, ok := m.get([32]byte{99}, now.Add(time.Minute)); ok {
		t.Error("what has ended is remembered")
	}
	before := m.mark()
	m.drop(func(v int) bool { return v == 99 || v == 85 })
	for _, i := range []byte{99, 85} {
		if _, ok := m.get([32]byte{i}, now); ok {
			t.Errorf("%d was dropped and is remembered", i)
		}
	}
	if _, ok := m.get([32]byte{98}, now); !ok {
		t.Error("98 was not dropped and is forgotten")
	}
	m.put([32]byte{99}, 99, now.Add(time.Minute), now, before)
	if _, ok := m.get([32]byte{99}, now); ok {
		t.Error("a value worked out before the drop is remembered after it")
	}
}
