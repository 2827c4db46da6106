package auth

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/config"
)

func TestGuest(t *testing.T) {
	c := newClock()
	a := newAuth(t, Options{Config: guests, Now: c.now})
	h := serve(t, a)
	for name, tc := range map[string]struct {
		method, body string
	}{
		"post":         {http.MethodPost, `{}`},
		"post nothing": {http.MethodPost, ""},
		"post garbage": {http.MethodPost, `{"a`},
		"get":          {http.MethodGet, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(t, h, tc.method, "/api/auth/guest/refresh", strings.NewReader(tc.body))
			if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
				t.Fatalf("response is %d %v: %s", w.Code, w.Header(), w.Body)
			}
			got := decode[map[string]any](t, w.Body.Bytes())
			token, _ := got["backstageIdentity"].(map[string]any)["token"].(string)
			inner := map[string]any{
				"token": token, "expiresInSeconds": 3600.0,
				"identity": map[string]any{"type": "user", "userEntityRef": "user:development/guest", "ownershipEntityRefs": []any{"user:development/guest"}},
			}
			want := map[string]any{"profile": map[string]any{}, "backstageIdentity": inner, "portalIdentity": inner}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if caller, err := ask(a, "Bearer "+token); err != nil || caller.Kind != Guest {
				t.Errorf("caller of the token is %v, %v; want a guest", caller, err)
			}
			parts := strings.Split(token, ".")
			var header, payload map[string]any
			for i, into := range []*map[string]any{&header, &payload} {
				data, err := base64.RawURLEncoding.DecodeString(parts[i])
				if err != nil || json.Unmarshal(data, into) != nil {
					t.Fatalf("part %d of the token is %q", i, data)
				}
			}
			at := float64(c.now().Unix())
			if diff := cmp.Diff([]map[string]any{
				{"typ": "vnd.backstage.user", "alg": "ES256", "kid": signingKey(t, a)},
				{
					"iss": base + "/api/auth", "sub": "user:development/guest", "aud": "backstage", "iat": at, "exp": at + 3600,
					"ent": []any{"user:development/guest"}, "guest": true,
				},
			}, []map[string]any{header, payload}); diff != "" {
				t.Errorf("claims of the token (-want +got):\n%s", diff)
			}
		})
	}
	if w := call(t, h, http.MethodPost, "/api/auth/guest/refresh", strings.NewReader(strings.Repeat("x", maxBody+1))); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("response to a large body is %d, want 413", w.Code)
	}
}

func TestProviders(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		config config.Auth
		want   string
	}{
		"None":   {"All sign-in methods can be disabled.", config.Auth{}, `{"guest":false,"oidc":false}`},
		"Guests": {"Only guests can be enabled.", guests, `{"guest":true,"oidc":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(t, serve(t, newAuth(t, Options{Config: tc.config})), http.MethodGet, "/api/auth/providers", nil)
			if diff := cmp.Diff(tc.want, w.Body.String()); w.Code != http.StatusOK || diff != "" {
				t.Errorf("%s: got %d (-want +got):\n%s", tc.reason, w.Code, diff)
			}
		})
	}
}

func TestGuestConfigured(t *testing.T) {
	a := newAuth(t, Options{Config: config.Auth{
		Guest:         config.GuestProvider{Enabled: true, UserRef: "Visitor", OwnershipRefs: []string{"Everyone", "user:visitor"}},
		TokenLifetime: 5 * time.Minute,
	}})
	w := call(t, serve(t, a), http.MethodPost, "/api/auth/guest/refresh", nil)
	got := decode[welcome](t, w.Body.Bytes()).Portal
	got.Token = ""
	want := admitted{Expires: 300, Identity: userInfo{Type: "user", Ref: "user:default/visitor", Ownership: []string{"group:default/everyone", "user:default/visitor"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGuestOff(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := call(t, serve(t, newAuth(t, Options{})), method, "/api/auth/guest/refresh", nil)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "NotAllowedError") || !strings.Contains(w.Body.String(), "auth.providers.guest") {
			t.Errorf("%s: response is %d %s, want 403", method, w.Code, w.Body)
		}
	}
}

func TestWellKnown(t *testing.T) {
	keys := newShelf(time.Now)
	a, _ := newAuth(t, Options{Config: guests, Keys: keys}), newAuth(t, Options{Config: guests, Keys: keys})
	h := serve(t, a)
	w := call(t, h, http.MethodGet, "/api/auth/.well-known/jwks.json", nil)
	set := decode[struct{ Keys []map[string]string }](t, w.Body.Bytes())
	if w.Code != http.StatusOK || len(set.Keys) != 2 {
		t.Fatalf("response is %d %s, want two keys", w.Code, w.Body)
	}
	for _, k := range set.Keys {
		if !keys.ids()[k["kid"]] || len(k["x"]) != 43 || len(k["y"]) != 43 {
			t.Errorf("key is %v", k)
		}
		// There is no "d", which would be the private key.
		k["kid"], k["x"], k["y"] = "", "", ""
		if diff := cmp.Diff(map[string]string{"kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "", "x": "", "y": ""}, k); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	keys.fail(errGone)
	if again := call(t, h, http.MethodGet, "/api/auth/.well-known/jwks.json", nil); again.Body.String() != w.Body.String() {
		t.Errorf("response without the store is %d %s, want the same keys", again.Code, again.Body)
	}
	w = call(t, h, http.MethodGet, "/api/auth/.well-known/openid-configuration", nil)
	want := map[string]any{
		"issuer": base + "/api/auth", "jwks_uri": base + "/api/auth/.well-known/jwks.json",
		"response_types_supported": []any{}, "subject_types_supported": []any{"public"},
		"id_token_signing_alg_values_supported": []any{"ES256"}, "scopes_supported": []any{"openid"},
		"token_endpoint_auth_methods_supported": []any{}, "claims_supported": []any{"sub", "ent"}, "grant_types_supported": []any{},
	}
	if diff := cmp.Diff(want, decode[map[string]any](t, w.Body.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoIssuer checks that sign-in is not found without an issuer.
func TestNoIssuer(t *testing.T) {
	h := serve(t, newAuth(t, Options{Config: guests}))
	for path, method := range map[string]string{
		"/start": http.MethodGet, "/handler/frame?code=x&state=y": http.MethodGet, "/refresh": http.MethodPost, "/logout": http.MethodPost,
	} {
		w := call(t, h, method, "/api/auth/oidc"+path, nil)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Unknown auth provider 'oidc'") {
			t.Errorf("%s: response is %d %s, want 404", path, w.Code, w.Body)
		}
	}
}
