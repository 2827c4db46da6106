package portal

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// closedAddress returns an address without a listener.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // No connection is expected.
	return l.Addr().String()
}

// TestUnreachable checks that the error says why the portal cannot be reached,
// and that nothing was changed.
func TestUnreachable(t *testing.T) {
	plain, sealed := newStage(t, always(http.StatusOK, `{}`)), httptest.NewUnstartedServer(http.NotFoundHandler())
	sealed.Config.ErrorLog = log.New(io.Discard, "", 0)
	sealed.StartTLS()
	defer sealed.Close()
	through := func(proxy string) *http.Client {
		return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})}}
	}
	cases := map[string]struct {
		reason  string
		address string
		http    *http.Client
		problem Problem
		err     string
		hint    string
	}{
		"Down":      {"A portal without a listener is unreachable.", "http://" + closedAddress(t), nil, Unreachable, "refused", "check that it is running"},
		"Proxy":     {"A proxy without a listener is reported.", plain.URL, through(closedAddress(t)), Unreachable, "proxyconnect", "NO_PROXY"},
		"Authority": {"A certificate of an unknown authority is refused.", sealed.URL, nil, Unreachable, "certificate", "--ca-file"},
		"Plain":     {"A portal without TLS is reported.", "https" + strings.TrimPrefix(plain.URL, "http"), nil, Unreachable, "HTTP response to HTTPS client", "http://"},
		"Sealed":    {"A portal that requires TLS is reported.", "http" + strings.TrimPrefix(sealed.URL, "https"), nil, Invalid, "400 Bad Request", "https://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, tc.address, Options{HTTP: tc.http, Retries: 1}).Push(t.Context(), strings.NewReader("one\n"), PushOptions{})
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Problem != tc.problem || e.Unsure || !strings.Contains(err.Error(), tc.err) || !strings.Contains(e.Hint(), tc.hint) {
				t.Errorf("%s\ngot %+v, want problem %d, %q, %q", tc.reason, err, tc.problem, tc.err, tc.hint)
			}
		})
	}
	if n := len(plain.requests()); n != 0 {
		t.Errorf("portal was asked %d times", n)
	}
}

// TestHang checks that a request ends at its timeout or when it is cancelled,
// and that a slow portal is not asked again.
func TestHang(t *testing.T) {
	release := make(chan struct{})
	s := newStage(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	p := open(t, s.URL, Options{Timeout: 500 * time.Millisecond})
	_, err := p.Push(t.Context(), strings.NewReader("one\n"), PushOptions{})
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Problem != Interrupted || !e.Unsure || !strings.Contains(err.Error(), "no response within 500ms") || !strings.Contains(e.Hint(), "--timeout") {
		t.Errorf("got %v", err)
	}
	_, err = p.Count(t.Context())
	if e, ok := errors.AsType[*Error](err); !ok || e.Unsure {
		t.Errorf("got %v, want an error which says that a read changes nothing", err)
	}
	asked := len(s.requests())
	if asked > 2 {
		t.Errorf("portal was asked %d times, want each request once", asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(s.requests()) == asked {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := open(t, s.URL, Options{}).Count(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancellation", err)
	}
}
