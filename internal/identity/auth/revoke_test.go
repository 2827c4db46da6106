package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/test/database"
	provider "example.dev/ingestor/test/issuer"
)

// copied returns a browser with the cookies of another.
func (p *portal) copied(t *testing.T, c *http.Client) *http.Client {
	t.Helper()
	at, _ := url.Parse(p.url + "/api/auth/oidc/refresh")
	thief := browser(t)
	cookies := c.Jar.Cookies(at)
	for _, k := range cookies {
		k.Path = p.users.sessions.path
	}
	thief.Jar.SetCookies(at, cookies)
	return thief
}

// token returns the token of a browser's refresh.
func (p *portal) token(t *testing.T, c *http.Client) string {
	t.Helper()
	in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusOK {
		t.Fatalf("refresh returned %s %s, want 200", in.Status, in.body)
	}
	return decode[welcome](t, in.body).Portal.Token
}

// TestLogout ends a session on one replica. Copies of its cookie and its tokens
// are refused there at once, and on another replica after its cache expires.
func TestLogout(t *testing.T) {
	t.Parallel()
	s := NewStorage(database.Open(t, database.SQLite(t)))
	p, i := withIssuer(t, provider.Options{Groups: []string{"a"}})
	p.keys = s
	p.open(t, time.Now)
	clock := newClock()
	replica := newAuth(t, Options{Config: p.setup, BaseURL: p.url, Keys: s, Now: clock.now})

	leaving, staying := p.signIn(t, i), p.signIn(t, i)
	thief := p.copied(t, leaving)
	token, second, other := p.token(t, leaving), p.token(t, thief), p.token(t, staying)
	if p.session(t, leaving).ID == p.session(t, staying).ID {
		t.Fatal("two sessions have the same id")
	}
	for _, who := range []*Auth{p.Auth, replica} {
		caller, err := ask(who, "Bearer "+token)
		if err != nil || caller.Session != p.session(t, leaving).ID {
			t.Fatalf("caller before the logout is %+v, %v", caller, err)
		}
	}

	if out := p.visit(t, leaving, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Fatalf("logout returned %s %s, want 200", out.Status, out.body)
	}
	in := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusUnauthorized || !strings.Contains(string(in.body), "sign in again") {
		t.Errorf("refresh with a copied cookie returned %s %s, want 401", in.Status, in.body)
	}
	for reason, raw := range map[string]string{"a token that is remembered": token, "a token that is not": second} {
		if _, err := ask(p.Auth, "Bearer "+raw); statusOf(t, err) != http.StatusForbidden || !errors.Is(err, errRevoked) {
			t.Errorf("%s, on the replica of the logout: token returned %v, want 403", reason, err)
		}
	}
	if _, err := ask(replica, "Bearer "+second); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("token that is new to the other replica returned %v, want 403", err)
	}
	clock.forward(30 * time.Second)
	if _, err := ask(replica, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("token on the other replica, 30 seconds after the logout, returned %v; want 403", err)
	}
	for _, who := range []*Auth{p.Auth, replica} {
		if _, err := ask(who, "Bearer "+other); err != nil {
			t.Errorf("token of another session of the same user returned %v", err)
		}
	}
	p.token(t, staying)
	if out := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("second logout returned %s %s, want 200", out.Status, out.body)
	}
	// Another process reads the revoked sessions from the store.
	p.open(t, time.Now)
	p.put(t, thief, session{ID: "other", Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	p.token(t, thief)
	if _, err := ask(p.Auth, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("token after a restart returned %v, want 403", err)
	}
}

// TestLogoutStoreGone checks that nothing is accepted while the database fails,
// and that a logout that was not stored can be repeated.
func TestLogoutStoreGone(t *testing.T) {
	t.Parallel()
	r, clock := newRogue(t), newClock()
	p := newPortal(t)
	p.setup = r.setup()
	keys := newShelf(clock.now)
	p.keys = keys
	p.open(t, clock.now)
	c := browser(t)
	p.put(t, c, session{ID: "a", Ref: "user:default/ada", Began: clock.now(), Until: clock.now().Add(time.Hour)})
	token := p.token(t, c)
	keys.fail(errGone)
	if _, err := ask(p.Auth, "Bearer "+token); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Errorf("token that cannot be verified returned %v, want 503", err)
	}
	for _, path := range []string{"/api/auth/oidc/refresh", "/api/auth/oidc/logout"} {
		if got := p.visit(t, c, http.MethodPost, path); got.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s returned %s %s, want 503", path, got.Status, got.body)
		}
	}
	keys.fail(nil)
	p.token(t, c)
	if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("logout returned %s %s, want 200", out.Status, out.body)
	}
	if _, err := ask(p.Auth, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("token after the logout returned %v, want 403", err)
	}
}

// TestLogoutDuringRenewal logs out during a refresh at the issuer. Neither its
// response nor a cached one restores the session.
func TestLogoutDuringRenewal(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	p.open(t, time.Now)
	c := browser(t)
	p.put(t, c, session{ID: "a", Subject: "s1", Ref: "user:default/ada", Refresh: "once", Began: time.Now(), Until: time.Now().Add(-time.Second)})
	thief := p.copied(t, c)
	asked, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r.answer(func(w http.ResponseWriter, req *http.Request) {
		once.Do(func() { close(asked) })
		<-goOn
		give(sign(t, jose.RS256, r.key, "k", "JWT", r.claims("", nil)))(w, req)
	}, "")
	in := make(chan answer, 1)
	go func() { in <- p.visit(t, thief, http.MethodPost, "/api/auth/oidc/refresh") }()
	<-asked
	if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Fatalf("logout returned %s %s, want 200", out.Status, out.body)
	}
	close(goOn)
	if got := <-in; got.StatusCode != http.StatusUnauthorized {
		t.Errorf("concurrent refresh returned %s %s, want 401", got.Status, got.body)
	}
	p.put(t, thief, session{ID: "a", Subject: "s1", Ref: "user:default/ada", Refresh: "once", Began: time.Now(), Until: time.Now().Add(-time.Second)})
	if got := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/refresh"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("refresh after the logout returned %s %s, want 401", got.Status, got.body)
	}
	if n := len(p.users.renewals.recent.young); n != 0 {
		t.Errorf("%d refreshes of the session are cached", n)
	}

	// An issuer that gives two sessions one refresh token does not merge them.
	for _, id := range []string{"b", "c"} {
		p.put(t, c, session{ID: id, Subject: "s1", Ref: "user:default/ada", Refresh: "shared", Began: time.Now(), Until: time.Now().Add(-time.Second)})
		p.token(t, c)
		if got := p.session(t, c).ID; got != id {
			t.Errorf("session %s became %s", id, got)
		}
	}
}

// slow is a SessionStore that calls a function after each read.
type slow struct {
	SessionStore
	behind func()
}

func (s *slow) SessionRevoked(ctx context.Context, id string) (bool, error) {
	revoked, err := s.SessionStore.SessionRevoked(ctx, id)
	if behind := s.behind; behind != nil {
		s.behind = nil
		behind()
	}
	return revoked, err
}

// TestLogoutDuringVerification logs out between the read of the store and the
// caching of a token.
func TestLogoutDuringVerification(t *testing.T) {
	t.Parallel()
	keys := newShelf(time.Now)
	sessions := &slow{SessionStore: keys}
	r := newRogue(t)
	a := newAuth(t, Options{Config: r.setup(), Keys: keys, Sessions: sessions})
	token, err := a.issue(t.Context(), identity{ref: "user:default/ada", session: "a"})
	if err != nil {
		t.Fatal(err)
	}
	sessions.behind = func() {
		if err := a.revoke(t.Context(), session{ID: "a", Began: time.Now()}); err != nil {
			t.Error(err)
		}
	}
	// This request came before the logout.
	if _, err := ask(a, "Bearer "+token); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(a, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("request after the logout returned %v, want 403", err)
	}
}

// TestOldCookie checks that a cookie of a version without ids, which could not
// be revoked, is refused.
func TestOldCookie(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	p.open(t, time.Now)
	c := browser(t)
	p.put(t, c, session{Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusUnauthorized {
		t.Errorf("refresh returned %s %s, want 401", in.Status, in.body)
	}
	if at, _ := url.Parse(p.url + "/api/auth/x"); len(c.Jar.Cookies(at)) != 0 {
		t.Error("cookie was not deleted")
	}
	p.put(t, c, session{Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("logout with the old cookie returned %s %s, want 200", out.Status, out.body)
	}
}

// TestSessionsExpire checks that a revoked session is stored until its last
// token has expired.
func TestSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := newShelf(time.Now)
		a := newAuth(t, Options{Config: guests, Keys: keys})
		a.users = &users{renewals: newRenewals()}
		if err := a.revoke(t.Context(), session{ID: "a", Began: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := a.revoke(t.Context(), session{ID: "b", Began: time.Now().Add(-sessionLasts - longestLifetime)}); err != nil {
			t.Fatal(err)
		}
		a.users = nil
		if _, ok := keys.revoked["b"]; ok {
			t.Error("session without valid tokens is stored")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		time.Sleep(sessionLasts + longestLifetime - time.Minute)
		if revoked, err := keys.SessionRevoked(ctx, "a"); !revoked || err != nil {
			t.Errorf("session was dropped while a token of it may be valid: %v", err)
		}
		time.Sleep(dropSessionsEvery + time.Hour)
		if revoked, err := keys.SessionRevoked(ctx, "a"); revoked || err != nil {
			t.Errorf("session is stored forever: %v", err)
		}
		cancel()
		wg.Wait()
	})
}
