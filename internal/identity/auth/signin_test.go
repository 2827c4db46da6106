package auth

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/source"
	provider "example.dev/ingestor/test/issuer"
)

// portal is a portal whose users sign in at an issuer.
type portal struct {
	*Auth
	url   string
	said  *diary
	keys  KeyStore
	setup config.Auth
	mu    sync.RWMutex
	h     http.Handler
}

// frame is the path of the callback.
const frame = "/api/auth/oidc/handler/frame"

// newPortal starts a portal without an Auth, as its issuer needs its URL first.
func newPortal(t *testing.T) *portal {
	t.Helper()
	p := &portal{said: &diary{}, keys: newShelf(time.Now)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.RLock()
		defer p.mu.RUnlock()
		p.h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

// open gives the portal a new Auth, as after a restart.
func (p *portal) open(t *testing.T, now func() time.Time) {
	t.Helper()
	p.Auth = newAuth(t, Options{Config: p.setup, BaseURL: p.url, Keys: p.keys, Now: now, Log: p.said.log()})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.h = serve(t, p.Auth)
}

// withIssuer starts an issuer and a portal that uses it.
func withIssuer(t *testing.T, opts provider.Options) (*portal, *provider.Issuer) {
	t.Helper()
	p := newPortal(t)
	opts.Redirect = p.url + frame
	i := provider.Start(t, opts)
	p.setup = config.Auth{OIDC: config.OIDCProvider{
		Enabled: true, Issuer: i.URL, ClientID: i.ClientID, ClientSecret: source.Secret(i.ClientSecret), CAFile: i.CAFile,
		Scopes: []string{"email", "offline_access"}, GroupsClaim: "groups", GroupNamespace: "teams",
	}}
	if opts.AuthMethod == "none" {
		p.setup.OIDC.ClientSecret = ""
	}
	p.open(t, time.Now)
	return p, i
}

// browser returns a client with cookies that follows no redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is a response.
type answer struct {
	*http.Response
	body []byte
}

// visit requests a page, with the header of same-origin requests unless it is a
// GET.
func (p *portal) visit(t *testing.T, c *http.Client, method, path string) answer {
	t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = p.url + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, "/refresh") || strings.HasSuffix(path, "/logout") {
		req.Header.Set("X-Requested-With", "XMLHttpRequest")
	}
	return send(t, c, req)
}

// send sends a request and reads the response.
func send(t *testing.T, c *http.Client, req *http.Request) answer {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, body}
}

// signIn signs a user in and returns their browser.
func (p *portal) signIn(t *testing.T, i *provider.Issuer) *http.Client {
	t.Helper()
	c := browser(t)
	away := p.visit(t, c, http.MethodGet, "/api/auth/oidc/start")
	back := p.visit(t, c, http.MethodGet, i.Agree(t, away.Header.Get("Location")))
	if back.StatusCode != http.StatusFound {
		t.Fatalf("sign-in returned %s %s, want 302", back.Status, back.body)
	}
	return c
}

// session returns the session of a browser's cookie, and age makes it due for a
// refresh at the issuer.
func (p *portal) session(t *testing.T, c *http.Client) (s session) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	at, _ := url.Parse(p.url + "/api/auth/oidc/refresh")
	for _, k := range c.Jar.Cookies(at) {
		r.AddCookie(k)
	}
	if !p.users.sessions.read(r, &s) {
		t.Fatal("browser has no session")
	}
	return s
}

func (p *portal) age(t *testing.T, c *http.Client) {
	t.Helper()
	s := p.session(t, c)
	s.Until = time.Now().Add(-time.Second)
	p.put(t, c, s)
}

// put gives a browser another session.
func (p *portal) put(t *testing.T, c *http.Client, s session) {
	t.Helper()
	w := httptest.NewRecorder()
	if err := p.users.sessions.write(w, httptest.NewRequest(http.MethodGet, "/", nil), s); err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(p.url + "/api/auth/oidc/refresh")
	c.Jar.SetCookies(at, w.Result().Cookies())
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"client_secret_basic", "client_secret_post", "none"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			p, i := withIssuer(t, provider.Options{AuthMethod: method, Groups: []string{"/Platform", "data", "a b"}})
			c := browser(t)
			away := p.visit(t, c, http.MethodGet, "/api/auth/oidc/start?redirect="+url.QueryEscape("/catalog?kind=api#top"))
			if away.StatusCode != http.StatusFound || !strings.HasPrefix(away.Header.Get("Location"), i.URL) {
				t.Fatalf("start returned %s %v, want a redirect to the issuer", away.Status, away.Header)
			}
			to, _ := url.Parse(away.Header.Get("Location"))
			for _, name := range []string{"state", "nonce", "code_challenge"} {
				if to.Query().Get(name) == "" {
					t.Errorf("request to the issuer has no %s", name)
				}
			}
			if to.Query().Get("code_challenge_method") != "S256" {
				t.Errorf("code challenge method is %q", to.Query().Get("code_challenge_method"))
			}
			back := i.Agree(t, to.String())
			home := p.visit(t, c, http.MethodGet, back)
			if home.StatusCode != http.StatusFound || home.Header.Get("Location") != p.url+"/catalog?kind=api#top" {
				t.Fatalf("callback returned %s %v %s, want a redirect to the page", home.Status, home.Header, home.body)
			}
			for _, k := range home.Cookies() {
				if !k.HttpOnly || k.SameSite != http.SameSiteLaxMode || k.Secure || strings.Contains(k.Value, "reader") ||
					k.Name == "portal-session" && k.Path != "/api/auth" {
					t.Errorf("cookie is %v", k)
				}
			}
			if again := p.visit(t, c, http.MethodGet, back); again.StatusCode != http.StatusUnauthorized {
				t.Errorf("second callback with one code returned %s, want 401", again.Status)
			}
			for _, way := range []string{http.MethodGet, http.MethodPost} {
				in := p.visit(t, c, way, "/api/auth/oidc/refresh")
				if in.StatusCode != http.StatusOK {
					t.Fatalf("refresh returned %s %s, want 200", in.Status, in.body)
				}
				got := decode[welcome](t, in.body)
				owns := []string{"user:default/reader", reference("group", "teams", "a b"), "group:teams/data", "group:teams/platform"}
				slices.Sort(owns[1:])
				want := welcome{Profile: profile{Email: "reader@example.com", DisplayName: "reader"}, Identity: admitted{
					Token: got.Identity.Token, Expires: 3600, Identity: userInfo{Type: "user", Ref: owns[0], Ownership: owns},
				}}
				want.Portal = want.Identity
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				caller, err := ask(p.Auth, "Bearer "+got.Identity.Token)
				if diff := cmp.Diff(Caller{
					Kind: User, Subject: owns[0], Ownership: owns, Session: p.session(t, c).ID,
					Login: "reader", Groups: []string{"a b", "data", "/Platform"}, Name: "reader", Email: "reader@example.com",
				}, caller); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			code, _ := url.Parse(back)
			quiet(t, p, i.ClientSecret, p.session(t, c).Refresh, code.Query().Get("code"), to.Query().Get("state"))
			if out := p.visit(t, c, http.MethodPost, "/api/auth/oidc/logout"); out.StatusCode != http.StatusOK {
				t.Errorf("logout returned %s %s, want 200", out.Status, out.body)
			}
			if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusUnauthorized {
				t.Errorf("refresh after the logout returned %s, want 401", in.Status)
			}
		})
	}
}

// quiet checks that the log contains no secrets.
func quiet(t *testing.T, p *portal, secrets ...string) {
	t.Helper()
	said := p.said.String()
	if !strings.Contains(said, "user signed in") {
		t.Errorf("log is empty, so the check proves nothing: %s", said)
	}
	for n, s := range secrets {
		if s == "" || strings.Contains(said, s) {
			t.Errorf("secret %d is empty or in the log:\n%s", n, said)
		}
	}
}

// TestRenewal has several pages of one browser refresh concurrently, with
// refresh tokens that can be used once.
func TestRenewal(t *testing.T) {
	t.Parallel()
	p, i := withIssuer(t, provider.Options{Groups: []string{"a"}})
	c := p.signIn(t, i)
	for round := 1; round <= 2; round++ {
		p.age(t, c)
		before := p.session(t, c)
		var wg sync.WaitGroup
		for range 8 {
			// Each page has the old cookie.
			page := browser(t)
			p.put(t, page, before)
			wg.Go(func() {
				in := p.visit(t, page, http.MethodPost, "/api/auth/oidc/refresh")
				if in.StatusCode != http.StatusOK {
					t.Errorf("refresh returned %s %s, want 200", in.Status, in.body)
				}
			})
		}
		wg.Wait()
		if in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh"); in.StatusCode != http.StatusOK {
			t.Errorf("refresh returned %s %s, want 200", in.Status, in.body)
		}
		after := p.session(t, c)
		if after.Refresh == before.Refresh || !after.Until.After(before.Until) || !after.Began.Equal(before.Began) {
			t.Error("session was not refreshed")
		}
		want := slices.Repeat([]provider.Request{{Grant: "refresh_token"}}, round)
		if diff := cmp.Diff(want, i.Requests(t)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}

	// Another process does not know that the token was used.
	spent := p.session(t, c)
	p.age(t, c)
	p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
	p.open(t, time.Now)
	spent.Until = time.Now().Add(-time.Second)
	p.put(t, c, spent)
	in := p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusUnauthorized || !bytes.Contains(in.body, []byte("sign in again")) {
		t.Errorf("refresh returned %s %s, want 401", in.Status, in.body)
	}
	if at, _ := url.Parse(p.url + "/api/auth/x"); len(c.Jar.Cookies(at)) != 0 {
		t.Error("ended session was not deleted in the browser")
	}

	// An outage of the issuer does not end the session.
	c = p.signIn(t, i)
	p.age(t, c)
	i.Stop()
	in = p.visit(t, c, http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusServiceUnavailable || p.session(t, c).Refresh == "" {
		t.Errorf("refresh returned %s %s, want 503", in.Status, in.body)
	}
}

// TestBearer checks requests with tokens of the issuer.
func TestBearer(t *testing.T) {
	t.Parallel()
	p, i := withIssuer(t, provider.Options{Groups: []string{"a"}})
	ctx := oidc.ClientContext(t.Context(), i.Client)
	there, err := oidc.NewProvider(ctx, i.URL)
	if err != nil {
		t.Fatal(err)
	}
	conf := oauth2.Config{ClientID: i.ClientID, ClientSecret: i.ClientSecret, Endpoint: there.Endpoint()}
	got, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: i.RefreshToken(t)}).Token()
	if err != nil {
		t.Fatal(err)
	}
	person, _ := got.Extra("id_token").(string)
	machine, err := (&clientcredentials.Config{
		ClientID: i.ClientID, ClientSecret: i.ClientSecret, TokenURL: there.Endpoint().TokenURL, EndpointParams: url.Values{"resource": {i.Audience}},
	}).Token(ctx)
	if err != nil {
		t.Fatal(err)
	}
	opened := func(audience string) *Auth {
		setup := p.setup
		setup.OIDC.Audience = audience
		return newAuth(t, Options{Config: setup})
	}
	cases := map[string]struct {
		reason, audience, token string
		want                    Caller
	}{
		"person":         {"An ID token is for the client.", "", person, Caller{Kind: User, Subject: "user:default/reader", Ownership: []string{"user:default/reader", "group:teams/a"}, Login: "reader", Groups: []string{"a"}, Name: "reader", Email: "reader@example.com"}},
		"machine":        {"An access token for the portal is accepted.", i.Audience, machine.AccessToken, Caller{Kind: User, Subject: "user:default/ingestor", Ownership: []string{"user:default/ingestor"}, Login: "ingestor"}},
		"other audience": {"A token for another server is refused.", "https://elsewhere.example", machine.AccessToken, Caller{}},
		"not for us":     {"An access token is refused without a configured audience.", "", machine.AccessToken, Caller{}},
		"not for them":   {"An ID token is refused with another configured audience.", i.Audience, person, Caller{}},
		"opaque":         {"An opaque token is refused.", "", got.AccessToken, Caller{}},
		"changed":        {"An invalid signature is refused.", "", person[:len(person)-8] + "AAAAAAAA", Caller{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := opened(tc.audience)
			for range 2 {
				who, err := ask(a, "Bearer "+tc.token)
				want := http.StatusOK
				if tc.want.Kind == Anonymous {
					want = http.StatusForbidden
				}
				if diff := cmp.Diff(tc.want, who); diff != "" || statusOf(t, err) != want {
					t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
				}
			}
		})
	}
	t.Run("late", func(t *testing.T) {
		c := newClock()
		a := newAuth(t, Options{Config: p.setup, Now: c.now})
		if _, err := ask(a, "Bearer "+person); err != nil {
			t.Fatal(err)
		}
		c.forward(time.Hour + time.Minute)
		if _, err := ask(a, "Bearer "+person); statusOf(t, err) != http.StatusForbidden {
			t.Errorf("expired token returned %v, want 403", err)
		}
	})
}

// TestOutsidePage checks that pages of other sites are refused.
func TestOutsidePage(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	p.setup = config.Auth{OIDC: config.OIDCProvider{Enabled: true, Issuer: "https://127.0.0.1:1", ClientID: "x"}}
	p.open(t, time.Now)
	for _, path := range []string{"/api/auth/oidc/refresh", "/api/auth/oidc/logout"} {
		w := call(t, p.h, http.MethodPost, path, nil)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "Invalid X-Requested-With header") {
			t.Errorf("%s: response is %d %s, want 401", path, w.Code, w.Body)
		}
	}
	in := p.visit(t, browser(t), http.MethodPost, "/api/auth/oidc/refresh")
	if in.StatusCode != http.StatusUnauthorized || !bytes.Contains(in.body, []byte("Missing session cookie")) {
		t.Errorf("refresh without a cookie returned %s %s, want 401", in.Status, in.body)
	}
}
