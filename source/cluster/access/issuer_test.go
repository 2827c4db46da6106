package access

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/source"
	provider "example.dev/ingestor/test/issuer"
)

// newJudge starts a server that accepts tokens of the issuer which are signed
// by its keys, have the audience and are not expired.
func newJudge(t *testing.T, i *provider.Issuer, audience string, also func(*oidc.IDToken) bool) *api {
	t.Helper()
	ctx := oidc.ClientContext(context.Background(), i.Client)
	p, err := oidc.NewProvider(ctx, i.URL)
	if err != nil {
		t.Fatal(err)
	}
	verifier := p.VerifierContext(ctx, &oidc.Config{ClientID: audience})
	return newAPI(t, func(raw string) bool {
		token, err := verifier.Verify(ctx, raw)
		return err == nil && (also == nil || also(token))
	})
}

// settings returns a cluster that accepts the tokens of the issuer.
func settings(srv *api, i *provider.Issuer) source.Cluster {
	return source.Cluster{
		URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC,
		OIDC: source.OIDC{
			Issuer: i.URL, ClientID: i.ClientID, ClientSecret: source.Secret(i.ClientSecret), CAData: i.CA, Audience: i.Audience,
		},
	}
}

// signedIn returns the settings of a user who signed in at the issuer. The
// audience of the token is the client.
func signedIn(t *testing.T, srv *api, i *provider.Issuer) source.Cluster {
	t.Helper()
	c := settings(srv, i)
	c.OIDC.RefreshToken, c.OIDC.Audience = source.Secret(i.RefreshToken(t)), ""
	return c
}

// grants returns requests that were granted.
func grants(grant string, n int) []provider.Request {
	var out []provider.Request
	for range n {
		out = append(out, provider.Request{Grant: grant})
	}
	return out
}

func TestIssuerClientCredentials(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	srv := newJudge(t, i, i.Audience, func(token *oidc.IDToken) bool { return token.Subject == i.ClientID })
	c := settings(srv, i)
	c.OIDC.CAData, c.OIDC.CAFile = nil, i.CAFile
	a := open(t, c)
	want(t, a, http.StatusOK)
	want(t, a, http.StatusOK)
	seen := srv.seen()
	if len(seen) != 2 || seen[0] != seen[1] || strings.Count(seen[0], ".") != 2 {
		t.Errorf("want one signed token that is reused, got %d tokens", len(seen))
	}
	if diff := cmp.Diff(grants("client_credentials", 1), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// startIssuer starts an issuer with a custom token endpoint.
func startIssuer(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	mux.HandleFunc("/token", answer)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer":%[1]q,"token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys"}`, srv.URL)
	})
	return srv
}

// TestIssuerStyle checks an issuer that expects the client secret in the body:
// this is detected once, and only by the error for it.
func TestIssuerStyle(t *testing.T) {
	t.Parallel()
	var asked []string
	there := startIssuer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _, header := r.BasicAuth()
		switch {
		case header:
			asked = append(asked, "header")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client"}`)
		case len(asked) == 3:
			asked = append(asked, "refused")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"unauthorized_client"}`)
		default:
			asked = append(asked, r.FormValue("client_secret"))
			fmt.Fprint(w, `{"access_token":"x","token_type":"Bearer","expires_in":1}`)
		}
	})
	srv := newAPI(t, nil)
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there.URL, ClientID: "c", ClientSecret: marker}})
	want(t, a, http.StatusOK)
	want(t, a, http.StatusOK)
	_, err := get(t.Context(), a, "/")
	if err == nil || !strings.Contains(err.Error(), "refused: unauthorized_client") {
		t.Errorf("got %v, want the error of the issuer", err)
	}
	if diff := cmp.Diff([]string{"header", marker, marker, "refused"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestIssuerRefreshToken(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"client_secret_basic", "none"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			// A token with such a short lifetime is not used a second time.
			i := provider.Start(t, provider.Options{AuthMethod: method, Lifetime: 9 * time.Second})
			srv := newJudge(t, i, i.ClientID, func(token *oidc.IDToken) bool { return token.Subject == i.Subject })
			c := signedIn(t, srv, i)
			if method == "none" {
				c.OIDC.ClientSecret = ""
			}
			a := open(t, c)
			for range 3 {
				want(t, a, http.StatusOK)
			}
			// The issuer accepts a refresh token once, so three grants used three
			// tokens.
			if diff := cmp.Diff(grants("refresh_token", 3), i.Requests(t)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIssuerRenewal checks that a token is renewed before it expires, so that
// the server never receives an expired one.
func TestIssuerRenewal(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{Lifetime: 12 * time.Second})
	srv := newJudge(t, i, i.Audience, nil)
	a := open(t, settings(srv, i))
	calls := 0
	ask := func() {
		want(t, a, http.StatusOK)
		calls++
	}
	for end := time.Now().Add(time.Minute); len(i.Requests(t)) < 2; time.Sleep(100 * time.Millisecond) {
		if ask(); time.Now().After(end) {
			t.Fatal("token was not renewed")
		}
	}
	ask()
	seen := srv.seen()
	if len(seen) != calls {
		t.Errorf("%d requests for %d calls: an expired token was sent", len(seen), calls)
	}
	if seen[0] == seen[len(seen)-1] {
		t.Error("renewed token was not used")
	}
}

// TestIssuerRefused checks that a valid token which the server refuses is
// replaced once.
func TestIssuerRefused(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	var left atomic.Int32
	left.Store(1)
	srv := newJudge(t, i, i.Audience, func(*oidc.IDToken) bool { return left.Add(-1) < 0 })
	a := open(t, settings(srv, i))
	want(t, a, http.StatusOK)
	if seen := srv.seen(); len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("%d tokens were sent, want two different ones", len(seen))
	}
	left.Store(1000)
	want(t, a, http.StatusUnauthorized)
	if diff := cmp.Diff(grants("client_credentials", 3), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestIssuerTogether checks that concurrent requests share one token.
func TestIssuerTogether(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	srv := newJudge(t, i, i.ClientID, nil)
	a := open(t, signedIn(t, srv, i))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusOK {
				t.Errorf("server answered %d, %v", status, err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(grants("refresh_token", 1), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestIssuerAudience checks that a token for another audience than the client
// is requested from the issuer, and that no other token of the answer is used
// instead.
func TestIssuerAudience(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		refresh source.Secret
		want    url.Values
	}{
		"Client":  {"The client credentials grant sends the scopes.", "", url.Values{"grant_type": {"client_credentials"}, "scope": {"one two"}}},
		"Refresh": {"The refresh token grant sends no scopes.", "old-" + marker, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"old-" + marker}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked url.Values
			there := startIssuer(t, func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				asked = r.PostForm
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"access_token":"for-the-cluster","id_token":"for-the-client","token_type":"Bearer","expires_in":3600}`)
			})
			srv := newAPI(t, nil)
			want(t, open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{
				Issuer: there.URL, ClientID: "c", ClientSecret: marker, RefreshToken: tc.refresh, Audience: "cluster", Scopes: []string{"one", "two"},
			}}), http.StatusOK)
			if diff := cmp.Diff([]string{"for-the-cluster"}, srv.seen()); diff != "" {
				t.Errorf("%s\ntokens sent (-want +got):\n%s", tc.reason, diff)
			}
			tc.want["audience"], tc.want["resource"] = []string{"cluster"}, []string{"cluster"}
			if diff := cmp.Diff(tc.want, asked); diff != "" {
				t.Errorf("%s\nrequests to the issuer (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIssuerUnasked checks an issuer that returns a refresh token for client
// credentials: the client credentials are still used.
func TestIssuerUnasked(t *testing.T) {
	t.Parallel()
	var asked []string
	there := startIssuer(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.FormValue("grant_type"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"x","refresh_token":"y","token_type":"Bearer","expires_in":1}`)
	})
	srv := newAPI(t, nil)
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{Issuer: there.URL, ClientID: "c", ClientSecret: marker}})
	want(t, a, http.StatusOK)
	want(t, a, http.StatusOK)
	if diff := cmp.Diff([]string{"client_credentials", "client_credentials"}, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
