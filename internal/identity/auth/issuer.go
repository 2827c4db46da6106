package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
)

const (
	// maxAnswer is the size limit of a response of an issuer, in bytes.
	maxAnswer = 4 << 20
	// retryAfter is how long to wait before an issuer that did not respond is asked
	// again.
	retryAfter = 5 * time.Second
	// readIssuer is how often the issuer's keys are refreshed even if no token requires
	// it, so that a withdrawn key is not accepted forever.
	readIssuer = 10 * time.Minute
)

// issuer is the OpenID Connect issuer where users sign in. It is discovered on first
// use, so that the portal starts without it.
type issuer struct {
	settings config.OIDCProvider
	callback string
	client   *http.Client
	now      func() time.Time

	flight singleflight.Group
	mu     sync.Mutex
	found  *found
	err    error
	// tried is the time of the last failed discovery.
	tried time.Time
}

// found is the result of discovery.
type found struct {
	provider   *oidc.Provider
	oauth      *oauth2.Config
	algorithms []jose.SignatureAlgorithm
	keys       *keyring.Set
}

func newIssuer(settings config.OIDCProvider, callback string, now func() time.Time) (*issuer, error) {
	u, err := url.Parse(settings.Issuer)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("cannot use auth.providers.oidc: issuer is not an http or https URL, or contains credentials")
	}
	if settings.ClientID == "" {
		return nil, errors.New("cannot use auth.providers.oidc: clientId is missing")
	}
	if settings.Audience == "" {
		settings.Audience = settings.ClientID
	}
	if settings.UserClaim == "" {
		settings.UserClaim = "sub"
	}
	if !slices.Contains(settings.Scopes, oidc.ScopeOpenID) {
		settings.Scopes = append([]string{oidc.ScopeOpenID}, settings.Scopes...)
	}
	client, err := newClient("auth.providers.oidc", settings.CAFile)
	if err != nil {
		return nil, err
	}
	return &issuer{
		settings: settings, callback: callback, now: now, client: client,
	}, nil
}

// newClient returns a client that trusts the certificates of a file, or those of the system
// if there is none, for the section of the configuration that names the file.
func newClient(section, caFile string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("cannot use %s: cannot read caFile: %w", section, err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cannot use %s: no certificate in caFile %q", section, caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Transport: bounded{transport}, Timeout: keyring.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// bounded reads no more than maxAnswer of a response.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends the request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// discover returns the metadata of the issuer. It is requested once, and again some
// time after a failure.
func (i *issuer) discover(ctx context.Context) (*found, error) {
	if f, err := i.known(); f != nil || err != nil {
		return f, err
	}
	done := i.flight.DoChan("", func() (any, error) {
		if f, err := i.known(); f != nil || err != nil {
			return f, err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyring.Timeout)
		defer cancel()
		f, err := i.ask(ctx)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.found, i.err = f, err
		if err != nil {
			i.tried = i.now()
		}
		return f, err
	})
	select {
	case <-ctx.Done():
		return nil, away(ctx.Err())
	case r := <-done:
		f, _ := r.Val.(*found)
		return f, r.Err
	}
}

func (i *issuer) known() (*found, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil && i.now().Before(i.tried.Add(retryAfter)) {
		return nil, i.err
	}
	return i.found, nil
}

func (i *issuer) ask(ctx context.Context) (*found, error) {
	ctx = oidc.ClientContext(ctx, i.client)
	provider, err := oidc.NewProvider(ctx, i.settings.Issuer)
	if err != nil {
		return nil, away(fmt.Errorf("cannot discover issuer %q: %w", i.settings.Issuer, discreet(err)))
	}
	var more struct {
		Keys       string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, away(fmt.Errorf("cannot parse discovery document of issuer %q: %w", i.settings.Issuer, err))
	}
	f := &found{
		provider: provider,
		oauth: &oauth2.Config{
			ClientID: i.settings.ClientID, ClientSecret: i.settings.ClientSecret.Reveal(),
			Endpoint: provider.Endpoint(), RedirectURL: i.callback, Scopes: i.settings.Scopes,
		},
		keys: keyring.NewSet(i.now, func(ctx context.Context) ([]keyring.PublicKey, error) { return readKeys(ctx, i.client, more.Keys) }),
	}
	if i.settings.ClientSecret == "" {
		// A public client sends only its id.
		f.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	for _, name := range more.Algorithms {
		if slices.Contains(asymmetric, jose.SignatureAlgorithm(name)) {
			f.algorithms = append(f.algorithms, jose.SignatureAlgorithm(name))
		}
	}
	if len(f.algorithms) == 0 {
		f.algorithms = []jose.SignatureAlgorithm{jose.RS256}
	}
	return f, nil
}

// asymmetric are the accepted signature algorithms of an issuer's tokens. Algorithms
// with a shared secret are excluded: a public key could be used as the secret.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512, jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
}

// readKeys reads the keys of an issuer. Unsupported kinds of keys are ignored.
func readKeys(ctx context.Context, client *http.Client, at string) ([]keyring.PublicKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("cannot read keys of the issuer: %s returned %s", at, resp.Status)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("cannot read keys of the issuer: %w", err)
	}
	var out []keyring.PublicKey
	for _, raw := range set.Keys {
		var k keyring.PublicKey
		if k.UnmarshalJSON(raw) == nil && k.IsPublic() && k.Use != "enc" {
			out = append(out, k)
		}
	}
	return out, nil
}

// tend refreshes the issuer's keys when they are old.
func (i *issuer) tend(ctx context.Context) error {
	f, err := i.discover(ctx)
	if err != nil {
		return cause(err)
	}
	if f.keys.Age() < readIssuer {
		return nil
	}
	return f.keys.Read(ctx)
}

// verify verifies a token of the issuer for an audience.
func (i *issuer) verify(ctx context.Context, f *found, raw, audience string) (*oidc.IDToken, error) {
	_, payload, err := f.keys.Verify(ctx, raw, f.algorithms)
	if errors.Is(err, keyring.ErrForged) {
		return nil, unverified(err)
	}
	if err != nil {
		return nil, away(err)
	}
	names := make([]string, len(f.algorithms))
	for i, a := range f.algorithms {
		names[i] = string(a)
	}
	token, err := oidc.NewVerifier(i.settings.Issuer, signedBy(payload), &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: names, Now: i.now,
	}).Verify(ctx, raw)
	if err != nil {
		return nil, unverified(err)
	}
	if err := i.checkParty(token); err != nil {
		return nil, err
	}
	return token, nil
}

// checkParty refuses a token that the issuer gave to another client (its claim azp),
// or that has several audiences and does not say which client it was issued to.
func (i *issuer) checkParty(token *oidc.IDToken) error {
	var all answers
	if err := token.Claims(&all); err != nil {
		return unverified(errors.New("cannot parse claims of the token"))
	}
	if _, ok := all["azp"]; !ok {
		if len(token.Audience) < 2 {
			return nil
		}
		return rest.BadToken("Cannot accept the token: several audiences and no claim azp; " +
			"configure the issuer to set azp, or to issue a token for the portal alone")
	}
	party := all.text("azp")
	if party != "" && (party == i.settings.ClientID || party == i.settings.Audience || slices.Contains(i.settings.AuthorizedParties, party)) {
		return nil
	}
	return rest.BadToken("Cannot accept the token: issued to client %q (claim azp); "+
		"add the client to auth.providers.oidc.authorizedParties", printable(party, 50))
}

// signedBy is the payload of a token whose signature has been verified.
type signedBy []byte

// VerifySignature returns the payload.
func (p signedBy) VerifySignature(context.Context, string) ([]byte, error) { return p, nil }

// verifyBearer returns the identity of a token, and when the token expires.
func (i *issuer) verifyBearer(ctx context.Context, raw string) (identity, time.Time, error) {
	f, err := i.discover(ctx)
	if err != nil {
		return identity{}, time.Time{}, err
	}
	token, err := i.verify(ctx, f, raw, i.settings.Audience)
	if err != nil {
		return identity{}, time.Time{}, err
	}
	var all answers
	if err := token.Claims(&all); err != nil {
		return identity{}, time.Time{}, unverified(errors.New("cannot parse claims of the token"))
	}
	who, err := i.person(all)
	if err != nil {
		return identity{}, time.Time{}, unverified(err)
	}
	return who, token.Expiry, nil
}

// away returns the fault for an issuer that is not available.
func away(err error) error {
	return rest.Unavailable(err, "The sign-in issuer is not available, try again later")
}

// cause returns the cause of a fault, for the log.
func cause(err error) error {
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Err != nil {
		return f.Err
	}
	return err
}

// discreet returns an error without the response body of the issuer, which may
// contain anything.
func discreet(err error) error {
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := "no status"
		if r.Response != nil {
			status = r.Response.Status
		}
		return errors.New(printable(strings.TrimSpace(status+" "+r.ErrorCode), 100))
	}
	text := err.Error()
	if _, ok := errors.AsType[*url.Error](err); !ok && !strings.HasPrefix(text, "oidc: ") {
		// A status precedes the response body.
		text, _, _ = strings.Cut(text, ": ")
	}
	return errors.New(printable(text, 300))
}
