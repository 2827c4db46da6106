package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// newJudge starts a server that answers those who have a token of the issuer,
// signed by its keys, for the audience, that has not ended.
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

// settings are those of a cluster that takes the issuer's tokens.
func settings(srv *api, i *provider.Issuer) source.Cluster {
	return source.Cluster{
		URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC,
		OIDC: source.OIDC{
			Issuer: i.URL, ClientID: i.ClientID, ClientSecret: source.Secret(i.ClientSecret), CAData: i.CA, Audience: i.Audience,
		},
	}
}

// grants are requests that were granted.
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
		t.Errorf("a token is kept while it lasts, and is a signed one: %d tokens", len(seen))
	}
	if diff := cmp.Diff(grants("client_credentials", 1), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// stranger starts an issuer that answers requests for tokens as it likes.
func stranger(t *testing.T, answer http.HandlerFunc) *httptest.Server {
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

// TestIssuerStyle has an issuer that wants the client's secret in the body:
// that it does is found out once, and nothing else makes it be tried.
func TestIssuerStyle(t *testing.T) {
	t.Parallel()
	var asked []string
	there := stranger(t, func(w http.ResponseWriter, r *http.Request) {
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
		t.Errorf("got %v, want what the issuer says", err)
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
			// A token that lasts so short is not used a second time.
			i := provider.Start(t, provider.Options{AuthMethod: method, Lifetime: 9 * time.Second})
			srv := newJudge(t, i, i.ClientID, func(token *oidc.IDToken) bool { return token.Subject == i.Subject })
			c := settings(srv, i)
			c.OIDC.RefreshToken = source.Secret(i.RefreshToken(t))
			if method == "none" {
				c.OIDC.ClientSecret = ""
			}
			a := open(t, c)
			for range 3 {
				want(t, a, http.StatusOK)
			}
			// The issuer takes a refresh token once: three answers are the work
			// of three.
			if diff := cmp.Diff(grants("refresh_token", 3), i.Requests(t)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIssuerRenewal waits for a token to be renewed: before it ends, so that
// the server never sees one that has.
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
			t.Fatal("a token is not renewed")
		}
	}
	ask()
	seen := srv.seen()
	if len(seen) != calls {
		t.Errorf("%d requests for %d calls: a token that had ended was sent", len(seen), calls)
	}
	if seen[0] == seen[len(seen)-1] {
		t.Error("a token that was renewed is not used")
	}
}

// TestIssuerRefused has the server refuse a token that is good: another one is
// got, once.
func TestIssuerRefused(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	var left atomic.Int32
	left.Store(1)
	srv := newJudge(t, i, i.Audience, func(*oidc.IDToken) bool { return left.Add(-1) < 0 })
	a := open(t, settings(srv, i))
	want(t, a, http.StatusOK)
	if seen := srv.seen(); len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("%d tokens are sent, want two that differ", len(seen))
	}
	left.Store(1000)
	want(t, a, http.StatusUnauthorized)
	if diff := cmp.Diff(grants("client_credentials", 3), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestIssuerTogether asks many times at once: one token is enough.
func TestIssuerTogether(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	srv := newJudge(t, i, i.ClientID, nil)
	c := settings(srv, i)
	c.OIDC.RefreshToken = source.Secret(i.RefreshToken(t))
	a := open(t, c)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, err := get(t.Context(), a, "/"); err != nil || status != http.StatusOK {
				t.Errorf("the server answers %d, %v", status, err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(grants("refresh_token", 1), i.Requests(t)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestIssuerBad(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	down := provider.Start(t, provider.Options{})
	down.Stop()
	srv := newAPI(t, nil)
	spent := i.RefreshToken(t)
	first := settings(srv, i)
	first.OIDC.RefreshToken = source.Secret(spent)
	want(t, open(t, first), http.StatusOK)
	cases := map[string]struct {
		reason string
		change func(*source.OIDC)
		want   []string
	}{
		"Down":       {"nobody answers", func(o *source.OIDC) { o.Issuer = down.URL }, []string{"cannot be asked", "connection refused"}},
		"NoName":     {"nobody knows it", func(o *source.OIDC) { o.Issuer = "https://issuer.invalid" }, []string{"cannot be asked"}},
		"UnknownCA":  {"a stranger's certificate is not believed", func(o *source.OIDC) { o.CAData = down.CA }, []string{"cannot be asked", "unknown authority"}},
		"SystemCA":   {"the system does not know it either", func(o *source.OIDC) { o.CAData = nil }, []string{"cannot be asked", "unknown authority"}},
		"Secret":     {"the client's secret is wrong", func(o *source.OIDC) { o.ClientSecret = marker }, []string{"refused: invalid_client"}},
		"Client":     {"the client is not known", func(o *source.OIDC) { o.ClientID = "nobody" }, []string{"refused: invalid_client"}},
		"Refresh":    {"the refresh token is wrong", func(o *source.OIDC) { o.RefreshToken = marker }, []string{"refused: invalid_grant"}},
		"Spent":      {"the refresh token was used", func(o *source.OIDC) { o.RefreshToken = source.Secret(spent) }, []string{"refused: invalid_grant"}},
		"OtherPath":  {"the issuer is somewhere below", func(o *source.OIDC) { o.Issuer += "/realms/it" }, []string{"404"}},
		"OtherName":  {"the issuer calls itself something else", func(o *source.OIDC) { o.Issuer = strings.Replace(o.Issuer, "127.0.0.1", "localhost", 1) }, []string{"did not match"}},
		"NotAnyOne":  {"the API server is no issuer", func(o *source.OIDC) { o.Issuer, o.CAData = srv.URL, srv.CA }, nil},
		"NoAudience": {"the audience is not known", func(o *source.OIDC) { o.Audience = "https://nowhere.example" }, []string{"refused"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := newAPI(t, nil)
			c := settings(own, i)
			tc.change(&c.OIDC)
			_, err := get(t.Context(), open(t, c), "/")
			if _, ok := errors.AsType[*CredentialError](err); !ok {
				t.Fatalf("%s\ngot %v, want a CredentialError", tc.reason, err)
			}
			for _, text := range append(tc.want, c.OIDC.Issuer) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s\ngot %v, want one that says %q", tc.reason, err, text)
				}
			}
			keeps(t, err, i.ClientSecret, down.ClientSecret, spent)
			if got := own.seen(); len(got) > 0 {
				t.Errorf("%s\nthe server is asked without a token: %q", tc.reason, got)
			}
		})
	}
}

// TestIssuerTells has an issuer that repeats all it was sent, and pages of it.
func TestIssuerTells(t *testing.T) {
	t.Parallel()
	answers := map[string]func(w http.ResponseWriter, r *http.Request){
		"Description": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"unknown token ` + r.FormValue("refresh_token") + `"}`))
		},
		"Page": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>" + r.FormValue("refresh_token") + "\n" + strings.Repeat(r.FormValue("refresh_token"), 1000)))
		},
		"Nonsense": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(r.FormValue("refresh_token")))
		},
		"Unsigned": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"` + marker + `","token_type":"Bearer","id_token":"` + marker + `"}`))
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := stranger(t, answer)
			srv := newAPI(t, nil)
			a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{
				Issuer: there.URL, ClientID: "c", ClientSecret: "secret-" + marker, RefreshToken: "refresh-" + marker,
			}})
			_, err := get(t.Context(), a, "/")
			if err == nil || !strings.Contains(err.Error(), there.URL) {
				t.Fatalf("got %v, want an error that names the issuer", err)
			}
			if len(err.Error()) > 600 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			keeps(t, err)
		})
	}
}

// TestIssuerHangs has an issuer that never answers.
func TestIssuerHangs(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	there := newAPI(t, func(string) bool { <-stop; return true })
	t.Cleanup(func() { close(stop) })
	srv := newAPI(t, nil)
	a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{
		Issuer: there.URL, ClientID: "c", ClientSecret: marker, CAData: there.CA,
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := get(ctx, a, "/")
	if _, ok := errors.AsType[*CredentialError](err); !ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want a CredentialError and %v", err, context.DeadlineExceeded)
	}
	keeps(t, err)
}
