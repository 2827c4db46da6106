package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/source"
	provider "example.dev/ingestor/test/issuer"
)

func TestIssuerBad(t *testing.T) {
	t.Parallel()
	i := provider.Start(t, provider.Options{})
	down := provider.Start(t, provider.Options{})
	down.Stop()
	srv := newAPI(t, nil)
	first := signedIn(t, srv, i)
	spent := first.OIDC.RefreshToken.Reveal()
	want(t, open(t, first), http.StatusOK)
	cases := map[string]struct {
		reason string
		change func(*source.OIDC)
		want   []string
		passes bool
	}{
		"Down":       {"An issuer that does not answer is reported.", func(o *source.OIDC) { o.Issuer = down.URL }, []string{"cannot reach issuer", "connection refused"}, true},
		"NoName":     {"An issuer with an unknown host name is reported.", func(o *source.OIDC) { o.Issuer = "https://issuer.invalid" }, []string{"cannot reach issuer"}, true},
		"UnknownCA":  {"A certificate of another authority is refused.", func(o *source.OIDC) { o.CAData = down.CA }, []string{"cannot reach issuer", "unknown authority"}, false},
		"SystemCA":   {"A certificate that the system does not trust is refused.", func(o *source.OIDC) { o.CAData = nil }, []string{"cannot reach issuer", "unknown authority"}, false},
		"Secret":     {"A wrong client secret is reported.", func(o *source.OIDC) { o.ClientSecret = marker }, []string{"refused: invalid_client"}, false},
		"Client":     {"An unknown client is reported.", func(o *source.OIDC) { o.ClientID = "unknown" }, []string{"refused: invalid_client"}, false},
		"Refresh":    {"A wrong refresh token is reported.", func(o *source.OIDC) { o.RefreshToken = marker }, []string{"refused: invalid_grant"}, false},
		"Spent":      {"A refresh token that was already used is reported.", func(o *source.OIDC) { o.RefreshToken = source.Secret(spent) }, []string{"refused: invalid_grant"}, false},
		"OtherPath":  {"A wrong path of the issuer is reported.", func(o *source.OIDC) { o.Issuer += "/realms/it" }, []string{"404"}, false},
		"OtherName":  {"An issuer with another name than configured is refused.", func(o *source.OIDC) { o.Issuer = strings.Replace(o.Issuer, "127.0.0.1", "localhost", 1) }, []string{"did not match"}, false},
		"NotAnyOne":  {"An API server is not an issuer.", func(o *source.OIDC) { o.Issuer, o.CAData = srv.URL, srv.CA }, nil, false},
		"NoAudience": {"An unknown audience is reported.", func(o *source.OIDC) { o.Audience = "https://nowhere.example" }, []string{"refused"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := newAPI(t, nil)
			c := settings(own, i)
			tc.change(&c.OIDC)
			_, err := get(t.Context(), open(t, c), "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() != tc.passes {
				t.Fatalf("%s\ngot %v, want a CredentialError, temporary %v", tc.reason, err, tc.passes)
			}
			for _, text := range append(tc.want, c.OIDC.Issuer) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s\ngot %v, want %q in it", tc.reason, err, text)
				}
			}
			checkNoSecrets(t, err, i.ClientSecret, down.ClientSecret, spent)
			if got := own.seen(); len(got) > 0 {
				t.Errorf("%s\nserver was asked without a token: %q", tc.reason, got)
			}
		})
	}
}

// TestIssuerTells checks an issuer that repeats the request in its error, at
// length.
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
			there := startIssuer(t, answer)
			srv := newAPI(t, nil)
			a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{
				Issuer: there.URL, ClientID: "c", ClientSecret: "secret-" + marker, RefreshToken: "refresh-" + marker,
			}})
			_, err := get(t.Context(), a, "/")
			if err == nil || !strings.Contains(err.Error(), there.URL) {
				t.Fatalf("got %v, want an error that names the issuer", err)
			}
			if len(err.Error()) > 600 {
				t.Errorf("message has %d bytes", len(err.Error()))
			}
			checkNoSecrets(t, err)
		})
	}
}

// TestIssuerHangs checks an issuer that never answers.
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
	if e, ok := errors.AsType[*CredentialError](err); !ok || !e.Temporary() || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want a temporary CredentialError and %v", err, context.DeadlineExceeded)
	}
	checkNoSecrets(t, err)
}

// TestIssuerRepeats checks that secrets are removed from the error of an
// issuer, in all encodings.
func TestIssuerRepeats(t *testing.T) {
	t.Parallel()
	const secret = `ab/+"\&<=` + marker
	ways := map[string]func(string) string{
		"Plain": func(s string) string { return s },
		"Query": url.QueryEscape,
		"Lower": func(s string) string {
			return strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%5C", "%5c", "%3C", "%3c", "%3D", "%3d").Replace(url.QueryEscape(s))
		},
		"Path":    url.PathEscape,
		"JSON":    func(s string) string { return strings.Trim(asJSON(s), `"`) },
		"Slashes": func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "/", `\/`).Replace(s) },
		"Page":    func(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&#34;").Replace(s) },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refusedBy(t, "invalid_grant", "no token "+way(secret)+" here", source.OIDC{ClientSecret: "another-" + marker, RefreshToken: secret})
			if !strings.HasSuffix(err.Error(), "refused: invalid_grant: no token ******** here") {
				t.Errorf("got %v, want the error of the issuer without the secret", err)
			}
			checkNoSecrets(t, err)
		})
	}
	t.Run("Header", func(t *testing.T) {
		t.Parallel()
		// The text is "c:secret-…" in base64.
		err := refusedBy(t, "invalid_request", "no Basic YzpzZWNyZXQtaHVudGVyMg== here", source.OIDC{ClientSecret: "secret-" + marker})
		if !strings.HasSuffix(err.Error(), "refused: invalid_request: no Basic ******** here") {
			t.Errorf("got %v, want the error of the issuer without the secret", err)
		}
	})
}

// TestIssuerShortSecret checks secrets so short that they occur in words by
// chance: masking them would reveal them.
func TestIssuerShortSecret(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason      string
		code, words string
		settings    source.OIDC
		want        string
	}{
		"Words":   {"With a short client secret the message of the issuer is not shown.", "invalid_grant", "the token is unknown", source.OIDC{ClientSecret: "ken", RefreshToken: "long-" + marker}, "refused: invalid_grant"},
		"Refresh": {"With a short refresh token the message of the issuer is not shown.", "invalid_grant", "the token is unknown", source.OIDC{ClientSecret: "long-" + marker, RefreshToken: "now"}, "refused: invalid_grant"},
		"Code":    {"An error code that contains the secret is not shown.", "bad_ken", "", source.OIDC{ClientSecret: "ken"}, "refused: 400 Bad Request"},
		"Empty":   {"An absent secret does not count as short.", "invalid_grant", "it is over", source.OIDC{RefreshToken: "long-" + marker}, "refused: invalid_grant: it is over"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refusedBy(t, tc.code, tc.words, tc.settings)
			if !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v, want one that ends with %q", tc.reason, err, tc.want)
			}
		})
	}
}

// refusedBy returns the error for an issuer that refuses with this code and
// message.
func refusedBy(t *testing.T, code, words string, o source.OIDC) error {
	t.Helper()
	there := startIssuer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%s,"error_description":%s}`, asJSON(code), asJSON(words))
	})
	o.Issuer, o.ClientID = there.URL, "c"
	srv := newAPI(t, nil)
	_, err := get(t.Context(), open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: o}), "/")
	if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() {
		t.Fatalf("got %v, want a permanent CredentialError", err)
	}
	return err
}

func asJSON(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// TestIssuerUnwell checks an issuer with a temporary failure at each endpoint:
// the error is temporary, and the next request succeeds.
func TestIssuerUnwell(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		path   string
		status int
		// forged is set if the token afterwards is forged, which is a permanent
		// error.
		forged bool
	}{
		"Discovery": {reason: "The discovery fails temporarily.", path: "/.well-known/openid-configuration", status: http.StatusServiceUnavailable},
		"Token":     {reason: "The token endpoint fails temporarily.", path: "/token", status: http.StatusBadGateway},
		"Busy":      {reason: "The issuer is busy.", path: "/token", status: http.StatusTooManyRequests},
		"Keys":      {reason: "The keys cannot be read temporarily.", path: "/keys", status: http.StatusInternalServerError, forged: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := httptest.NewUnstartedServer(nil)
			var asked atomic.Int32
			there.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path == tc.path && asked.Add(1) == 1:
					w.WriteHeader(tc.status)
					fmt.Fprint(w, marker)
				case r.URL.Path == "/token" && tc.forged:
					fmt.Fprintf(w, `{"access_token":"x","token_type":"Bearer","expires_in":3600,"id_token":%q}`, unsigned(there.URL, "c"))
				case r.URL.Path == "/token":
					fmt.Fprint(w, `{"access_token":"x","token_type":"Bearer","expires_in":3600}`)
				default:
					fmt.Fprintf(w, `{"issuer":%[1]q,"token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys","keys":[]}`, there.URL)
				}
			})
			there.Start()
			t.Cleanup(there.Close)
			srv := newAPI(t, nil)
			a := open(t, source.Cluster{URL: srv.URL, CAData: srv.CA, Auth: source.AuthOIDC, OIDC: source.OIDC{
				Issuer: there.URL, ClientID: "c", ClientSecret: "secret-" + marker,
			}})
			_, err := get(t.Context(), a, "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || !e.Temporary() {
				t.Fatalf("%s\ngot %v, want a temporary CredentialError", tc.reason, err)
			}
			if !tc.forged {
				want(t, a, http.StatusOK)
				return
			}
			_, err = get(t.Context(), a, "/")
			if e, ok := errors.AsType[*CredentialError](err); !ok || e.Temporary() {
				t.Errorf("%s\ngot %v, want a permanent CredentialError", tc.reason, err)
			}
		})
	}
}

// unsigned is a token with an invalid signature.
func unsigned(issuer, audience string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims := fmt.Sprintf(`{"iss":%q,"aud":%q,"exp":%d}`, issuer, audience, time.Now().Add(time.Hour).Unix())
	return part(`{"alg":"RS256","kid":"k"}`) + "." + part(claims) + "." + part("unsigned")
}
