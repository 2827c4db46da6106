package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// sign returns a token with any claims, signed by any key.
func sign(tb testing.TB, algorithm jose.SignatureAlgorithm, key any, id, typ string, payload any) string {
	tb.Helper()
	s, err := jose.NewSigner(
		jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: id}},
		(&jose.SignerOptions{}).WithType(jose.ContentType(typ)),
	)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		tb.Fatal(err)
	}
	signed, err := s.Sign(data)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := signed.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// publish puts the public half of a key into a store.
func publish(tb testing.TB, s KeyStore, id string, key any, expires time.Time) {
	tb.Helper()
	jwk, err := jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256)}.MarshalJSON()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.AddKey(context.Background(), Key{ID: id, JWK: jwk, Expires: expires}); err != nil {
		tb.Fatal(err)
	}
}

func TestBadTokens(t *testing.T) {
	c := newClock()
	keys := newShelf(c.now)
	a := newAuth(t, Options{Config: guests, Now: c.now, Keys: keys})
	good := guestToken(t, a)
	parts := strings.Split(good, ".")

	// A key of which this test knows both halves, published as any replica's.
	key, other := newKey(t), newKey(t)
	publish(t, keys, "ours", key.Public(), c.now().Add(2*time.Hour))
	publish(t, keys, "expired", key.Public(), c.now().Add(-time.Second))
	// An operator's mistake must not become a way in.
	publish(t, keys, "private", key, c.now().Add(time.Hour))
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) int64 { return c.now().Add(d).Unix() }
	right := func(change func(map[string]any)) map[string]any {
		m := map[string]any{
			"iss": base + "/api/auth", "sub": "user:default/ada", "ent": []string{"user:default/ada"}, "aud": "backstage",
			"iat": at(0), "exp": at(time.Hour),
		}
		change(m)
		return m
	}
	same := func(map[string]any) {}
	with := func(change func(map[string]any)) string {
		return sign(t, jose.ES256, key, "ours", tokenType, right(change))
	}
	set := func(name string, value any) string { return with(func(m map[string]any) { m[name] = value }) }
	drop := func(name string) string { return with(func(m map[string]any) { delete(m, name) }) }
	enc := base64.RawURLEncoding.EncodeToString
	claimed := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return enc(data)
	}
	if _, err := ask(a, "Bearer "+with(same)); err != nil {
		t.Fatalf("a token that is right in everything is refused, so that nothing below would prove anything: %v", err)
	}

	cases := map[string]struct {
		reason string
		token  string
	}{
		"none":            {"an algorithm that signs nothing", enc([]byte(`{"alg":"none","typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "."},
		"none with sig":   {"a signature does not make it one", enc([]byte(`{"alg":"none","typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "." + parts[2]},
		"None":            {"nor does another spelling", enc([]byte(`{"alg":"NoNe","typ":"vnd.backstage.user"}`)) + "." + parts[1] + "."},
		"no alg":          {"an algorithm is named", enc([]byte(`{"typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "." + parts[2]},
		"HS256":           {"the public key is no shared secret", sign(t, jose.HS256, pub, "ours", tokenType, right(same))},
		"embedded key":    {"a token does not bring its own key", enc([]byte(`{"alg":"ES256","typ":"vnd.backstage.user","jwk":{"kty":"EC"}}`)) + "." + parts[1] + "." + parts[2]},
		"issuer":          {"another issuer", set("iss", "https://elsewhere.example/api/auth")},
		"issuer slash":    {"another spelling is another issuer", set("iss", base+"/api/auth/")},
		"issuer type":     {"an issuer is a text", set("iss", []string{base + "/api/auth"})},
		"no issuer":       {"an issuer is named", drop("iss")},
		"audience":        {"another audience", set("aud", "elsewhere")},
		"no audience":     {"an audience is named", drop("aud")},
		"audiences":       {"our tokens have one audience", set("aud", []string{"backstage", "elsewhere"})},
		"no subject":      {"somebody is named", drop("sub")},
		"expired":         {"it has ended", set("exp", at(-time.Second))},
		"expires now":     {"it ends this second", set("exp", at(0))},
		"no expiry":       {"everything ends", drop("exp")},
		"expiry type":     {"a time is a number", set("exp", "never")},
		"huge expiry":     {"and a number that fits", set("exp", 1e300)},
		"not yet":         {"it has not begun", set("nbf", at(time.Second))},
		"issued later":    {"it was issued in the future", set("iat", at(2*time.Minute))},
		"type":            {"another type of token", sign(t, jose.ES256, key, "ours", "JWT", right(same))},
		"other key":       {"somebody else's key under our id", sign(t, jose.ES256, other, "ours", tokenType, right(same))},
		"unknown key":     {"a key nobody published", sign(t, jose.ES256, other, "theirs", tokenType, right(same))},
		"no key":          {"a key is named", sign(t, jose.ES256, other, "", tokenType, right(same))},
		"expired key":     {"a key that has expired", sign(t, jose.ES256, key, "expired", tokenType, right(same))},
		"private key":     {"a private half is not used", sign(t, jose.ES256, key, "private", tokenType, right(same))},
		"payload":         {"somebody else's claims", parts[0] + "." + claimed(right(same)) + "." + parts[2]},
		"payload no JSON": {"claims are JSON", parts[0] + "." + enc([]byte("x")) + "." + parts[2]},
		"no signature":    {"nothing signed", parts[0] + "." + parts[1] + "."},
		"zero signature":  {"a signature of zeros", parts[0] + "." + parts[1] + "." + enc(make([]byte, 64))},
		"four parts":      {"one part too many", good + "." + parts[2]},
		"padding":         {"padding is not written", good + "="},
		"newline":         {"white space is not passed over", parts[0] + "." + parts[1] + ".\n" + parts[2]},
		"garbage":         {"nothing like a token", "garbage"},
		"dots":            {"nothing between them", ".."},
		"huge":            {"longer than any token", strings.Repeat("A", maxToken) + "." + parts[1] + "." + parts[2]},
		"huge valid":      {"even if it is signed", set("ent", strings.Repeat("x", maxToken))},
		"two words":       {"a token has no spaces", good + " " + good},
		"JSON":            {"the other form of a signed text", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`},
		"encrypted":       {"nor the encrypted one", strings.Repeat(parts[0]+".", 4) + parts[2]},
		"not a text":      {"bytes that are no characters", "\xff\xfe.\x00.\x01"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ask(a, "Bearer "+tc.token)
			if statusOf(t, err) != http.StatusForbidden {
				t.Errorf("%s: got %v, %v, want 403", tc.reason, got, err)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		for n := 1; n < len(good); n++ {
			if got, err := ask(a, "Bearer "+good[:n]); statusOf(t, err) != http.StatusForbidden {
				t.Fatalf("the first %d of %d characters: got %v, %v", n, len(good), got, err)
			}
		}
	})
	t.Run("changed", func(t *testing.T) {
		for n := range len(good) {
			for _, c := range "Aw_" {
				changed := good[:n] + string(c) + good[n+1:]
				if changed == good {
					continue
				}
				if got, err := ask(a, "Bearer "+changed); statusOf(t, err) != http.StatusForbidden {
					t.Fatalf("character %d changed: got %v, %v", n, got, err)
				}
			}
		}
	})
	if got, err := ask(a, "Bearer "+good); err != nil || got.Kind != Guest {
		t.Errorf("the good one is refused after all that: %v, %v", got, err)
	}
}
