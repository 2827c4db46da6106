package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/server"
	"example.dev/ingestor/test/process"
)

// theToken is the token of a service account with all permissions.
const theToken = "a-static-token-of-the-tests-4711"

// patience is how long a test waits for a condition.
const patience = time.Minute

// setup is the configuration of a portal. The zero value of each field is its
// usual default.
type setup struct {
	// base is the external URL; empty means the listener's address.
	base string
	// database is the section backend.database; nil means SQLite in a folder
	// of the test.
	database map[string]any
	// allow are the hosts that locations may be read from, hosts those that
	// requests may be for.
	allow, hosts []string
	// lifetime is the lifetime of tokens.
	lifetime time.Duration
	// rateLimit is the section backend.rateLimit.
	rateLimit any
	// sections are further sections, which override the default ones.
	sections map[string]any
	// listener is used for serving unless it is nil.
	listener net.Listener
	// under are configuration files that are read before this one.
	under []string
}

// secrets returns texts that must not appear in logs.
func (s setup) secrets() []string {
	address, _ := s.database["connection"].(string)
	if u, err := url.Parse(address); err == nil && u.User != nil {
		password, _ := u.User.Password()
		return []string{theToken, clusterToken, password}
	}
	return []string{theToken, clusterToken}
}

// sqlite returns the configuration of a new SQLite database in a folder of the
// test.
func sqlite(t *testing.T) map[string]any {
	return map[string]any{"client": "sqlite", "connection": map[string]any{"filename": filepath.Join(t.TempDir(), "portal.sqlite")}}
}

// write writes the configuration to a folder of the test. It is equivalent to
// the configuration that Backstage was recorded with.
func (s setup) write(t *testing.T) string {
	t.Helper()
	hosts := []any{}
	for _, host := range s.allow {
		hosts = append(hosts, map[string]any{"host": host})
	}
	at := strings.TrimPrefix(s.base, "http://")
	if s.listener != nil {
		at = s.listener.Addr().String()
	}
	backend := map[string]any{
		"baseUrl": s.base, "listen": at, "database": s.database,
		"cors": map[string]any{
			"origin": "http://127.0.0.1:3000", "credentials": true, "methods": []string{"GET", "HEAD", "PATCH", "POST", "PUT", "DELETE"},
		},
		"auth": map[string]any{"externalAccess": []any{
			map[string]any{"type": "static", "options": map[string]any{"token": theToken, "subject": "tests"}},
		}},
		"reading": map[string]any{"allow": hosts, "timeout": "2s", "maxSize": "1MiB"},
	}
	if s.hosts != nil {
		backend["allowedHosts"] = s.hosts
	}
	if s.rateLimit != nil {
		backend["rateLimit"] = s.rateLimit
	}
	all := map[string]any{
		"words":   "upstream",
		"backend": backend,
		"auth":    map[string]any{"providers": map[string]any{"guest": map[string]any{}}},
		"catalog": map[string]any{
			"rules": []any{map[string]any{"allow": []string{"Component", "API", "Resource", "System", "Group", "Template", "Location"}}},
		},
	}
	maps.Copy(all, s.sections)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "app-config.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// world is a portal backend in this process.
type world struct {
	caller
	portal *server.Portal
	// database is the section of its database.
	database map[string]any
}

// start starts a portal. It ends with the test, and fails it if a secret was
// logged.
func start(t *testing.T, s setup) *world {
	t.Helper()
	l := s.listener
	if l == nil {
		l = listen(t)
	}
	address := "http://" + l.Addr().String()
	if s.base == "" {
		s.base = address
	}
	if s.database == nil {
		s.database = sqlite(t)
	}
	cfg, findings := config.Load(append(s.under, s.write(t)), config.Options{})
	for _, f := range findings {
		if f.Severity == finding.Error {
			t.Fatalf("configuration of the test is invalid: %v", f)
		}
	}
	if s.lifetime > 0 {
		cfg.Auth.TokenLifetime = s.lifetime
	}
	w := &world{caller: newCaller(t, address), database: s.database}
	log := &process.Log{}
	var err error
	w.portal, err = server.New(t.Context(), server.Options{
		Config: cfg, Now: time.Now, Log: slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.portal.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("portal ended with %v", err)
		}
		if err := w.portal.Close(); err != nil {
			t.Error(err)
		}
		for _, secret := range s.secrets() {
			if strings.Contains(log.String(), secret) {
				t.Error("log contains the token of a service or the password of the database")
			}
		}
		if t.Failed() {
			t.Logf("end of the portal's log:\n%s", log.Tail())
		}
	})
	w.ready()
	return w
}

// caller calls a portal, in this process or another, and checks all exchanges
// against the contract.
type caller struct {
	t      *testing.T
	base   string
	client *http.Client
	passed func() int
}

func newCaller(t *testing.T, base string) caller {
	t.Helper()
	// Each test has its own connections, and closes them at its end.
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	through := &checked{t: t, contract: readContract(t), next: transport}
	return caller{
		t: t, base: base,
		client: &http.Client{
			Transport: through, Timeout: patience,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		passed: func() int { through.mu.Lock(); defer through.mu.Unlock(); return through.passed },
	}
}

// in returns the caller for a subtest.
func (c caller) in(t *testing.T) caller {
	c.t = t
	return c
}

// unchecked returns the caller without checks against the contract.
func (c caller) unchecked() caller {
	c.client = &http.Client{Transport: c.client.Transport.(*checked).next, Timeout: c.client.Timeout}
	return c
}

// Requests with this token have no Authorization header.
const noToken = "-"

// call is a request. By default it has the token of the service, the method
// GET, and a body in JSON.
type call struct {
	method, path, body, token string
	header                    http.Header
	// host is the Host header; empty means the portal's address.
	host string
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// try sends a request that may fail.
func (c caller) try(x call) (reply, error) {
	if x.method == "" {
		x.method = http.MethodGet
	}
	var body io.Reader
	if x.body != "" {
		body = strings.NewReader(x.body)
	}
	req, err := http.NewRequest(x.method, c.base+x.path, body)
	if err != nil {
		return reply{}, err
	}
	if x.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	switch x.token {
	case noToken:
	case "":
		req.Header.Set("Authorization", "Bearer "+theToken)
	default:
		req.Header.Set("Authorization", "Bearer "+x.token)
	}
	for key, values := range x.header {
		req.Header[key] = values
	}
	req.Host = x.host
	res, err := c.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: got}, err
}

// send sends a request and fails the test if it gets no response.
func (c caller) send(x call) reply {
	c.t.Helper()
	r, err := c.try(x)
	if err != nil {
		c.t.Fatalf("%s %s: %v", x.method, brief([]byte(x.path)), err)
	}
	return r
}

// get requests a path that must exist, and decodes the response into v.
func (c caller) get(path string, v any) {
	c.t.Helper()
	c.want(call{path: path}, http.StatusOK, v)
}

// want sends a request, checks the status, and decodes the response into v
// unless v is nil.
func (c caller) want(x call, status int, v any) reply {
	c.t.Helper()
	r := c.send(x)
	if r.status != status {
		c.t.Fatalf("%s %s: got %d %s, want %d", x.method, x.path, r.status, brief(r.body), status)
	}
	if v == nil {
		return r
	}
	if err := json.Unmarshal(r.body, v); err != nil {
		c.t.Fatalf("%s: cannot decode %s: %v", x.path, brief(r.body), err)
	}
	return r
}

// report is the response to a push.
type report struct {
	Added, Updated, Removed, Unchanged int
	Refused                            []struct {
		Index, Line int
		Ref, Reason string
	}
}

// ndjson is the header of pushes in NDJSON.
var ndjson = http.Header{"Content-Type": {"application/x-ndjson"}}

// push pushes all entities of a provider.
func (c caller) push(provider string, lines ...string) report {
	c.t.Helper()
	var r report
	c.want(call{
		method: http.MethodPut, path: "/api/catalog/providers/" + provider + "/entities", body: strings.Join(lines, "\n"), header: ndjson,
	}, http.StatusOK, &r)
	return r
}

// until waits for a condition.
func (c caller) until(what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}

// ready waits until the portal is ready.
func (c caller) ready() {
	c.t.Helper()
	c.until("the portal is ready", func() bool {
		r, err := c.try(call{path: "/.backstage/health/v1/readiness", token: noToken})
		return err == nil && r.status == http.StatusOK
	})
}

// exists reports whether an entity exists, by kind/namespace/name.
func (c caller) exists(name string) bool {
	c.t.Helper()
	return c.send(call{path: "/api/catalog/entities/by-name/" + name}).status == http.StatusOK
}

// guest returns the token of a guest.
func (c caller) guest() string {
	c.t.Helper()
	var session struct {
		BackstageIdentity, PortalIdentity struct{ Token string }
	}
	c.want(call{method: http.MethodPost, path: "/api/auth/guest/refresh", token: noToken}, http.StatusOK, &session)
	if session.BackstageIdentity.Token == "" || session.BackstageIdentity != session.PortalIdentity {
		c.t.Fatalf("tokens of the guest session differ: %v", session)
	}
	return session.BackstageIdentity.Token
}

// component returns a small entity as a line of JSON.
func component(name string) string {
	return `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"` + name +
		`"},"spec":{"type":"service","lifecycle":"production","owner":"group:default/team"}}`
}
