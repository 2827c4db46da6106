package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
)

// writeCookie writes a value and returns the cookies of a browser.
func writeCookie(t *testing.T, c *cookie, v any, before ...*http.Cookie) []*http.Cookie {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	for _, k := range before {
		r.AddCookie(k)
	}
	if err := c.write(w, r, v); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()
}

func readCookie(c *cookie, cookies ...*http.Cookie) (string, bool) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, k := range cookies {
		r.AddCookie(k)
	}
	var v string
	ok := c.read(r, &v)
	return v, ok
}

func TestCookie(t *testing.T) {
	secret := []byte("0123456789abcdef")
	newOne := func(secret []byte, name string) *cookie {
		c, err := newCookie(secret, name, "/api/auth", time.Hour, true)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := newOne(secret, "a")
	short := writeCookie(t, c, "short")
	if got, ok := readCookie(c, short...); !ok || got != "short" {
		t.Errorf("value is %q, %v", got, ok)
	}
	if k := short[0]; !k.Secure || !k.HttpOnly || k.SameSite != http.SameSiteLaxMode || k.Path != "/api/auth" || k.MaxAge != 3600 {
		t.Errorf("cookie is %v", k)
	}
	if writeCookie(t, c, "short")[0].Value == short[0].Value {
		t.Error("same value is encrypted the same way twice")
	}
	long := strings.Repeat("long", 2500)
	pieces := writeCookie(t, c, long)
	if got, ok := readCookie(c, pieces...); len(pieces) != 4 || !ok || got != long {
		t.Errorf("value has %d pieces, with %d characters read, %v", len(pieces), len(got), ok)
	}
	for _, k := range pieces {
		if len(k.String()) > 4000 {
			t.Errorf("cookie has %d characters", len(k.String()))
		}
	}
	if again := writeCookie(t, c, "short", pieces...); len(again) != 4 || again[3].MaxAge >= 0 || again[3].Value != "" {
		t.Errorf("old pieces are left: %v", again)
	}
	if got, ok := readCookie(c, append(writeCookie(t, c, "short"), pieces[1:]...)...); !ok || got != "short" {
		t.Errorf("old pieces are read: %q, %v", got, ok)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	if err := c.write(w, r, strings.Repeat("x", 20_000)); err == nil || len(w.Result().Cookies()) != 0 {
		t.Errorf("value that is too long returned %v, want an error", err)
	}

	value := short[0].Value
	bad := map[string]*cookie{"another secret": newOne([]byte("0123456789abcdeF"), "a"), "another cookie": newOne(secret, "b")}
	for reason, other := range bad {
		if got, ok := readCookie(other, &http.Cookie{Name: other.name, Value: value}); ok {
			t.Errorf("%s: value is %q, want none", reason, got)
		}
	}
	for n := range value {
		for _, changed := range []string{value[:n], value[:n] + "A" + value[n+1:], value[:n] + "_" + value[n+1:]} {
			if changed == value {
				continue
			}
			if got, ok := readCookie(c, &http.Cookie{Name: "a", Value: changed}); ok {
				t.Fatalf("value with a changed character %d is %q, want none", n, got)
			}
		}
	}
	for _, v := range []string{"", "1", "1.", "0.x", "-1.x", "9.x", "99999999999999999999.x", "2." + value[2:], "x." + value[2:], strings.Repeat("1", 100_000)} {
		if got, ok := readCookie(c, &http.Cookie{Name: "a", Value: v}); ok {
			t.Errorf("value of %.20q is %q, want none", v, got)
		}
	}
	if got, ok := readCookie(c, pieces[0], pieces[2], pieces[3]); ok {
		t.Errorf("value without a piece has %d characters, want none", len(got))
	}
}

// TestSession checks that sessions survive a restart, whichever secret they
// have, and end.
func TestSession(t *testing.T) {
	for name, secret := range map[string]string{"of the store": "", "configured": "a secret of the configuration"} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			p := newPortal(t)
			p.setup = config.Auth{OIDC: config.OIDCProvider{Enabled: true, Issuer: "http://127.0.0.1:1", ClientID: "x"}}
			p.setup.SessionSecret = source.Secret(secret)
			p.open(t, clock.now)
			c := browser(t)
			p.put(t, c, session{ID: "a", Ref: "user:default/ada", Ownership: []string{"user:default/ada"}, Began: clock.now(), Until: clock.now().Add(90 * 24 * time.Hour)})
			p.open(t, clock.now)
			if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusOK {
				t.Errorf("refresh in another process returned %s %s, want 200", in.Status, in.body)
			}
			clock.forward(sessionLasts)
			if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusUnauthorized {
				t.Errorf("refresh a month later returned %s %s, want 401", in.Status, in.body)
			}
		})
	}
}
