package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/secret"
)

const (
	// attemptLasts is how long a sign-in may take, and sessionLasts how long a user
	// stays signed in.
	attemptLasts = 10 * time.Minute
	sessionLasts = 30 * 24 * time.Hour
	// maxParameter is the maximum length of a parameter, maxQuery that of the whole
	// query.
	maxParameter = 4 << 10
	maxQuery     = 16 << 10
)

// users handles users who sign in at an issuer.
type users struct {
	issuer *issuer
	// app is the URL of the portal's pages.
	app                *url.URL
	attempts, sessions *cookie
	renewals           renewals
}

// attempt is a sign-in in progress at the issuer.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	// Back is the page to return to.
	Back    string    `json:"back"`
	Expires time.Time `json:"expires"`
}

func newUsers(ctx context.Context, opts Options, base string) (*users, error) {
	app, err := url.Parse(opts.AppURL)
	if err != nil || app.Host == "" || app.Scheme != "https" && app.Scheme != "http" {
		return nil, fmt.Errorf("cannot use app.baseUrl %q: not an http or https URL", opts.AppURL)
	}
	at, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("cannot use backend.baseUrl: %w", err)
	}
	u := &users{app: app, renewals: newRenewals()}
	if u.issuer, err = newIssuer(opts.Config.OIDC, base+"/oidc/handler/frame", opts.Now); err != nil {
		return nil, err
	}
	key, err := sessionKey(ctx, opts)
	if err != nil {
		return nil, err
	}
	secure := at.Scheme == "https"
	if u.attempts, err = newCookie(key, "portal-sign-in", at.Path+"/oidc", attemptLasts, secure); err != nil {
		return nil, err
	}
	u.sessions, err = newCookie(key, "portal-session", at.Path, sessionLasts, secure)
	return u, err
}

// sessionKey returns the secret that cookies are encrypted with: the configured one,
// or otherwise that of the store.
func sessionKey(ctx context.Context, opts Options) ([]byte, error) {
	if given := opts.Config.SessionSecret.Reveal(); given != "" {
		if want := secret.Weakness(given); want != "" {
			return nil, fmt.Errorf("cannot use auth.session.secret: secret is weak, want %s", want)
		}
		return []byte(given), nil
	}
	key, err := opts.Keys.Secret(ctx, "session")
	if err != nil {
		return nil, fmt.Errorf("cannot read session secret: %w", err)
	}
	return key, nil
}

// parameters returns the query of a request to one of the oidc endpoints.
func (a *Auth) parameters(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if a.users == nil {
		return nil, rest.NotFound("Unknown auth provider 'oidc'")
	}
	w.Header().Set("Cache-Control", "no-store")
	if len(r.URL.RawQuery) > maxQuery {
		return nil, rest.Input("The query has more than %d characters", maxQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, rest.Input("Cannot parse the query")
	}
	for name, values := range q {
		if len(values) > 1 || len(values[0]) > maxParameter {
			return nil, rest.Input("The parameter %q is repeated or too long", printable(name, 50))
		}
	}
	return q, nil
}

// start redirects the browser to the issuer. If that fails, it returns the path of the page that
// the browser wants to get to.
func (a *Auth) start(w http.ResponseWriter, r *http.Request) (retry string, err error) {
	q, err := a.parameters(w, r)
	if err != nil {
		return "", err
	}
	back, err := a.users.back(q.Get("redirect"))
	if err != nil {
		return "", err
	}
	// A path of the portal, as back checked.
	retry = q.Get("redirect")
	f, err := a.users.issuer.discover(r.Context())
	if err != nil {
		return retry, err
	}
	try := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Back: back, Expires: a.now().Add(attemptLasts)}
	if err := a.users.attempts.write(w, r, try); err != nil {
		return retry, err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(try.Nonce), oauth2.S256ChallengeOption(try.Verifier)}
	if slices.Contains(f.oauth.Scopes, oidc.ScopeOfflineAccess) {
		// OpenID Connect requires the user's consent for offline access.
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	http.Redirect(w, r, f.oauth.AuthCodeURL(try.State, options...), http.StatusFound)
	return "", nil
}

// back returns the URL of a page of the portal. The input must be a path, so that it
// cannot lead to another site.
func (u *users) back(path string) (string, error) {
	if path == "" {
		return u.app.String(), nil
	}
	bad := strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
	p, err := url.Parse(path)
	if bad || err != nil || p.Scheme != "" || p.Host != "" || p.User != nil || p.Opaque != "" ||
		!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "", rest.Input("The parameter redirect must be a path of the portal, such as /catalog")
	}
	p.Scheme, p.Host = u.app.Scheme, u.app.Host
	return p.String(), nil
}

// callback handles the redirect back from the issuer. If the sign-in fails, it returns the path of
// the page that the browser wants to get to.
func (a *Auth) callback(w http.ResponseWriter, r *http.Request) (retry string, err error) {
	q, err := a.parameters(w, r)
	if err != nil {
		return "", err
	}
	s, back, err := a.signIn(w, r, q)
	a.recordSignIn(r.Context(), s, err)
	if err != nil {
		return a.users.path(back), err
	}
	a.log.InfoContext(r.Context(), "user signed in", "user", s.Ref)
	http.Redirect(w, r, back, http.StatusFound)
	return "", nil
}

// path returns the path of a page of the portal, with its query and fragment; empty if it is the
// first page.
func (u *users) path(back string) string {
	p, err := url.Parse(back)
	if err != nil || back == "" || back == u.app.String() {
		return ""
	}
	p.Scheme, p.Host, p.User = "", "", nil
	return p.String()
}

// signIn creates a session in the browser from the response of the issuer, and
// returns the session and the page to return to; the page also if the sign-in fails, as far as
// the browser started one.
func (a *Auth) signIn(w http.ResponseWriter, r *http.Request, q url.Values) (s session, back string, err error) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	var try attempt
	known := a.users.attempts.read(r, &try)
	// An attempt is valid for one response, whatever it is.
	a.users.attempts.clear(w, r)
	switch {
	case !known:
		return s, "", staleSignIn(pageNotStarted)
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(try.State)) != 1:
		return s, try.Back, staleSignIn(pageReplaced)
	case a.now().After(try.Expires):
		return s, try.Back, staleSignIn(pageTooLate)
	}
	if iss := q.Get("iss"); iss != "" && iss != a.users.issuer.settings.Issuer {
		return s, try.Back, rest.Unauthenticated("Sign-in response is from another issuer")
	}
	if code := q.Get("error"); code != "" {
		said := printable(strings.TrimSpace(code+" "+q.Get("error_description")), 200)
		return s, try.Back, &problem{page: pageRefused, quote: said, err: rest.Unauthenticated("The issuer refused the sign-in: %s", said)}
	}
	if s, err = a.users.exchange(r.Context(), q.Get("code"), try, a.now()); err != nil {
		return s, try.Back, err
	}
	return s, try.Back, a.keep(w, r, s)
}

// exchange exchanges the code for tokens of the issuer, and returns the session.
func (u *users) exchange(ctx context.Context, code string, try attempt, now time.Time) (session, error) {
	if code == "" {
		return session{}, rest.Unauthenticated("Sign-in failed: no code in the response of the issuer")
	}
	f, err := u.issuer.discover(ctx)
	if err != nil {
		return session{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, u.issuer.client), keyring.Timeout)
	defer cancel()
	got, err := f.oauth.Exchange(ctx, code, oauth2.VerifierOption(try.Verifier))
	if err != nil {
		return session{}, u.refused(err)
	}
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		return session{}, notSignedIn(errors.New("issuer returned no ID token"))
	}
	id, err := u.issuer.verify(ctx, f, raw, u.issuer.settings.ClientID)
	if err != nil {
		return session{}, notSignedIn(err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(try.Nonce)) != 1 {
		return session{}, notSignedIn(errors.New("ID token is for another sign-in"))
	}
	return u.session(ctx, f, got, id, session{ID: rand.Text(), Began: now})
}

// session returns the session of a user. Claims that the ID token lacks, such as
// groups, are requested from the issuer.
func (u *users) session(ctx context.Context, f *found, got *oauth2.Token, id *oidc.IDToken, s session) (session, error) {
	all := answers{}
	if err := id.Claims(&all); err != nil {
		return session{}, notSignedIn(errors.New("cannot parse claims of the ID token"))
	}
	if id.AccessTokenHash != "" && id.VerifyAccessToken(got.AccessToken) != nil {
		return session{}, notSignedIn(errors.New("access token does not match the ID token"))
	}
	_, named := all[u.issuer.settings.UserClaim]
	_, grouped := all[u.issuer.settings.GroupsClaim]
	if (!named || !grouped && u.issuer.settings.GroupsClaim != "") && f.provider.UserInfoEndpoint() != "" {
		info, err := f.provider.UserInfo(ctx, oauth2.StaticTokenSource(got))
		if err != nil {
			return session{}, away(fmt.Errorf("cannot read userinfo of the issuer: %w", discreet(err)))
		}
		more := answers{}
		if err := info.Claims(&more); err != nil || info.Subject != id.Subject {
			return session{}, notSignedIn(errors.New("userinfo is invalid or for another user"))
		}
		for name, v := range more {
			if _, ok := all[name]; !ok {
				all[name] = v
			}
		}
	}
	who, err := u.issuer.person(all)
	if err != nil {
		return session{}, &problem{page: pageUnknown, err: notSignedIn(err)}
	}
	s.Subject, s.Ref, s.Ownership, s.Profile, s.Until = id.Subject, who.ref, who.ownership, all.profile(), id.Expiry
	s.Email, s.Spelled = who.email, who.spelled
	if got.RefreshToken != "" {
		s.Refresh = got.RefreshToken
	}
	return s, nil
}

// refused returns the error for a failed token request: either refused by the issuer,
// or the issuer is not available.
func (u *users) refused(err error) error {
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok && r.Response != nil && r.Response.StatusCode < http.StatusInternalServerError {
		return notSignedIn(fmt.Errorf("issuer refused the token request: %w", discreet(err)))
	}
	return away(fmt.Errorf("cannot request token from the issuer: %w", discreet(err)))
}

// notSignedIn returns the fault for a failed sign-in. The fault for an unavailable
// issuer is returned unchanged.
func notSignedIn(err error) error {
	f, ok := errors.AsType[*rest.Fault](err)
	if ok && f.Status == http.StatusServiceUnavailable {
		return err
	}
	why := cause(err)
	out := rest.Unauthenticated("Sign-in failed: %s", printable(why.Error(), 200))
	out.Err = why
	return out
}
