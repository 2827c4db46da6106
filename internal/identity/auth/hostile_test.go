package auth

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/internal/config"
)

// rogue is an issuer whose responses the test sets, as a real one sends no
// invalid ones.
type rogue struct {
	*httptest.Server
	key *rsa.PrivateKey
	// down makes all responses fail; keyReads counts reads of the keys.
	down     atomic.Bool
	keyReads atomic.Int32
	// token is the response to a code, userinfo that of the userinfo endpoint.
	token, userinfo atomic.Pointer[http.HandlerFunc]
}

const (
	clientSecret = "the-client-secret"
	issuersWords = "words-of-the-issuer"
)

func newRogue(t *testing.T) *rogue {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := &rogue{key: key}
	mux := http.NewServeMux()
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.down.Load() {
			http.Error(w, issuersWords, http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		mux.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":"%[1]s/auth","token_endpoint":"%[1]s/token","userinfo_endpoint":"%[1]s/me",
			"jwks_uri":"%[1]s/keys","id_token_signing_alg_values_supported":["RS256","HS256","none"]}`, r.URL)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		r.keyReads.Add(1)
		k, _ := jose.JSONWebKey{Key: key.Public(), KeyID: "k", Use: "sig"}.MarshalJSON()
		secret := base64.RawURLEncoding.EncodeToString([]byte(clientSecret))
		fmt.Fprintf(w, `{"keys":[{"kty":"odd"},{"kty":"oct","kid":"k","k":%q},%s]}`, secret, k)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, req *http.Request) { (*r.token.Load())(w, req) })
	mux.HandleFunc("/me", func(w http.ResponseWriter, req *http.Request) { (*r.userinfo.Load())(w, req) })
	return r
}

// answer sets the responses to a code and of the userinfo endpoint.
func (r *rogue) answer(token http.HandlerFunc, userinfo string) {
	who := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, cmp.Or(userinfo, `{"sub":"s1"}`)) })
	r.token.Store(&token)
	r.userinfo.Store(&who)
}

// claims returns the claims of a valid ID token.
func (r *rogue) claims(nonce string, change map[string]any) map[string]any {
	now := time.Now()
	m := map[string]any{
		"iss": r.URL, "sub": "s1", "aud": "portal", "nonce": nonce, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"email": "Ada@Example.com", "email_verified": true, "name": "Ada", "groups": []string{"a"}, "picture": "https://example.com/ada.png",
	}
	maps.Copy(m, change)
	for k, v := range m {
		if v == nil {
			delete(m, k)
		}
	}
	return m
}

// give returns a handler that responds with a token.
func give(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "opaque", "token_type": "Bearer", "expires_in": 60, "id_token": id})
	}
}

func (r *rogue) setup() config.Auth {
	return config.Auth{
		Guest: config.GuestProvider{Enabled: true},
		OIDC: config.OIDCProvider{
			Enabled: true, Issuer: r.URL, ClientID: "portal", ClientSecret: clientSecret, UserClaim: "email", GroupsClaim: "groups",
		},
	}
}

// begin starts a sign-in and returns the callback URL without the code.
func begin(t *testing.T, p *portal, c *http.Client) (back, nonce string) {
	t.Helper()
	away := p.visit(t, c, http.MethodGet, "/api/auth/oidc/start")
	at, err := url.Parse(away.Header.Get("Location"))
	if err != nil || away.StatusCode != http.StatusFound {
		t.Fatalf("start returned %s %s, want 302", away.Status, away.body)
	}
	return frame + "?state=" + at.Query().Get("state"), at.Query().Get("nonce")
}

func TestRogueIssuer(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	p.open(t, time.Now)
	signed := func(change map[string]any) func(nonce string) http.HandlerFunc {
		return func(nonce string) http.HandlerFunc {
			return give(sign(t, jose.RS256, r.key, "k", "JWT", r.claims(nonce, change)))
		}
	}
	raw := func(f http.HandlerFunc) func(string) http.HandlerFunc {
		return func(string) http.HandlerFunc { return f }
	}
	says := func(status int, body string) func(string) http.HandlerFunc {
		return raw(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf("group-%d", i)
	}
	cases := map[string]struct {
		token    func(nonce string) http.HandlerFunc
		userinfo string
		status   int
		says     string
	}{
		"good":             {token: signed(nil), status: 302},
		"many groups":      {token: signed(map[string]any{"groups": many[:300]}), status: 302},
		"too many groups":  {token: signed(map[string]any{"groups": many}), status: 403, says: `You are in too many groups for a session: configure the issuer to list fewer in the claim \"groups\"`},
		"asked for groups": {token: signed(map[string]any{"groups": nil}), userinfo: `{"sub":"s1","groups":["b"]}`, status: 302},
		"another user":     {token: signed(map[string]any{"groups": nil}), userinfo: `{"sub":"s2","groups":["b"]}`, status: 401, says: "userinfo is invalid or for another user"},
		"no userinfo":      {token: signed(map[string]any{"groups": nil}), userinfo: `no`, status: 503},
		"nonce":            {token: signed(map[string]any{"nonce": "x"}), status: 401, says: "for another sign-in"},
		"no nonce":         {token: signed(map[string]any{"nonce": nil}), status: 401, says: "for another sign-in"},
		"audience":         {token: signed(map[string]any{"aud": "other"}), status: 401, says: "audience"},
		"audiences":        {token: signed(map[string]any{"aud": []string{"portal", "other"}}), status: 401, says: "several audiences and no claim azp"},
		"our party":        {token: signed(map[string]any{"aud": []string{"portal", "other"}, "azp": "portal"}), status: 302},
		"other party":      {token: signed(map[string]any{"azp": "other"}), status: 401, says: "add the client to auth.providers.oidc.authorizedParties"},
		"issuer":           {token: signed(map[string]any{"iss": "https://evil.example"}), status: 401, says: "different provider"},
		"expired":          {token: signed(map[string]any{"exp": time.Now().Add(-time.Second).Unix()}), status: 401, says: "expired"},
		"no user":          {token: signed(map[string]any{"email": nil}), status: 401, says: `token has no claim`},
		"user type":        {token: signed(map[string]any{"email": []string{"a"}}), status: 401, says: `token has no claim`},
		"long user":        {token: signed(map[string]any{"email": strings.Repeat("a", maxClaim+1)}), status: 401, says: `token has no claim`},
		"unverified":       {token: signed(map[string]any{"email_verified": false}), status: 401, says: "is not verified"},
		"verified text":    {token: signed(map[string]any{"email_verified": "true"}), status: 302},
		"events":           {token: signed(map[string]any{"events": map[string]any{}}), status: 401, says: "not for sign-in"},
		"access token":     {token: signed(map[string]any{"at_hash": "x"}), status: 401, says: "access token does not match"},
		"none": {token: func(nonce string) http.HandlerFunc {
			payload, _ := json.Marshal(r.claims(nonce, nil))
			return give(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + ".")
		}, status: 401, says: "signature"},
		"client's secret": {token: func(nonce string) http.HandlerFunc {
			return give(sign(t, jose.HS256, []byte(strings.Repeat(clientSecret, 2)), "k", "JWT", r.claims(nonce, nil)))
		}, status: 401, says: "signature"},
		"other key": {token: func(nonce string) http.HandlerFunc {
			return give(sign(t, jose.ES256, newKey(t), "k", "JWT", r.claims(nonce, nil)))
		}, status: 401, says: "signature"},
		"no ID token": {token: raw(give("")), status: 401, says: "returned no ID token"},
		"garbage":     {token: raw(give("x.y.z")), status: 401, says: "signature"},
		"refuses":     {token: says(400, `{"error":"invalid_grant","error_description":"`+issuersWords+`"}`), status: 401, says: "400 Bad Request invalid_grant"},
		"fails":       {token: says(500, issuersWords), status: 503},
		"no JSON":     {token: says(200, issuersWords), status: 503},
		"endless":     {token: says(200, `{"a":"`+strings.Repeat("x", maxAnswer)), status: 503},
		"another place": {token: raw(func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}), status: 401},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := browser(t)
			back, nonce := begin(t, p, c)
			r.answer(tc.token(nonce), tc.userinfo)
			got := p.visit(t, c, http.MethodGet, back+"&code=the-code&iss="+url.QueryEscape(r.URL))
			if got.StatusCode != tc.status || !strings.Contains(string(got.body), tc.says) {
				t.Errorf("callback returned %s %s, want %d %q", got.Status, got.body, tc.status, tc.says)
			}
			if strings.Contains(string(got.body), clientSecret) || strings.Contains(string(got.body), issuersWords) {
				t.Errorf("response contains a secret or text of the issuer: %s", got.body)
			}
			in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
			if (in.StatusCode == http.StatusOK) != (tc.status == http.StatusFound) {
				t.Fatalf("refresh afterwards returned %s %s", in.Status, in.body)
			}
			if tc.status == http.StatusFound {
				who := decode[welcome](t, in.body)
				if who.Profile.DisplayName != "Ada" || who.Profile.Picture == "" || !strings.HasPrefix(who.Portal.Identity.Ref, "user:default/ada-example.com-") {
					t.Errorf("profile is %+v", who)
				}
				if _, err := ask(p.Auth, "Bearer "+who.Portal.Token); err != nil {
					t.Errorf("token with %d groups is refused: %v", len(who.Portal.Identity.Ownership), err)
				}
			}
		})
	}
	if said := p.said.String(); strings.Contains(said, clientSecret) || strings.Contains(said, issuersWords) || strings.Contains(said, "the-code") {
		t.Errorf("log contains a secret or text of the issuer:\n%s", said)
	}
}

// TestAuthorizedParty checks tokens that the issuer gave to several clients.
func TestAuthorizedParty(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	const (
		missing = "several audiences and no claim azp"
		other   = "add the client to auth.providers.oidc.authorizedParties"
	)
	both := []string{"portal", "account"}
	cases := map[string]struct {
		reason   string
		audience string
		parties  []string
		claims   map[string]any
		says     string
	}{
		"One":           {"A single audience needs no party.", "", nil, nil, ""},
		"Ours":          {"A token issued to the portal is accepted.", "", nil, map[string]any{"azp": "portal"}, ""},
		"Several":       {"Several audiences are accepted if the token was issued to the portal.", "", nil, map[string]any{"aud": both, "azp": "portal"}, ""},
		"SeveralNone":   {"Several audiences need a party.", "", nil, map[string]any{"aud": both}, missing},
		"SeveralOther":  {"Several audiences are refused if the token was issued to another client.", "", nil, map[string]any{"aud": both, "azp": "account"}, other},
		"Other":         {"A token issued to another client is refused.", "", nil, map[string]any{"azp": "cli"}, `issued to client "cli" (claim azp); ` + other},
		"Listed":        {"A token issued to a listed client is accepted.", "", []string{"ci", "cli"}, map[string]any{"azp": "cli"}, ""},
		"SeveralListed": {"Several audiences are accepted if the token was issued to a listed client.", "", []string{"cli"}, map[string]any{"aud": both, "azp": "cli"}, ""},
		"NotListed":     {"A token issued to an unlisted client is refused.", "", []string{"ci"}, map[string]any{"azp": "cli"}, other},
		"ListKeepsOurs": {"A list still allows the portal's own client.", "", []string{"ci"}, map[string]any{"azp": "portal"}, ""},
		"Audience":      {"The configured audience is accepted as the party.", "api", nil, map[string]any{"aud": []string{"api", "account"}, "azp": "api"}, ""},
		"AudienceOurs":  {"A token for the configured audience issued to the portal is accepted.", "api", nil, map[string]any{"aud": "api", "azp": "portal"}, ""},
		"Case":          {"Names of clients are case-sensitive.", "", nil, map[string]any{"azp": "Portal"}, other},
		"Empty":         {"An empty party is refused.", "", nil, map[string]any{"azp": ""}, other},
		"Type":          {"A party must be text.", "", []string{"portal"}, map[string]any{"azp": []string{"portal"}}, other},
		"Control":       {"Control characters of a name are not shown.", "", nil, map[string]any{"azp": "a\x1b[31m"}, `"a [31m"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			setup := r.setup()
			setup.OIDC.Audience, setup.OIDC.AuthorizedParties = tc.audience, tc.parties
			a := newAuth(t, Options{Config: setup})
			got, err := ask(a, "Bearer "+sign(t, jose.RS256, r.key, "k", "JWT", r.claims("", tc.claims)))
			if tc.says == "" {
				if err != nil || got.Kind != User {
					t.Errorf("%s: caller is %v, %v; want a user", tc.reason, got, err)
				}
				return
			}
			if statusOf(t, err) != http.StatusForbidden || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: caller is %v, %v; want 403 %q", tc.reason, got, err, tc.says)
			}
		})
	}
}

// TestRogueBrowser checks invalid callbacks from a browser.
func TestRogueBrowser(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	clock := newClock()
	p.open(t, clock.now)
	r.answer(func(http.ResponseWriter, *http.Request) { t.Error("issuer got a token request") }, "")
	cases := map[string]struct {
		query  func(back string) string
		late   time.Duration
		clean  bool
		status int
		says   string
	}{
		"no cookie":    {query: func(b string) string { return b + "&code=x" }, clean: true, status: 401, says: "or has expired: sign in again"},
		"no state":     {query: func(string) string { return frame + "?code=x" }, status: 401, says: "or has expired: sign in again"},
		"other state":  {query: func(b string) string { return b + "x&code=x" }, status: 401, says: "or has expired: sign in again"},
		"late":         {query: func(b string) string { return b + "&code=x" }, late: 11 * time.Minute, status: 401, says: "or has expired: sign in again"},
		"no code":      {query: func(b string) string { return b }, status: 401, says: "no code in the response"},
		"other issuer": {query: func(b string) string { return b + "&code=x&iss=https://evil.example" }, status: 401, says: "from another issuer"},
		"denied": {
			query: func(b string) string {
				return b + "&error=access_denied&error_description=%1b[31m%3Cb%3E" + strings.Repeat("y", 1000)
			},
			status: 401, says: "refused the sign-in: access_denied  [31m<b>yyy",
		},
		"two states": {query: func(b string) string { return b + "&state=x&code=x" }, status: 400, says: "is repeated"},
		"long code":  {query: func(b string) string { return b + "&code=" + strings.Repeat("x", maxParameter+1) }, status: 400, says: "too long"},
		"long query": {query: func(b string) string { return b + strings.Repeat("&a=b", maxQuery) }, status: 400, says: "The query has more"},
		"bad query":  {query: func(b string) string { return b + "&code=%zz" }, status: 400, says: "Cannot parse"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := browser(t)
			back, _ := begin(t, p, c)
			if tc.clean {
				c = browser(t)
			}
			clock.forward(tc.late)
			got := p.visit(t, c, http.MethodGet, tc.query(back))
			said := decode[struct{ Error struct{ Message string } }](t, got.body).Error.Message
			if got.StatusCode != tc.status || !strings.Contains(said, tc.says) || len(said) > 300 {
				t.Errorf("callback returned %s %.600s, want %d %q", got.Status, got.body, tc.status, tc.says)
			}
			for _, k := range got.Cookies() {
				if strings.HasPrefix(k.Name, "portal-session") {
					t.Errorf("session was created: %v", k)
				}
			}
		})
	}
}

// TestIssuerDown starts the issuer after the portal.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	r.down.Store(true)
	c := newClock()
	p := newPortal(t)
	p.setup = r.setup()
	p.open(t, c.now)
	bearer := "Bearer " + sign(t, jose.RS256, r.key, "k", "JWT", r.claims("", nil))
	for range 3 {
		if _, err := ask(p.Auth, bearer); statusOf(t, err) != http.StatusServiceUnavailable || strings.Contains(errors.Unwrap(err).Error(), issuersWords) {
			t.Errorf("token of an unavailable issuer returned %v: %v; want 503", err, errors.Unwrap(err))
		}
		if got := p.visit(t, browser(t), http.MethodGet, "/api/auth/oidc/start"); got.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("sign-in returned %s, want 503", got.Status)
		}
		if _, err := ask(p.Auth, "Bearer "+guestToken(t, p.Auth)); err != nil {
			t.Errorf("guest token was refused: %v", err)
		}
	}
	r.down.Store(false)
	if _, err := ask(p.Auth, bearer); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Errorf("token during the backoff returned %v, want 503", err)
	}
	c.forward(retryAfter)
	if got, err := ask(p.Auth, bearer); err != nil || got.Kind != User {
		t.Errorf("token after the issuer is back returned %v, %v", got, err)
	}
	r.down.Store(true)
	if _, err := ask(p.Auth, "Bearer "+sign(t, jose.RS256, r.key, "k", "JWT", r.claims("another", nil))); err != nil {
		t.Errorf("token with a known key returned %v", err)
	}
	if _, err := ask(p.Auth, "Bearer "+sign(t, jose.RS256, r.key, "new", "JWT", r.claims("", nil))); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Errorf("token with an unknown key returned %v, want 503", err)
	}
}

// TestIssuerKeys checks that tokens with unknown keys do not overload the
// issuer.
func TestIssuerKeys(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	a := newAuth(t, Options{Config: r.setup(), Now: newClock().now})
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		for _, id := range []string{"k", fmt.Sprint("made-up-", i), ""} {
			if _, err := ask(a, "Bearer "+sign(t, jose.RS256, key, id, "JWT", r.claims("", nil))); statusOf(t, err) != http.StatusForbidden {
				t.Fatalf("token returned %v, want 403", err)
			}
		}
	}
	if n := r.keyReads.Load(); n > 3 {
		t.Errorf("keys of the issuer were read %d times", n)
	}
}
