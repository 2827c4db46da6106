package security_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/app"
	"example.dev/ingestor/internal/cli/portal"
)

// TestOpenAddress checks that the shipped configuration, which lets guests in,
// does not start on an address that others can reach.
func TestOpenAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, settings, says string
	}{
		"all":     {"Listening on all interfaces is refused.", `backend: {listen: ":0"}`, "CONF016"},
		"address": {"Listening on the unspecified address is refused.", `backend: {listen: "0.0.0.0:0"}`, "CONF016"},
		"name":    {"Listening on a name that is not local is refused.", `backend: {listen: "portal.example.org:0"}`, "CONF016"},
		"token":   {"A token that repeats one letter is refused.", `backend: {auth: {externalAccess: [{type: static, options: {token: "aaaaaaaaaaaaaaaa", subject: ci}}]}}`, "backend.auth.externalAccess[0].options.token"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "app-config.local.yaml")
			if err := os.WriteFile(path, []byte(tc.settings), 0o600); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			code := app.Run(t.Context(), portal.Name, &app.Env{
				Args: []string{"--config", "../../app-config.yaml", "--config", path}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &said,
				Getenv: func(string) string { return "" }, Now: time.Now,
			}, portal.Run)
			if code == app.ExitOK || !strings.Contains(said.String(), tc.says) {
				t.Errorf("%s: exit code is %d, want an error with %q:\n%s", tc.reason, code, tc.says, said.String())
			}
		})
	}
}

// TestHosts checks that the portal rejects requests for foreign host names, as
// in DNS rebinding.
func TestHosts(t *testing.T) {
	w := enter(t)
	guest := w.open.guest(t)
	own := strings.TrimPrefix(w.open.base, "http://")
	cases := map[string]struct {
		reason, host string
		headers      map[string]string
		status       int
	}{
		"own":       {"The name of the portal is accepted.", own, nil, http.StatusOK},
		"other":     {"Another name is rejected.", "evil.example.org", nil, http.StatusMisdirectedRequest},
		"port":      {"Another name with the port of the portal is rejected.", "evil.example.org" + own[strings.Index(own, ":"):], nil, http.StatusMisdirectedRequest},
		"suffix":    {"A name that begins with that of the portal is rejected.", own + ".evil.example.org", nil, http.StatusMisdirectedRequest},
		"forwarded": {"Forwarded host names are ignored.", "evil.example.org", map[string]string{"X-Forwarded-Host": own, "Forwarded": "host=" + own}, http.StatusMisdirectedRequest},
	}
	for name, tc := range cases {
		for _, path := range []string{"/api/catalog/entities", "/api/auth/guest/refresh", "/", "/metrics"} {
			t.Run(name+path, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.open.base+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				req.Host = tc.host
				req.Header.Set("Authorization", "Bearer "+guest.token)
				for key, value := range tc.headers {
					req.Header.Set(key, value)
				}
				resp, err := guest.http.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				if err := resp.Body.Close(); err != nil || resp.StatusCode != tc.status {
					t.Errorf("%s: got %s, %v, want %d", tc.reason, resp.Status, err, tc.status)
				}
			})
		}
	}
}

// TestLogout checks that the cookies and the token of a session are invalid
// after its logout.
func TestLogout(t *testing.T) {
	w := enter(t)
	b, err := newBrowser()
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.signIn(t.Context(), b, ada)
	if err != nil {
		t.Fatal(err)
	}
	c := w.portal.client(t, s.BackstageIdentity.Token)
	c.want(http.StatusOK, http.MethodGet, "/api/catalog/entities?limit=1", "")
	// Another browser of the same user stays signed in.
	other, err := newBrowser()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.signIn(t.Context(), other, ada); err != nil {
		t.Fatal(err)
	}

	stolen := &browser{&http.Client{Jar: keptJar{b.cookies(t, w.portal.base+"/api/auth/oidc/refresh")}, Transport: b.client.Transport}}
	if _, err := w.refresh(t.Context(), stolen); err != nil {
		t.Fatalf("copied cookies are already invalid before the logout: %v", err)
	}
	if _, _, err := b.visit(t.Context(), http.MethodPost, w.portal.base+"/api/auth/oidc/logout", http.StatusOK); err != nil {
		t.Fatal(err)
	}
	// The token is rejected like any invalid token.
	c.want(http.StatusForbidden, http.MethodGet, "/api/catalog/entities?limit=1", "")
	if _, _, err := stolen.visit(t.Context(), http.MethodPost, w.portal.base+"/api/auth/oidc/refresh", http.StatusUnauthorized); err != nil {
		t.Error(err)
	}
	if _, err := w.refresh(t.Context(), other); err != nil {
		t.Errorf("other session ended too: %v", err)
	}
}
