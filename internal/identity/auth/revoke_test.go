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

// token returns what a browser's refresh gives.
func (p *portal) token(t *testing.T, c *http.Client) string {
	t.Helper()
	in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusOK {
		t.Fatalf("cannot refresh: %s %s", in.Status, in.body)
	}
	return decode[welcome](t, in.body).Portal.Token
}

// TestLogout ends a session on one replica. Copies of its cookie and its tokens
// are refused there at once, and on another replica within the time that it
// remembers tokens.
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
			t.Fatalf("before the logout: %+v, %v", caller, err)
		}
	}

	if out := p.visit(t, leaving, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Fatalf("got %s %s", out.Status, out.body)
	}
	in := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusUnauthorized || !strings.Contains(string(in.body), "sign in again") {
		t.Errorf("a copied cookie after the logout: %s %s", in.Status, in.body)
	}
	for reason, raw := range map[string]string{"a token that is remembered": token, "a token that is not": second} {
		if _, err := ask(p.Auth, "Bearer "+raw); statusOf(t, err) != http.StatusForbidden || !errors.Is(err, errRevoked) {
			t.Errorf("%s, on the replica of the logout: %v", reason, err)
		}
	}
	if _, err := ask(replica, "Bearer "+second); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("a token that the other replica sees for the first time: %v", err)
	}
	clock.forward(30 * time.Second)
	if _, err := ask(replica, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("a token on the other replica, 30 seconds after the logout: %v", err)
	}
	for _, who := range []*Auth{p.Auth, replica} {
		if _, err := ask(who, "Bearer "+other); err != nil {
			t.Errorf("the token of another session of the same person: %v", err)
		}
	}
	p.token(t, staying)
	if out := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("a second logout: %s %s", out.Status, out.body)
	}
	// Another process knows what this one stored.
	p.open(t, time.Now)
	p.put(t, thief, session{ID: "other", Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	p.token(t, thief)
	if _, err := ask(p.Auth, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("a token after a restart: %v", err)
	}
}

// TestLogoutStoreGone has the database fail: nothing is taken for valid, and a
// logout that was not stored can be repeated.
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
		t.Errorf("a token that cannot be checked: %v", err)
	}
	for _, path := range []string{"/api/auth/oidc/refresh", "/api/auth/oidc/logout"} {
		if got := p.visit(t, c, http.MethodPost, path); got.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %s %s", path, got.Status, got.body)
		}
	}
	keys.fail(nil)
	p.token(t, c)
	if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("got %s %s", out.Status, out.body)
	}
	if _, err := ask(p.Auth, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("a token after the logout: %v", err)
	}
}

// TestLogoutDuringRenewal has a logout come while the issuer is asked whether
// the session goes on. Neither its answer nor what is remembered of it brings
// the session back.
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
		t.Fatalf("got %s %s", out.Status, out.body)
	}
	close(goOn)
	if got := <-in; got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the refresh that was under way: %s %s", got.Status, got.body)
	}
	p.put(t, thief, session{ID: "a", Subject: "s1", Ref: "user:default/ada", Refresh: "once", Began: time.Now(), Until: time.Now().Add(-time.Second)})
	if got := p.visit(t, thief, http.MethodPost, "/api/auth/oidc/refresh"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a refresh after the logout: %s %s", got.Status, got.body)
	}
	if n := len(p.users.renewals.recent.young); n != 0 {
		t.Errorf("%d renewals of the session are remembered", n)
	}

	// An issuer that gives two sessions one refresh token does not make them one.
	for _, id := range []string{"b", "c"} {
		p.put(t, c, session{ID: id, Subject: "s1", Ref: "user:default/ada", Refresh: "shared", Began: time.Now(), Until: time.Now().Add(-time.Second)})
		p.token(t, c)
		if got := p.session(t, c).ID; got != id {
			t.Errorf("session %s became %s", id, got)
		}
	}
}

// slow is a SessionStore that reads, and then calls behind.
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

// TestLogoutDuringVerification has a logout come after the store was read for a
// token and before the token is remembered.
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
	// This request was there before the logout.
	if _, err := ask(a, "Bearer "+token); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(a, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("a request after the logout: %v", err)
	}
}

// TestOldCookie has a cookie of a version without ids: it could not be revoked,
// so it has ended.
func TestOldCookie(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	p.open(t, time.Now)
	c := browser(t)
	p.put(t, c, session{Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %s %s", in.Status, in.body)
	}
	if at, _ := url.Parse(p.url + "/api/auth/x"); len(c.Jar.Cookies(at)) != 0 {
		t.Error("the cookie stays with the browser")
	}
	p.put(t, c, session{Ref: "user:default/ada", Began: time.Now(), Until: time.Now().Add(time.Hour)})
	if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
		t.Errorf("a logout with it: %s %s", out.Status, out.body)
	}
}

// TestSessionsExpire sees that a revoked session is kept until its last token
// has expired, and no longer.
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
			t.Error("a session that has no valid token any more is stored")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { a.Run(ctx) })
		time.Sleep(sessionLasts + longestLifetime - time.Minute)
		if revoked, err := keys.SessionRevoked(ctx, "a"); !revoked || err != nil {
			t.Errorf("the session was dropped while a token of it may be valid: %v", err)
		}
		time.Sleep(dropSessionsEvery + time.Hour)
		if revoked, err := keys.SessionRevoked(ctx, "a"); revoked || err != nil {
			t.Errorf("the session is kept for ever: %v", err)
		}
		cancel()
		wg.Wait()
	})
}
