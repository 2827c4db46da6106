package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	provider "example.dev/ingestor/test/issuer"
)

// records are what an audit log was told.
type records struct {
	mu  sync.Mutex
	all []string
}

func (r *records) add(_ context.Context, e AuditEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, fmt.Sprint(e.Name, " ", e.Caller.Kind, " ", e.Caller.Subject, " ", e.Provider, " ", e.Err))
}

// take returns what was told since it was last asked.
func (r *records) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.all
	r.all = nil
	return out
}

// TestAuditTokens wants refused tokens to be recorded, and no request without
// one.
func TestAuditTokens(t *testing.T) {
	told, c := &records{}, newClock()
	a := newAuth(t, Options{Config: guests, Audit: told.add, Now: c.now})
	expired := guestToken(t, a)
	c.forward(61 * time.Minute)
	good := guestToken(t, a)
	cases := map[string]struct {
		reason string
		header []string
		want   []string
	}{
		"Good":    {"a token that is good", []string{"Bearer " + good}, nil},
		"None":    {"no token is no attempt", nil, nil},
		"Other":   {"nor is another scheme", []string{"Basic YTpi"}, nil},
		"Garbage": {"what is no token", []string{"Bearer hunter2"}, []string{"auth.token nobody   Illegal token"}},
		"Two":     {"two of them", []string{"Bearer " + good, "Bearer " + good}, []string{"auth.token nobody   There is more than one Authorization header"}},
		"Forged":  {"another signature", []string{"Bearer " + good[:len(good)-4] + "AAAA"}, []string{"auth.token nobody   its signature is not by a key that is known"}},
		"Expired": {"one of an hour ago", []string{"Bearer " + expired}, []string{"auth.token nobody   it has expired"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, _ = ask(a, tc.header...)
			if diff := cmp.Diff(tc.want, told.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAuditTokenOutage wants a token that cannot be checked not to be recorded as
// refused.
func TestAuditTokenOutage(t *testing.T) {
	told := &records{}
	keys := newShelf(time.Now)
	a := newAuth(t, Options{Config: guests, Keys: keys, Audit: told.add})
	other := newAuth(t, Options{Config: guests})
	keys.fail(errGone)
	if _, err := ask(a, "Bearer "+guestToken(t, other)); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Fatalf("got %v", err)
	}
	if got := told.take(); got != nil {
		t.Errorf("recorded %q", got)
	}
}

// TestAuditGuests wants the tokens of guests to be recorded.
func TestAuditGuests(t *testing.T) {
	cases := map[string]struct {
		reason string
		config config.Auth
		want   []string
	}{
		"Open":   {"guests are let in", guests, []string{"auth.sign-in guest user:development/guest guest <nil>"}},
		"Closed": {"or not", config.Auth{}, []string{"auth.sign-in nobody  guest Guests are not let in here: sign in, or have auth.providers.guest switched on"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			told := &records{}
			call(t, serve(t, newAuth(t, Options{Config: tc.config, Audit: told.add})), http.MethodPost, "/api/auth/guest/refresh", nil)
			if diff := cmp.Diff(tc.want, told.take()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAuditSignIn signs a user in and out: each is recorded once, and no renewal
// of a token.
func TestAuditSignIn(t *testing.T) {
	p, i := withIssuer(t, provider.Options{})
	told := &records{}
	p.audit = told.add
	me := browser(t)
	wants := func(reason string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, told.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	p.visit(t, me, "POST", "/api/auth/oidc/logout")
	wants("a browser without a session does not log out")
	away := p.visit(t, me, "GET", "/api/auth/oidc/start")
	wants("to begin is no sign-in")
	back, err := url.Parse(i.Agree(t, away.Header.Get("Location")))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *back
	wrong.RawQuery = strings.Replace(back.RawQuery, "state=", "state=x", 1)
	p.visit(t, browser(t), "GET", wrong.String())
	wants("a sign-in of another browser", "auth.sign-in nobody  oidc This sign-in was not begun in this browser, or too long ago: begin again")
	p.visit(t, me, "GET", back.String())
	user := "user:default/" + i.Subject
	wants("a sign-in", "auth.sign-in user "+user+" oidc <nil>")
	p.visit(t, me, "POST", "/api/auth/oidc/refresh")
	wants("a renewed token is no sign-in")
	p.visit(t, me, "POST", "/api/auth/oidc/logout")
	wants("a logout", "auth.logout user "+user+" oidc <nil>")
	away = p.visit(t, me, "GET", "/api/auth/oidc/start")
	state := query(t, away.Header.Get("Location"), "state")
	p.visit(t, me, "GET", frame+"?error=access_denied&error_description=no&state="+state)
	wants("the issuer refused", "auth.sign-in nobody  oidc The issuer did not sign you in: access_denied no")
}

// query returns a parameter of an address.
func query(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}
