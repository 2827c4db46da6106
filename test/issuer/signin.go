package issuer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// RefreshToken signs in page by page like a user, consents to the scopes of the
// client, and returns the client's refresh token. Each call returns another
// one.
func (i *Issuer) RefreshToken(tb testing.TB) string {
	tb.Helper()
	token, err := i.signIn(tb.Context())
	if err != nil {
		tb.Fatalf("cannot sign in: %v", err)
	}
	return token
}

// Agree signs in like a user who was redirected to a URL of the issuer, and
// returns the URL of the client that the issuer redirects to.
func (i *Issuer) Agree(tb testing.TB, at string) string {
	tb.Helper()
	back, err := i.AgreeAs(tb.Context(), i.Subject, at)
	if err != nil {
		tb.Fatalf("cannot sign in: %v", err)
	}
	return back
}

// AgreeAs does the same as Agree with a given subject.
func (i *Issuer) AgreeAs(ctx context.Context, subject, at string) (string, error) {
	back, err := i.agree(ctx, subject, at)
	if err != nil {
		return "", err
	}
	return back.String(), nil
}

func (i *Issuer) signIn(ctx context.Context) (string, error) {
	config := oauth2.Config{
		ClientID: i.ClientID, RedirectURL: i.opts.Redirect, Scopes: []string{"openid", "email", "offline_access"},
		Endpoint: oauth2.Endpoint{AuthURL: i.URL + "/auth", TokenURL: i.URL + "/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	if i.opts.AuthMethod != "none" {
		config.ClientSecret = i.ClientSecret
	}
	if i.opts.AuthMethod == "client_secret_basic" {
		config.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	// A refresh token is issued only with the user's consent.
	back, err := i.agree(ctx, i.Subject, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("prompt", "consent")))
	if err != nil {
		return "", err
	}
	if got := back.Query().Get("state"); got != state {
		return "", fmt.Errorf("state is %q, want %q", got, state)
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, i.Client)
	token, err := config.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return "", err
	}
	if token.RefreshToken == "" {
		return "", errors.New("issuer returned no refresh token")
	}
	return token.RefreshToken, nil
}

// The parts of a page that are sent back.
var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)" method="post">`)
	formPrompt = regexp.MustCompile(`name="prompt" value="([a-z]+)"`)
)

// agree fills in every form from a URL on, until the issuer redirects to the
// client, and returns that URL.
func (i *Issuer) agree(ctx context.Context, subject, at string) (*url.URL, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := *i.Client
	browser.Jar = jar
	here, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	var form url.Values
	const most = 20
	for range most {
		if strings.HasPrefix(here.String(), i.opts.Redirect) {
			return here, nil
		}
		next, filled, err := visit(ctx, &browser, here, form)
		if err != nil {
			return nil, err
		}
		if filled != nil {
			filled.Set("login", subject)
			filled.Set("password", "any")
		}
		here, form = next, filled
	}
	return nil, fmt.Errorf("sign-in did not end after %d pages", most)
}

// visit requests a page, with a form if there is one, and returns the next URL
// and form.
func visit(ctx context.Context, browser *http.Client, here *url.URL, form url.Values) (*url.URL, url.Values, error) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, here.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		next, err := here.Parse(resp.Header.Get("Location"))
		return next, nil, err
	}
	action, prompt := formAction.FindSubmatch(page), formPrompt.FindSubmatch(page)
	if resp.StatusCode != http.StatusOK || action == nil || prompt == nil {
		return nil, nil, fmt.Errorf("%s returned %s without a form:\n%s", here.Path, resp.Status, page)
	}
	next, err := here.Parse(string(action[1]))
	return next, url.Values{"prompt": {string(prompt[1])}}, err
}
