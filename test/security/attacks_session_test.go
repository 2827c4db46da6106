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

// TestOpenAddress starts the shipped configuration on an address that others can
// reach: guests would get in.
func TestOpenAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, settings, says string
	}{
		"all":     {"all interfaces", `backend: {listen: ":0"}`, "CONF016"},
		"address": {"all interfaces, by address", `backend: {listen: "0.0.0.0:0"}`, "CONF016"},
		"name":    {"a name that is not this machine's own", `backend: {listen: "portal.example.org:0"}`, "CONF016"},
		"token":   {"a token of one letter", `backend: {auth: {externalAccess: [{type: static, options: {token: "aaaaaaaaaaaaaaaa", subject: ci}}]}}`, "backend.auth.externalAccess[0].options.token"},
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
				t.Errorf("%s: exit code %d, want another than 0 and %q:\n%s", tc.reason, code, tc.says, said.String())
			}
		})
	}
}

// TestHosts asks the portal under names that are not its own, as a page of
// somebody else does once their name leads to this machine.
func TestHosts(t *testing.T) {
	w := enter(t)
	guest := w.open.guest(t)
	own := strings.TrimPrefix(w.open.base, "http://")
	cases := map[string]struct {
		reason, host string
		headers      map[string]string
		status       int
	}{
		"own":       {"the name of the portal", own, nil, http.StatusOK},
		"other":     {"another name", "evil.example.org", nil, http.StatusMisdirectedRequest},
		"port":      {"another name with the port of the portal", "evil.example.org" + own[strings.Index(own, ":"):], nil, http.StatusMisdirectedRequest},
		"suffix":    {"a name that begins like that of the portal", own + ".evil.example.org", nil, http.StatusMisdirectedRequest},
		"forwarded": {"a forwarded name is not looked at", "evil.example.org", map[string]string{"X-Forwarded-Host": own, "Forwarded": "host=" + own}, http.StatusMisdirectedRequest},
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

// TestLogout uses a session after its logout, with the cookies and the token from
// before.
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
	// Another browser of the same person stays signed in.
	other, err := newBrowser()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.signIn(t.Context(), other, ada); err != nil {
		t.Fatal(err)
	}

	stolen := &browser{&http.Client{Jar: keptJar{b.cookies(t, w.portal.base+"/api/auth/oidc/refresh")}, Transport: b.client.Transport}}
	if _, err := w.refresh(t.Context(), stolen); err != nil {
		t.Fatalf("the stolen cookies are of no use before the logout already: %v", err)
	}
	if _, _, err := b.visit(t.Context(), http.MethodPost, w.portal.base+"/api/auth/oidc/logout", http.StatusOK); err != nil {
		t.Fatal(err)
	}
	// As any token that does not count.
	c.want(http.StatusForbidden, http.MethodGet, "/api/catalog/entities?limit=1", "")
	if _, _, err := stolen.visit(t.Context(), http.MethodPost, w.portal.base+"/api/auth/oidc/refresh", http.StatusUnauthorized); err != nil {
		t.Error(err)
	}
	if _, err := w.refresh(t.Context(), other); err != nil {
		t.Errorf("the other session ended too: %v", err)
	}
}
