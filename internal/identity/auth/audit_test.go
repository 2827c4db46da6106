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

// records are the entries of an audit log.
type records struct {
	mu  sync.Mutex
	all []string
}

func (r *records) add(_ context.Context, e AuditEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, fmt.Sprint(e.Name, " ", e.Caller.Kind, " ", e.Caller.Subject, " ", e.Provider, " ", e.Err))
}

// take returns the entries since its last call.
func (r *records) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.all
	r.all = nil
	return out
}

// TestAuditTokens checks that refused tokens are recorded, and requests without
// a token are not.
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
		"Good":    {"A valid token is not recorded.", []string{"Bearer " + good}, nil},
		"None":    {"A request without a token is not recorded.", nil, nil},
		"Other":   {"Another scheme is not recorded.", []string{"Basic YTpi"}, nil},
		"Garbage": {"An invalid token is recorded.", []string{"Bearer hunter2"}, []string{"auth.token anonymous   Illegal token"}},
		"Two":     {"Two tokens are recorded.", []string{"Bearer " + good, "Bearer " + good}, []string{"auth.token anonymous   More than one Authorization header"}},
		"Forged":  {"An invalid signature is recorded.", []string{"Bearer " + good[:len(good)-4] + "AAAA"}, []string{"auth.token anonymous   token signature matches no known key"}},
		"Expired": {"An expired token is recorded.", []string{"Bearer " + expired}, []string{"auth.token anonymous   token has expired"}},
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

// TestAuditTokenOutage checks that a token that cannot be verified is not
// recorded as refused.
func TestAuditTokenOutage(t *testing.T) {
	told := &records{}
	keys := newShelf(time.Now)
	a := newAuth(t, Options{Config: guests, Keys: keys, Audit: told.add})
	other := newAuth(t, Options{Config: guests})
	keys.fail(errGone)
	if _, err := ask(a, "Bearer "+guestToken(t, other)); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Fatalf("request returned %v, want 503", err)
	}
	if got := told.take(); got != nil {
		t.Errorf("%q was recorded, want nothing", got)
	}
}

// TestAuditGuests checks that guest sign-ins are recorded.
func TestAuditGuests(t *testing.T) {
	cases := map[string]struct {
		reason string
		config config.Auth
		want   []string
	}{
		"Open":   {"A guest sign-in is recorded.", guests, []string{"auth.sign-in guest user:development/guest guest <nil>"}},
		"Closed": {"A refused guest sign-in is recorded.", config.Auth{}, []string{"auth.sign-in anonymous  guest Guest sign-in is disabled: sign in as a user, or enable auth.providers.guest"}},
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

// TestAuditSignIn signs a user in and out: each is recorded once, and no token
// refresh is.
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
	wants("a logout without a session is not recorded")
	away := p.visit(t, me, "GET", "/api/auth/oidc/start")
	wants("the start of a sign-in is not recorded")
	back, err := url.Parse(i.Agree(t, away.Header.Get("Location")))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *back
	wrong.RawQuery = strings.Replace(back.RawQuery, "state=", "state=x", 1)
	p.visit(t, browser(t), "GET", wrong.String())
	wants("a sign-in from another browser is refused", "auth.sign-in anonymous  oidc Sign-in was not started in this browser, or has expired: sign in again")
	p.visit(t, me, "GET", back.String())
	user := "user:default/" + i.Subject
	wants("a sign-in", "auth.sign-in user "+user+" oidc <nil>")
	p.visit(t, me, "POST", "/api/auth/oidc/refresh")
	wants("a token refresh is not recorded")
	p.visit(t, me, "POST", "/api/auth/oidc/logout")
	wants("a logout", "auth.logout user "+user+" oidc <nil>")
	away = p.visit(t, me, "GET", "/api/auth/oidc/start")
	state := query(t, away.Header.Get("Location"), "state")
	p.visit(t, me, "GET", frame+"?error=access_denied&error_description=no&state="+state)
	wants("a refusal of the issuer is recorded", "auth.sign-in anonymous  oidc The issuer refused the sign-in: access_denied no")
}

// query returns a query parameter of a URL.
func query(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}
