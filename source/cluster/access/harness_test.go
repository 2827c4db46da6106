package access

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"example.dev/ingestor/source"
)

// marker is part of every secret in these tests, so that a leaked secret is
// found.
const marker = "hunter2"

// podToken is the path of a pod's service account token.
const podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// said is everything that was logged during the tests, by the standard logger
// and by that of the client library at its most verbose level.
var said logged

type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})))
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "v": "10"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(&said)
	code := m.Run()
	klog.Flush()
	if code == 0 && strings.Contains(said.String(), marker) {
		fmt.Fprintf(os.Stderr, "a secret was logged:\n%s\n", said.String())
		code = 1
	}
	os.Exit(code)
}

// checkNoSecrets checks that an error and the log contain no secret: neither one with
// the marker, nor one of those given.
func checkNoSecrets(t *testing.T, err error, secrets ...string) {
	t.Helper()
	klog.Flush()
	shown := []string{said.String(), err.Error()}
	for e := err; e != nil; e = errors.Unwrap(e) {
		shown = append(shown, fmt.Sprintf("%v %+v %#v %q", e, e, e, e))
	}
	if e, ok := errors.AsType[*Error](err); ok {
		shown = append(shown, e.Hint)
	}
	for _, text := range shown {
		for _, secret := range append(secrets, marker) {
			if strings.Contains(text, secret) {
				t.Errorf("secret is in %q", text)
			}
		}
	}
}

// api is a server that accepts some tokens and records all requests.
type api struct {
	URL string
	CA  []byte

	mu     sync.Mutex
	tokens []string
	bodies []string
	agent  string
}

// newAPI starts a server that answers requests whose token is accepted; nil
// accepts all.
func newAPI(t *testing.T, accept func(token string) bool) *api {
	a := &api{}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.tokens, a.bodies = append(a.tokens, token), append(a.bodies, string(body))
		a.agent = r.UserAgent()
		a.mu.Unlock()
		if accept != nil && !accept(token) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(srv.Close)
	a.URL = srv.URL
	a.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return a
}

// seen returns the tokens that the server received.
func (a *api) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.tokens...)
}

// only accepts one token.
func only(token string) func(string) bool { return func(t string) bool { return t == token } }

// open opens a cluster, which must succeed.
func open(t *testing.T, c source.Cluster) *Access {
	t.Helper()
	a, err := Open(c, "tests")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// get requests a path, and returns the status of the response.
func get(ctx context.Context, a *Access, path string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
	if err != nil {
		return 0, err
	}
	resp, err := a.Client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, errors.Join(err, resp.Body.Close())
}

// want requests a path, and checks the status of the response.
func want(t *testing.T, a *Access, status int) {
	t.Helper()
	if got, err := get(t.Context(), a, "/"); err != nil || got != status {
		t.Fatalf("server answered %d, %v, want %d", got, err, status)
	}
}

// write creates a file, in a folder of the test if the name is relative.
func write(t *testing.T, name, text string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// wait waits until a condition is true.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
