package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/test/database"
)

func TestHeader(t *testing.T) {
	a := newAuth(t, Options{Config: guests})
	token := guestToken(t, a)
	want := Caller{Kind: Guest, Subject: "user:development/guest", Ownership: []string{"user:development/guest"}}
	cases := map[string]struct {
		reason string
		values []string
		status int
		says   string
	}{
		"none":        {"A missing header is 401.", nil, 401, "Missing credentials"},
		"empty":       {"An empty header is 401.", []string{""}, 401, "Missing credentials"},
		"basic":       {"Another scheme is 401.", []string{"Basic Zm9vOmJhcg=="}, 401, "Missing credentials"},
		"bare":        {"A token without a scheme is 401.", []string{token}, 401, "Missing credentials"},
		"scheme":      {"A scheme without a token is 401.", []string{"Bearer"}, 401, "Missing credentials"},
		"spaces":      {"A scheme with only spaces is 401.", []string{"Bearer   "}, 401, "Missing credentials"},
		"garbage":     {"A text that is not a token is 403.", []string{"Bearer garbage"}, 403, "Illegal token"},
		"forged":      {"A token with an invalid signature is 403.", []string{"Bearer " + token[:len(token)-4] + "AAAA"}, 403, "Failed user token verification"},
		"two":         {"Two headers are ambiguous.", []string{"Bearer " + token, "Bearer " + token}, 403, "More than one Authorization header"},
		"two kinds":   {"Two headers with different schemes are ambiguous.", []string{"Basic Zm9vOmJhcg==", "Bearer " + token}, 403, "More than one Authorization header"},
		"good":        {"A valid token is accepted.", []string{"Bearer " + token}, 200, ""},
		"lower case":  {"Schemes are not case-sensitive.", []string{"bearer " + token}, 200, ""},
		"more spaces": {"Several spaces are accepted.", []string{"Bearer   " + token}, 200, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ask(a, tc.values...)
			if statusOf(t, err) != tc.status || err != nil && err.Error() != tc.says {
				t.Errorf("%s: response is %v, want %d %q", tc.reason, err, tc.status, tc.says)
			}
			if tc.status == 200 {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			} else if f, _ := errors.AsType[*rest.Fault](err); f.Name != map[int]string{401: "AuthenticationError", 403: "NotAllowedError"}[tc.status] {
				t.Errorf("%s: name of the error is %s", tc.reason, f.Name)
			}
		})
	}
}

func TestServices(t *testing.T) {
	a := newAuth(t, Options{External: []config.ExternalAccess{
		{Token: "first-token-4711", Subject: "ci"}, {Token: "second-token-4711", Subject: "provider"},
	}})
	for token, subject := range map[string]string{"first-token-4711": "ci", "second-token-4711": "provider"} {
		got, err := ask(a, "Bearer "+token)
		if diff := cmp.Diff(Caller{Kind: Service, Subject: subject}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, token := range []string{"first-token-471", "first-token-4711n", "FIRST-TOKEN-4711", "ci"} {
		if got, err := ask(a, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
			t.Errorf("%q: caller is %v, %v; want 403", token, got, err)
		}
	}
	if got, err := ask(newAuth(t, Options{}), "Bearer first-token-4711"); err == nil {
		t.Errorf("caller without services is %v, want an error", got)
	}
}

func TestNewRefuses(t *testing.T) {
	oidc := config.OIDCProvider{Enabled: true, Issuer: "https://issuer.example", ClientID: "portal"}
	changed := func(change func(*config.OIDCProvider)) Options {
		o := oidc
		change(&o)
		return Options{Config: config.Auth{OIDC: o}}
	}
	cases := map[string]struct {
		opts Options
		want string
	}{
		"base":         {Options{BaseURL: "nowhere"}, "cannot use backend.baseUrl"},
		"empty token":  {Options{External: []config.ExternalAccess{{Subject: "ci"}}}, "externalAccess[0]: token is weak, want at least 16 characters"},
		"short token":  {Options{External: []config.ExternalAccess{{Subject: "ci", Token: "secret7"}}}, "externalAccess[0]: token is weak, want at least 16 characters"},
		"same signs":   {Options{External: []config.ExternalAccess{{Subject: "ci", Token: "aaaaaaaaaaaaaaaa"}}}, "externalAccess[0]: token is weak, want at least 8 different characters"},
		"no subject":   {Options{External: []config.ExternalAccess{{Token: "first-token-4711"}}}, "externalAccess[0]: subject is missing"},
		"same token":   {Options{External: []config.ExternalAccess{{Token: "first-token-4711", Subject: "a"}, {Token: "first-token-4711", Subject: "b"}}}, "externalAccess[1]: same token as externalAccess[0]"},
		"guest":        {Options{Config: config.Auth{Guest: config.GuestProvider{Enabled: true, UserRef: "a b"}}}, "auth.providers.guest.userEntityRef"},
		"guest owns":   {Options{Config: config.Auth{Guest: config.GuestProvider{Enabled: true, OwnershipRefs: []string{"x:y:z"}}}}, "auth.providers.guest.ownershipEntityRefs"},
		"issuer":       {changed(func(o *config.OIDCProvider) { o.Issuer = "issuer" }), "issuer is not an http or https URL"},
		"credentials":  {changed(func(o *config.OIDCProvider) { o.Issuer = "https://a:hunter2@issuer.example" }), "issuer is not an http or https URL"},
		"client":       {changed(func(o *config.OIDCProvider) { o.ClientID = "" }), "clientId is missing"},
		"authority":    {changed(func(o *config.OIDCProvider) { o.CAFile = "/nowhere.pem" }), "cannot read caFile"},
		"no authority": {changed(func(o *config.OIDCProvider) { o.CAFile = "auth_test.go" }), "no certificate in caFile"},
		"short secret": {Options{Config: config.Auth{OIDC: oidc, SessionSecret: "short-secret"}}, "auth.session.secret: secret is weak, want at least 16 characters"},
		"app":          {Options{Config: config.Auth{OIDC: oidc}, AppURL: "javascript:alert(1)"}, "cannot use app.baseUrl"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.opts.Keys, tc.opts.Sessions, tc.opts.Now = newShelf(time.Now), newShelf(time.Now), time.Now
			if tc.opts.BaseURL == "" {
				tc.opts.BaseURL = base
			}
			_, err := New(t.Context(), tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error is %v, want %q", err, tc.want)
			}
			for _, secret := range []string{"secret7", "aaaaaaaa", "first-token-4711", "short-secret", "hunter2"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error contains a secret: %v", err)
				}
			}
		})
	}
	gone := newShelf(time.Now)
	gone.fail(errGone)
	if _, err := New(t.Context(), Options{BaseURL: base, Keys: gone, Now: time.Now}); !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("New without a store returned %v, want db.ErrUnavailable", err)
	}
}

// TestPeers has two processes on one store accept each other's tokens, and those
// of a third that starts later.
func TestPeers(t *testing.T) {
	for name, open := range map[string]func(*testing.T) KeyStore{
		"memory": func(*testing.T) KeyStore { return newShelf(time.Now) },
		"SQLite": func(t *testing.T) KeyStore {
			return NewStorage(database.Open(t, database.SQLite(t)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			keys := open(t)
			a := newAuth(t, Options{Config: guests, Keys: keys})
			b := newAuth(t, Options{Config: guests, Keys: keys})
			fromA, fromB := guestToken(t, a), guestToken(t, b)
			later := newAuth(t, Options{Config: guests, Keys: keys})
			for who, p := range map[string]*Auth{"a": a, "b": b, "later": later} {
				for whose, token := range map[string]string{"a": fromA, "b": fromB} {
					if _, err := ask(p, "Bearer "+token); err != nil {
						t.Errorf("%s refuses a token of %s: %v", who, whose, errors.Unwrap(err))
					}
				}
			}
			if got := len(a.ring.Public(t.Context())); got != 3 {
				t.Errorf("%d keys are public, want those of all three", got)
			}
			stranger := newAuth(t, Options{Config: guests})
			if _, err := ask(stranger, "Bearer "+fromA); statusOf(t, err) != http.StatusForbidden {
				t.Errorf("portal with another store returned %v, want 403", err)
			}
		})
	}
}

func TestGuestsSwitchedOff(t *testing.T) {
	keys := newShelf(time.Now)
	on := newAuth(t, Options{Config: guests, Keys: keys})
	token := guestToken(t, on)
	off := newAuth(t, Options{Keys: keys})
	if _, err := ask(off, "Bearer "+token); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("guest token is accepted after guests were disabled: %v", err)
	}
	user, err := on.issue(t.Context(), identity{ref: "user:default/ada", ownership: []string{"user:default/ada", "group:default/a"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ask(off, "Bearer "+user)
	want := Caller{Kind: User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/a"}, Login: "ada", Groups: []string{"a"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("a user: %v (-want +got):\n%s", err, diff)
	}
}

// FuzzAuthenticate checks that only a token we issued is accepted.
func FuzzAuthenticate(f *testing.F) {
	a := newAuth(f, Options{Config: guests, External: []config.ExternalAccess{{Token: "first-token-4711", Subject: "ci"}}})
	good := guestToken(f, a)
	for _, seed := range []string{good, good[1:], "first-token-4711", "a.b.c", "..", "e30.e30.", "eyJhbGciOiJub25lIn0.e30."} {
		f.Add("Bearer " + seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := ask(a, value)
		if err == nil {
			token := strings.Trim(value[len("Bearer "):], " ")
			if token != good && token != "first-token-4711" {
				t.Errorf("%q is accepted as %v", value, got)
			}
			return
		}
		if s := statusOf(t, err); s != http.StatusForbidden && s != http.StatusUnauthorized {
			t.Errorf("%q: status is %d", value, s)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	a := newAuth(b, Options{Config: guests, External: []config.ExternalAccess{{Token: "first-token-4711", Subject: "ci"}}})
	good := guestToken(b, a)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for name, token := range map[string]string{"known": good, "service": "first-token-4711"} {
		r.Header.Set("Authorization", "Bearer "+token)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := a.verify(b.Context(), good); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("issue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.issue(b.Context(), a.guest); err != nil {
				b.Fatal(err)
			}
		}
	})
}
