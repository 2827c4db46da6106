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

	"example.dev/ingestor/internal/identity/keyring"
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

// publish stores the public key of a key pair.
func publish(tb testing.TB, s KeyStore, id string, key any, expires time.Time) {
	tb.Helper()
	jwk, err := jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256)}.MarshalJSON()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.AddKey(context.Background(), keyring.Key{ID: id, JWK: jwk, Expires: expires}); err != nil {
		tb.Fatal(err)
	}
}

func TestBadTokens(t *testing.T) {
	c := newClock()
	keys := newShelf(c.now)
	a := newAuth(t, Options{Config: guests, Now: c.now, Keys: keys})
	good := guestToken(t, a)
	parts := strings.Split(good, ".")

	// This is a key pair of the test, published like that of a replica.
	key, other := newKey(t), newKey(t)
	publish(t, keys, "ours", key.Public(), c.now().Add(2*time.Hour))
	publish(t, keys, "expired", key.Public(), c.now().Add(-time.Second))
	// A mistake of an operator must not give access.
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
		t.Fatalf("valid token is refused, so the cases below prove nothing: %v", err)
	}

	cases := map[string]struct {
		reason string
		token  string
	}{
		"none":            {"The algorithm none is refused.", enc([]byte(`{"alg":"none","typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "."},
		"none with sig":   {"The algorithm none with a signature is refused.", enc([]byte(`{"alg":"none","typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "." + parts[2]},
		"None":            {"The algorithm none in another case is refused.", enc([]byte(`{"alg":"NoNe","typ":"vnd.backstage.user"}`)) + "." + parts[1] + "."},
		"no alg":          {"A missing algorithm is refused.", enc([]byte(`{"typ":"vnd.backstage.user","kid":"ours"}`)) + "." + parts[1] + "." + parts[2]},
		"HS256":           {"The public key is not accepted as a shared secret.", sign(t, jose.HS256, pub, "ours", tokenType, right(same))},
		"embedded key":    {"A key in the token is ignored.", enc([]byte(`{"alg":"ES256","typ":"vnd.backstage.user","jwk":{"kty":"EC"}}`)) + "." + parts[1] + "." + parts[2]},
		"issuer":          {"Another issuer is refused.", set("iss", "https://elsewhere.example/api/auth")},
		"issuer slash":    {"Another spelling of the issuer is refused.", set("iss", base+"/api/auth/")},
		"issuer type":     {"An issuer must be text.", set("iss", []string{base + "/api/auth"})},
		"no issuer":       {"A missing issuer is refused.", drop("iss")},
		"audience":        {"Another audience is refused.", set("aud", "elsewhere")},
		"no audience":     {"A missing audience is refused.", drop("aud")},
		"audiences":       {"Several audiences are refused.", set("aud", []string{"backstage", "elsewhere"})},
		"no subject":      {"A missing subject is refused.", drop("sub")},
		"expired":         {"An expired token is refused.", set("exp", at(-time.Second))},
		"expires now":     {"A token that expires this second is refused.", set("exp", at(0))},
		"no expiry":       {"A missing expiry is refused.", drop("exp")},
		"expiry type":     {"An expiry must be a number.", set("exp", "never")},
		"huge expiry":     {"An expiry must be in range.", set("exp", 1e300)},
		"not yet":         {"A token that is not valid yet is refused.", set("nbf", at(time.Second))},
		"issued later":    {"A token issued in the future is refused.", set("iat", at(2*time.Minute))},
		"type":            {"Another type of token is refused.", sign(t, jose.ES256, key, "ours", "JWT", right(same))},
		"other key":       {"Another key with our id is refused.", sign(t, jose.ES256, other, "ours", tokenType, right(same))},
		"unknown key":     {"A key that was not published is refused.", sign(t, jose.ES256, other, "theirs", tokenType, right(same))},
		"no key":          {"A missing key id is refused.", sign(t, jose.ES256, other, "", tokenType, right(same))},
		"expired key":     {"An expired key is refused.", sign(t, jose.ES256, key, "expired", tokenType, right(same))},
		"private key":     {"A stored private key is not used.", sign(t, jose.ES256, key, "private", tokenType, right(same))},
		"payload":         {"Changed claims are refused.", parts[0] + "." + claimed(right(same)) + "." + parts[2]},
		"payload no JSON": {"Claims must be JSON.", parts[0] + "." + enc([]byte("x")) + "." + parts[2]},
		"no signature":    {"A missing signature is refused.", parts[0] + "." + parts[1] + "."},
		"zero signature":  {"A signature of zeros is refused.", parts[0] + "." + parts[1] + "." + enc(make([]byte, 64))},
		"four parts":      {"An additional part is refused.", good + "." + parts[2]},
		"padding":         {"Padding is refused.", good + "="},
		"newline":         {"White space is refused.", parts[0] + "." + parts[1] + ".\n" + parts[2]},
		"garbage":         {"A text that is not a token is refused.", "garbage"},
		"dots":            {"Empty parts are refused.", ".."},
		"huge":            {"A token that is too long is refused.", strings.Repeat("A", maxToken) + "." + parts[1] + "." + parts[2]},
		"huge valid":      {"A signed token that is too long is refused.", set("ent", strings.Repeat("x", maxToken))},
		"two words":       {"A token with spaces is refused.", good + " " + good},
		"JSON":            {"The JSON serialization is refused.", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`},
		"encrypted":       {"An encrypted token is refused.", strings.Repeat(parts[0]+".", 4) + parts[2]},
		"not a text":      {"Invalid UTF-8 is refused.", "\xff\xfe.\x00.\x01"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ask(a, "Bearer "+tc.token)
			if statusOf(t, err) != http.StatusForbidden {
				t.Errorf("%s: caller is %v, %v; want 403", tc.reason, got, err)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		for n := 1; n < len(good); n++ {
			if got, err := ask(a, "Bearer "+good[:n]); statusOf(t, err) != http.StatusForbidden {
				t.Fatalf("first %d of %d characters: caller is %v, %v; want 403", n, len(good), got, err)
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
					t.Fatalf("changed character %d: caller is %v, %v; want 403", n, got, err)
				}
			}
		}
	})
	if got, err := ask(a, "Bearer "+good); err != nil || got.Kind != Guest {
		t.Errorf("valid token was refused afterwards: %v, %v", got, err)
	}
}
