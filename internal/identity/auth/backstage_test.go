package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

// signer is a key of a Backstage.
type signer struct {
	id  string
	key *ecdsa.PrivateKey
}

func newSigner(tb testing.TB, id string) signer {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return signer{id, key}
}

// sign returns a token of a type.
func (s signer) sign(tb testing.TB, typ string, claims map[string]any) string {
	tb.Helper()
	by, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: s.id}}, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
	if err != nil {
		tb.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		tb.Fatal(err)
	}
	signed, err := by.Sign(payload)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// keysOf serves the keys of a Backstage.
func keysOf(tb testing.TB, scaffolder, users signer) string {
	tb.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, ok := map[string]signer{"/api/scaffolder/.backstage/auth/v1/jwks.json": scaffolder, "/api/auth/.well-known/jwks.json": users}[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: by.key.Public(), KeyID: by.id, Algorithm: "ES256", Use: "sig"}}})
	}))
	tb.Cleanup(srv.Close)
	return srv.URL
}

// TestBackstage checks which tokens of a Backstage are accepted, and for whom. The tokens
// are as Backstage makes them; test/backstage has the real ones.
func TestBackstage(t *testing.T) {
	t.Parallel()
	plugin, users, stranger := newSigner(t, "p1"), newSigner(t, "u1"), newSigner(t, "p1")
	otherPlugin, otherUsers := newSigner(t, "p2"), newSigner(t, "u2")
	clock := newClock()
	now := clock.now().Unix()
	claims := func(more map[string]any) map[string]any {
		out := map[string]any{"sub": "scaffolder", "aud": "ingestor", "iat": now, "exp": now + 3600}
		for k, v := range more {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
		return out
	}
	user := func(by signer, typ string, more map[string]any) string {
		out := claims(map[string]any{"sub": "user:default/Ada", "aud": nil})
		for k, v := range more {
			out[k] = v
		}
		return by.sign(t, typ, out)
	}
	ada := user(users, backstageUser, nil)
	obo := func(token string) string {
		return plugin.sign(t, backstagePlugin, claims(map[string]any{"obo": token}))
	}
	service := Caller{Kind: Service, Subject: "backstage:company", Via: "company"}
	adaHere := Caller{Kind: User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/platform"}, Via: "company"}
	cases := map[string]struct {
		reason string
		token  string
		groups string
		guests bool
		status int
		// want is the caller, and why the reason in the log if there is none.
		want Caller
		why  string
	}{
		"Service":      {reason: "A plugin calls for itself.", token: plugin.sign(t, backstagePlugin, claims(nil)), want: service},
		"User":         {reason: "A plugin calls for a user, who has the groups of the catalog.", token: obo(ada), want: adaHere},
		"Other":        {reason: "Each Backstage has its keys.", token: otherPlugin.sign(t, backstagePlugin, claims(nil)), want: Caller{Kind: Service, Subject: "backstage:other", Via: "other"}},
		"Mixed":        {reason: "A Backstage does not call for the users of another.", token: otherPlugin.sign(t, backstagePlugin, claims(map[string]any{"obo": ada})), status: 403, why: "matches no known key"},
		"Groups":       {reason: "Backstage says which groups a user is in.", token: obo(ada), groups: "user:default/ada, group:default/Shop,group:default/platform", want: Caller{Kind: User, Subject: "user:default/ada", Ownership: []string{"user:default/ada", "group:default/platform", "group:default/shop"}, Via: "company"}},
		"OtherUser":    {reason: "A user does not own what another user owns.", token: obo(ada), groups: "user:default/bob", want: adaHere},
		"BadGroup":     {reason: "Other references are refused.", token: obo(ada), groups: "component:default/x", status: 400},
		"NoGroup":      {reason: "So are other texts.", token: obo(ada), groups: "group:default/a,,", status: 400},
		"ManyGroups":   {reason: "The number of groups is limited.", token: obo(ada), groups: strings.Repeat("group:default/a,", 1000), status: 400},
		"ServiceOwns":  {reason: "Only users have groups.", token: plugin.sign(t, backstagePlugin, claims(nil)), groups: "group:default/a", want: service},
		"Guest":        {reason: "A guest of Backstage is a guest.", token: obo(user(users, backstageUser, map[string]any{"sub": "user:development/guest"})), guests: true, want: Caller{Kind: Guest, Subject: "user:development/guest", Ownership: []string{"user:development/guest"}, Via: "company"}},
		"NoGuests":     {reason: "Guests of Backstage are let in only where guests are.", token: obo(user(users, backstageUser, map[string]any{"sub": "user:development/guest"})), status: 403, why: "guest sign-in is disabled"},
		"NotUser":      {reason: "Only users sign in.", token: obo(user(users, backstageUser, map[string]any{"sub": "group:default/a"})), status: 403, why: "is not a user"},
		"Expired":      {reason: "A token ends.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"exp": now - 1})), status: 403, why: "token has expired"},
		"Endless":      {reason: "A token must end.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"exp": nil})), status: 403, why: "token has expired"},
		"Future":       {reason: "A token is not used before it is issued.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"iat": now + 3600})), status: 403, why: "not valid yet"},
		"UserExpired":  {reason: "The user's token ends too.", token: obo(user(users, backstageUser, map[string]any{"exp": now - 1})), status: 403, why: "token has expired"},
		"Audience":     {reason: "A token for another plugin of Backstage is not for the portal.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"aud": "catalog"})), status: 403, why: "another audience"},
		"Audiences":    {reason: "Nor is one for several.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"aud": []string{"ingestor", "catalog"}})), status: 403, why: "another audience"},
		"Forged":       {reason: "The signature counts, not the name of the key.", token: stranger.sign(t, backstagePlugin, claims(nil)), status: 403, why: "matches no known key"},
		"ForgedUser":   {reason: "A plugin cannot make tokens of users.", token: obo(user(plugin, backstageUser, nil)), status: 403, why: "matches no known key"},
		"WholeUser":    {reason: "The token in the claim is that of a user for plugins.", token: obo(user(users, "vnd.backstage.user", nil)), status: 403, why: "wrong type"},
		"PluginAsUser": {reason: "A token of a plugin is not that of a user.", token: obo(users.sign(t, backstagePlugin, claims(nil))), status: 403, why: "wrong type"},
		"BareUser":     {reason: "A user's token without that of a plugin may come from anyone.", token: ada, status: 403},
		"Plugin":       {reason: "Plugins that are not listed do not call.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"sub": "techdocs"})), status: 403, why: `plugin "techdocs"`},
		"Path":         {reason: "The name of a plugin is part of no address.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"sub": "scaffolder/../auth"})), status: 403, why: "which no item of auth.backstage lists"},
		"Away":         {reason: "Without the keys of a Backstage, its tokens are not verified.", token: plugin.sign(t, backstagePlugin, claims(map[string]any{"sub": "catalog"})), status: 503},
	}
	company := config.Backstage{Name: "company", URL: keysOf(t, plugin, users), Plugins: []string{"scaffolder", "catalog"}}
	other := config.Backstage{Name: "other", URL: keysOf(t, otherPlugin, otherUsers) + "/", Plugins: []string{"scaffolder"}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var log diary
			opts := Options{
				Config:  config.Auth{Backstages: []config.Backstage{company, other}, Guest: config.GuestProvider{Enabled: tc.guests, UserRef: "user:development/guest", OwnershipRefs: []string{"user:development/guest"}}},
				BaseURL: base, Now: clock.now, Log: log.log(), Membership: func(_ context.Context, user string) ([]string, error) {
					return map[string][]string{"user:default/ada": {"group:default/platform"}}[user], nil
				},
			}
			r := httptest.NewRequest(http.MethodGet, "/api/catalog/entities", nil)
			r.Header.Set("Authorization", "Bearer "+tc.token)
			if tc.groups != "" {
				r.Header.Set("Backstage-Ownership", tc.groups)
			}
			a := newAuth(t, opts)
			for range 2 { // The second time the token is known already.
				got, err := a.Authenticate(r)
				if want := max(tc.status, http.StatusOK); statusOf(t, err) != want {
					t.Fatalf("%s: %v, want %d", tc.reason, err, want)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" && tc.status == 0 {
					t.Errorf("%s: caller (-want +got):\n%s", tc.reason, diff)
				}
				if err != nil && (cause(err) == nil || !strings.Contains(cause(err).Error(), tc.why)) {
					t.Errorf("%s: cause is %v, want %q", tc.reason, cause(err), tc.why)
				}
			}
		})
	}
	t.Run("Remembered", func(t *testing.T) {
		// A caller whose token ends soon is not remembered for longer.
		clock := newClock()
		a := newAuth(t, Options{Config: config.Auth{Backstages: []config.Backstage{company}}, BaseURL: base, Now: clock.now})
		at := clock.now().Unix()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+plugin.sign(t, backstagePlugin, claims(map[string]any{"iat": at, "exp": at + 3600, "obo": user(users, backstageUser, map[string]any{"iat": at, "exp": at + 5})})))
		if _, err := a.Authenticate(r); err != nil {
			t.Fatal(err)
		}
		clock.forward(6 * time.Second)
		if _, err := a.Authenticate(r); statusOf(t, err) != http.StatusForbidden {
			t.Errorf("token of an expired user returned %v", err)
		}
	})
}
