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

// rogue is an issuer that answers as a test likes. The real one does not do
// what is wrong.
type rogue struct {
	*httptest.Server
	key *rsa.PrivateKey
	// down says that it answers nothing of use, and keyReads how often its keys
	// were read.
	down     atomic.Bool
	keyReads atomic.Int32
	// token is the answer to a code, userinfo that to who somebody is.
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

// answer sets what the issuer answers to a code, and to who somebody is.
func (r *rogue) answer(token http.HandlerFunc, userinfo string) {
	who := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, cmp.Or(userinfo, `{"sub":"s1"}`)) })
	r.token.Store(&token)
	r.userinfo.Store(&who)
}

// claims returns what a good ID token says.
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

// give answers with a token.
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

// begin begins to sign in and returns the address to come back to, but for the
// code.
func begin(t *testing.T, p *portal, c *http.Client) (back, nonce string) {
	t.Helper()
	away := p.visit(t, c, http.MethodGet, "/api/auth/oidc/start")
	at, err := url.Parse(away.Header.Get("Location"))
	if err != nil || away.StatusCode != http.StatusFound {
		t.Fatalf("got %s %s", away.Status, away.body)
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
		"too many groups":  {token: signed(map[string]any{"groups": many}), status: 403, says: `You are in more groups than a session can hold: have the issuer list fewer in the claim \"groups\"`},
		"asked for groups": {token: signed(map[string]any{"groups": nil}), userinfo: `{"sub":"s1","groups":["b"]}`, status: 302},
		"somebody else":    {token: signed(map[string]any{"groups": nil}), userinfo: `{"sub":"s2","groups":["b"]}`, status: 401, says: "speaks of somebody else"},
		"no userinfo":      {token: signed(map[string]any{"groups": nil}), userinfo: `no`, status: 503},
		"nonce":            {token: signed(map[string]any{"nonce": "x"}), status: 401, says: "for another sign-in"},
		"no nonce":         {token: signed(map[string]any{"nonce": nil}), status: 401, says: "for another sign-in"},
		"audience":         {token: signed(map[string]any{"aud": "other"}), status: 401, says: "audience"},
		"audiences":        {token: signed(map[string]any{"aud": []string{"portal", "other"}}), status: 401, says: "it is for several audiences and has no claim azp"},
		"our party":        {token: signed(map[string]any{"aud": []string{"portal", "other"}, "azp": "portal"}), status: 302},
		"other party":      {token: signed(map[string]any{"azp": "other"}), status: 401, says: "add that client to auth.providers.oidc.authorizedParties"},
		"issuer":           {token: signed(map[string]any{"iss": "https://evil.example"}), status: 401, says: "different provider"},
		"expired":          {token: signed(map[string]any{"exp": time.Now().Add(-time.Second).Unix()}), status: 401, says: "expired"},
		"no user":          {token: signed(map[string]any{"email": nil}), status: 401, says: `it has no claim`},
		"user type":        {token: signed(map[string]any{"email": []string{"a"}}), status: 401, says: `it has no claim`},
		"long user":        {token: signed(map[string]any{"email": strings.Repeat("a", maxClaim+1)}), status: 401, says: `it has no claim`},
		"unverified":       {token: signed(map[string]any{"email_verified": false}), status: 401, says: "has not been verified"},
		"verified text":    {token: signed(map[string]any{"email_verified": "true"}), status: 302},
		"events":           {token: signed(map[string]any{"events": map[string]any{}}), status: 401, says: "not for signing in"},
		"access token":     {token: signed(map[string]any{"at_hash": "x"}), status: 401, says: "the access token is not the one"},
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
		"no ID token": {token: raw(give("")), status: 401, says: "gave no ID token"},
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
				t.Errorf("got %s %s, want %d %q", got.Status, got.body, tc.status, tc.says)
			}
			if strings.Contains(string(got.body), clientSecret) || strings.Contains(string(got.body), issuersWords) {
				t.Errorf("too much is said: %s", got.body)
			}
			in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
			if (in.StatusCode == http.StatusOK) != (tc.status == http.StatusFound) {
				t.Fatalf("afterwards: %s %s", in.Status, in.body)
			}
			if tc.status == http.StatusFound {
				who := decode[welcome](t, in.body)
				if who.Profile.DisplayName != "Ada" || who.Profile.Picture == "" || !strings.HasPrefix(who.Portal.Identity.Ref, "user:default/ada-example.com-") {
					t.Errorf("got %+v", who)
				}
				if _, err := ask(p.Auth, "Bearer "+who.Portal.Token); err != nil {
					t.Errorf("%d groups: the token is refused: %v", len(who.Portal.Identity.Ownership), err)
				}
			}
		})
	}
	if said := p.said.String(); strings.Contains(said, clientSecret) || strings.Contains(said, issuersWords) || strings.Contains(said, "the-code") {
		t.Errorf("the log says too much:\n%s", said)
	}
}

// TestAuthorizedParty has programs bring tokens of the issuer that it gave to
// one client or another.
func TestAuthorizedParty(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	const (
		missing = "it is for several audiences and has no claim azp"
		other   = "add that client to auth.providers.oidc.authorizedParties"
	)
	both := []string{"portal", "account"}
	cases := map[string]struct {
		reason   string
		audience string
		parties  []string
		claims   map[string]any
		says     string
	}{
		"One":           {"one audience needs no party", "", nil, nil, ""},
		"Ours":          {"issued to the portal", "", nil, map[string]any{"azp": "portal"}, ""},
		"Several":       {"several audiences, issued to the portal", "", nil, map[string]any{"aud": both, "azp": "portal"}, ""},
		"SeveralNone":   {"several audiences, issued to an unknown client", "", nil, map[string]any{"aud": both}, missing},
		"SeveralOther":  {"several audiences, issued to another client", "", nil, map[string]any{"aud": both, "azp": "account"}, other},
		"Other":         {"issued to another client", "", nil, map[string]any{"azp": "cli"}, `issued to the client "cli" (claim azp); ` + other},
		"Listed":        {"issued to a client that is listed", "", []string{"ci", "cli"}, map[string]any{"azp": "cli"}, ""},
		"SeveralListed": {"the same for several audiences", "", []string{"cli"}, map[string]any{"aud": both, "azp": "cli"}, ""},
		"NotListed":     {"a client beside those that are listed", "", []string{"ci"}, map[string]any{"azp": "cli"}, other},
		"ListKeepsOurs": {"a list leaves the portal's own client in", "", []string{"ci"}, map[string]any{"azp": "portal"}, ""},
		"Audience":      {"the configured audience is a client itself", "api", nil, map[string]any{"aud": []string{"api", "account"}, "azp": "api"}, ""},
		"AudienceOurs":  {"a token for that audience, issued to the portal", "api", nil, map[string]any{"aud": "api", "azp": "portal"}, ""},
		"Case":          {"names of clients have a case", "", nil, map[string]any{"azp": "Portal"}, other},
		"Empty":         {"an empty name is no name", "", nil, map[string]any{"azp": ""}, other},
		"Type":          {"a party is text", "", []string{"portal"}, map[string]any{"azp": []string{"portal"}}, other},
		"Control":       {"a name is shown without what a terminal would act on", "", nil, map[string]any{"azp": "a\x1b[31m"}, `"a [31m"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			setup := r.setup()
			setup.OIDC.Audience, setup.OIDC.AuthorizedParties = tc.audience, tc.parties
			a := newAuth(t, Options{Config: setup})
			got, err := ask(a, "Bearer "+sign(t, jose.RS256, r.key, "k", "JWT", r.claims("", tc.claims)))
			if tc.says == "" {
				if err != nil || got.Kind != User {
					t.Errorf("%s: got %v, %v", tc.reason, got, err)
				}
				return
			}
			if statusOf(t, err) != http.StatusForbidden || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v, %v, want 403 %q", tc.reason, got, err, tc.says)
			}
		})
	}
}

// TestRogueBrowser comes back from the issuer in ways nobody should.
func TestRogueBrowser(t *testing.T) {
	t.Parallel()
	r := newRogue(t)
	p := newPortal(t)
	p.setup = r.setup()
	clock := newClock()
	p.open(t, clock.now)
	r.answer(func(http.ResponseWriter, *http.Request) { t.Error("the issuer is asked for a token") }, "")
	cases := map[string]struct {
		query  func(back string) string
		late   time.Duration
		clean  bool
		status int
		says   string
	}{
		"no cookie":    {query: func(b string) string { return b + "&code=x" }, clean: true, status: 401, says: "begin again"},
		"no state":     {query: func(string) string { return frame + "?code=x" }, status: 401, says: "begin again"},
		"other state":  {query: func(b string) string { return b + "x&code=x" }, status: 401, says: "begin again"},
		"late":         {query: func(b string) string { return b + "&code=x" }, late: 11 * time.Minute, status: 401, says: "begin again"},
		"no code":      {query: func(b string) string { return b }, status: 401, says: "there is no code"},
		"other issuer": {query: func(b string) string { return b + "&code=x&iss=https://evil.example" }, status: 401, says: "Another issuer"},
		"denied": {
			query: func(b string) string {
				return b + "&error=access_denied&error_description=%1b[31m%3Cb%3E" + strings.Repeat("y", 1000)
			},
			status: 401, says: "did not sign you in: access_denied  [31m<b>yyy",
		},
		"two states": {query: func(b string) string { return b + "&state=x&code=x" }, status: 400, says: "given twice"},
		"long code":  {query: func(b string) string { return b + "&code=" + strings.Repeat("x", maxParameter+1) }, status: 400, says: "too long"},
		"long query": {query: func(b string) string { return b + strings.Repeat("&a=b", maxQuery) }, status: 400, says: "The query has more"},
		"bad query":  {query: func(b string) string { return b + "&code=%zz" }, status: 400, says: "cannot be read"},
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
				t.Errorf("got %s %.600s, want %d %q", got.Status, got.body, tc.status, tc.says)
			}
			for _, k := range got.Cookies() {
				if strings.HasPrefix(k.Name, "portal-session") {
					t.Errorf("there is a session: %v", k)
				}
			}
		})
	}
}

// TestIssuerDown has the issuer come up after the portal.
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
			t.Errorf("a token of an issuer that is away: %v: %v", err, errors.Unwrap(err))
		}
		if got := p.visit(t, browser(t), http.MethodGet, "/api/auth/oidc/start"); got.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("signing in: %s", got.Status)
		}
		if _, err := ask(p.Auth, "Bearer "+guestToken(t, p.Auth)); err != nil {
			t.Errorf("guests do not need the issuer: %v", err)
		}
	}
	r.down.Store(false)
	if _, err := ask(p.Auth, bearer); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Errorf("an issuer that is away is left alone for a while: %v", err)
	}
	c.forward(retryAfter)
	if got, err := ask(p.Auth, bearer); err != nil || got.Kind != User {
		t.Errorf("the issuer is back: %v, %v", got, err)
	}
	r.down.Store(true)
	if _, err := ask(p.Auth, "Bearer "+sign(t, jose.RS256, r.key, "k", "JWT", r.claims("another", nil))); err != nil {
		t.Errorf("its keys are known: %v", err)
	}
	if _, err := ask(p.Auth, "Bearer "+sign(t, jose.RS256, r.key, "new", "JWT", r.claims("", nil))); statusOf(t, err) != http.StatusServiceUnavailable {
		t.Errorf("a key that is not known: %v", err)
	}
}

// TestIssuerKeys sees that strangers do not wear the issuer out.
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
				t.Fatalf("got %v", err)
			}
		}
	}
	if n := r.keyReads.Load(); n > readBurst {
		t.Errorf("the issuer's keys were read %d times", n)
	}
}
