package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
	"example.dev/ingestor/internal/rest/httpd"
)

// base is the base URL of the portal.
const base = "http://127.0.0.1:7007"

// shelf is a KeyStore and a SessionStore in memory.
type shelf struct {
	mu      sync.Mutex
	now     func() time.Time
	keys    map[string]keyring.Key
	secrets map[string][]byte
	// revoked are the revoked sessions with their expiry.
	revoked map[string]time.Time
	reads   int
	// err, if not nil, is returned by all methods.
	err error
}

func newShelf(now func() time.Time) *shelf {
	return &shelf{now: now, keys: map[string]keyring.Key{}, secrets: map[string][]byte{}, revoked: map[string]time.Time{}}
}

func (s *shelf) AddKey(_ context.Context, k keyring.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.keys[k.ID] = k
	}
	return s.err
}

func (s *shelf) Keys(context.Context) ([]keyring.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	var out []keyring.Key
	for _, k := range s.keys {
		out = append(out, k)
	}
	return out, s.err
}

func (s *shelf) DropKeys(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, k := range s.keys {
		if !s.now().Before(k.Expires) {
			delete(s.keys, id)
		}
	}
	return s.err
}

func (s *shelf) Secret(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets[name] == nil {
		s.secrets[name] = []byte(rand.Text())
	}
	return s.secrets[name], s.err
}

func (s *shelf) RevokeSession(_ context.Context, id string, expires time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.revoked[id] = expires
	}
	return s.err
}

func (s *shelf) SessionRevoked(_ context.Context, id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.revoked[id]
	return ok && s.err == nil, s.err
}

func (s *shelf) DropSessions(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, expires := range s.revoked {
		if !s.now().Before(expires) {
			delete(s.revoked, id)
		}
	}
	return s.err
}

// fail sets the error of all methods; nil removes it.
func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// ids returns the ids of all keys.
func (s *shelf) ids() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]bool{}
	for id := range s.keys {
		out[id] = true
	}
	return out
}

var errGone = errors.Join(db.ErrUnavailable, errors.New("no such host"))

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Now().Truncate(time.Second)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// guests enables guest sign-in.
var guests = config.Auth{Guest: config.GuestProvider{Enabled: true}}

// newAuth returns an Auth, with defaults for missing options.
func newAuth(tb testing.TB, opts Options) *Auth {
	tb.Helper()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Keys == nil {
		opts.Keys = newShelf(opts.Now)
	}
	if opts.Sessions == nil {
		opts.Sessions = opts.Keys.(SessionStore)
	}
	opts.BaseURL = cmp.Or(opts.BaseURL, base)
	a, err := New(context.Background(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// guestToken returns the token of a guest.
func guestToken(tb testing.TB, a *Auth) string {
	tb.Helper()
	token, err := a.issue(context.Background(), a.guest)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// ask authenticates a request by the values of its Authorization header.
func ask(a *Auth, values ...string) (Caller, error) {
	r := httptest.NewRequest(http.MethodGet, "/api/catalog/entities", nil)
	for _, v := range values {
		r.Header.Add("Authorization", v)
	}
	return a.Authenticate(r)
}

// statusOf returns the status of an error.
func statusOf(tb testing.TB, err error) int {
	tb.Helper()
	if err == nil {
		return http.StatusOK
	}
	f, ok := errors.AsType[*rest.Fault](err)
	if !ok {
		tb.Fatalf("error is %T, want a fault: %v", err, err)
	}
	return f.Status
}

// serve returns the endpoints of an Auth.
func serve(tb testing.TB, a *Auth) http.Handler {
	tb.Helper()
	return serveLimited(tb, a, config.RateLimit{})
}

// serveLimited returns the endpoints of an Auth with a rate limit.
func serveLimited(tb testing.TB, a *Auth, limit config.RateLimit) http.Handler {
	tb.Helper()
	return httpd.New(httpd.Options{
		Plugins: []rest.Plugin{a.Plugin()}, RateLimit: limit, AllowedHosts: []string{"example.com"}, Now: time.Now, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	}).Handler()
}

// call sends a request and returns its response.
func call(tb testing.TB, h http.Handler, method, path string, body io.Reader) *httptest.ResponseRecorder {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, body))
	return w
}

// decode decodes a response.
func decode[T any](tb testing.TB, data []byte) T {
	tb.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatalf("response %s cannot be decoded: %v", data, err)
	}
	return v
}

// diary is a log that is safe for concurrent use.
type diary struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

func (d *diary) log() *slog.Logger {
	return slog.New(slog.NewJSONHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// signingKey returns the id of the key that signs now.
func signingKey(t *testing.T, a *Auth) string {
	t.Helper()
	s, err := a.ring.Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}
