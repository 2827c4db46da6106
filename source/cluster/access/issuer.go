package access

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"example.dev/ingestor/source"
)

// issuer provides tokens of an OpenID Connect issuer, renewed before they expire.
type issuer struct {
	settings source.OIDC
	client   *http.Client
	line     *line

	mu       sync.Mutex
	provider *oidc.Provider
	// refresh is the next refresh token: an issuer may return a new one each time.
	refresh string
	// style is how the client authenticates, once that is known.
	style oauth2.AuthStyle
	now   *oauth2.Token
}

func newIssuer(o source.OIDC) (*issuer, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, bad("set oidc.issuer to the URL that serves /.well-known/openid-configuration", "cannot use issuer %q", redact(o.Issuer))
	}
	if u.User != nil {
		return nil, bad("set oidc.clientId and oidc.clientSecret instead", "cannot use issuer %q: URL contains credentials", redact(o.Issuer))
	}
	if o.ClientID == "" {
		return nil, bad("set oidc.clientId", "cannot use issuer %q: no client ID set", redact(o.Issuer))
	}
	if o.RefreshToken == "" && o.ClientSecret == "" {
		return nil, bad("set oidc.clientSecret, or oidc.refreshToken", "cannot use issuer %q: neither client secret nor refresh token set", redact(o.Issuer))
	}
	ca, err := authority(o.CAFile, o.CAData, "oidc.caFile")
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if ca != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	way := &line{next: transport}
	return &issuer{
		settings: o, refresh: o.RefreshToken.Reveal(), line: way,
		client: &http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

func (i *issuer) token(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now.Valid() {
		return i.now.AccessToken, nil
	}
	ctx = oidc.ClientContext(ctx, i.client)
	i.line.down.Store(false)
	fresh, err := i.renew(ctx)
	if err != nil {
		err = i.explain(err)
		if i.line.down.Load() {
			err = &unavailable{err}
		}
		return "", err
	}
	i.now = fresh
	return fresh.AccessToken, nil
}

// renew requests a token. The access token of the result is what is sent to the
// cluster: the ID token if there is one, which is for the client, unless a token for
// another audience is requested.
func (i *issuer) renew(ctx context.Context) (*oauth2.Token, error) {
	if i.provider == nil {
		p, err := oidc.NewProvider(ctx, i.settings.Issuer)
		if err != nil {
			return nil, err
		}
		i.provider = p
	}
	got, err := i.introduce(ctx)
	if err != nil {
		return nil, err
	}
	if i.refresh != "" {
		// A client that authenticates each time does not need one, which may expire before
		// its secret does.
		i.refresh = cmp.Or(got.RefreshToken, i.refresh)
	}
	raw, ok := got.Extra("id_token").(string)
	if !ok || raw == "" || i.settings.Audience != "" {
		return got, nil
	}
	id, err := i.provider.VerifierContext(ctx, &oidc.Config{ClientID: i.settings.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("cannot verify ID token: %w", err)
	}
	return &oauth2.Token{AccessToken: raw, Expiry: id.Expiry}, nil
}

// introduce requests a token with the client's credentials in the header, which every
// issuer should accept, and in the body if the response is invalid_client: in other
// cases a second attempt would use up a refresh token, and hide why the first one
// failed.
func (i *issuer) introduce(ctx context.Context) (*oauth2.Token, error) {
	styles := []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams}
	switch {
	case i.style != oauth2.AuthStyleAutoDetect:
		styles = []oauth2.AuthStyle{i.style}
	case i.settings.ClientSecret == "":
		// A public client sends only its id.
		styles = styles[1:]
	}
	var first error
	for _, style := range styles {
		got, err := i.ask(ctx, style)
		if err == nil {
			i.style = style
			return got, nil
		}
		if first == nil {
			first = err
		}
		if r, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || r.ErrorCode != "invalid_client" {
			return nil, err
		}
	}
	return nil, first
}

func (i *issuer) ask(ctx context.Context, style oauth2.AuthStyle) (*oauth2.Token, error) {
	o := i.settings
	config := clientcredentials.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret.Reveal(), TokenURL: i.provider.Endpoint().TokenURL, AuthStyle: style,
		Scopes: o.Scopes, EndpointParams: url.Values{},
	}
	if i.refresh != "" {
		// oauth2's own support for refresh tokens cannot set an audience. The scopes are
		// those that were granted with the token.
		config.Scopes = nil
		config.EndpointParams.Set("grant_type", "refresh_token")
		config.EndpointParams.Set("refresh_token", i.refresh)
	}
	if o.Audience != "" {
		// Issuers use one name or the other.
		config.EndpointParams.Set("audience", o.Audience)
		config.EndpointParams.Set("resource", o.Audience)
	}
	return config.Token(ctx)
}

// refused drops a token that the cluster did not accept. A retry with a new token is
// made only once: if that is refused as well, the issuer is not at fault.
func (i *issuer) refused(token string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now != nil && i.now.AccessToken == token {
		i.now = nil
	}
	return true
}
