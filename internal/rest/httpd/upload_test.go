package httpd

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.dev/ingestor/internal/rest"
)

// length returns a handler that responds with the size of the body.
func length(w http.ResponseWriter, r *http.Request) error {
	data, err := rest.ReadBody(r)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, len(data))
}

func TestBodyLimit(t *testing.T) {
	_, hs := start(t, Options{MaxBody: 1000},
		rest.Route{Method: "POST", Path: "/small", Public: true, Handle: length},
		rest.Route{Method: "POST", Path: "/large", Public: true, Handle: length, MaxBody: 20 << 20},
		rest.Route{Method: "POST", Path: "/unread", Public: true, Handle: textRoute(func(*http.Request) string { return "unread" })})
	cases := map[string]struct {
		reason string
		path   string
		size   int
		// chunked bodies have no Content-Length.
		chunked bool
		status  int
	}{
		"Just":        {"A body of the maximum size is accepted.", "/small", 1000, false, 200},
		"JustChunked": {"A chunked body of the maximum size is accepted.", "/small", 1000, true, 200},
		"Over":        {"A body above the maximum size is refused.", "/small", 1001, false, 413},
		"OverChunked": {"A chunked body above the maximum size is refused.", "/small", 1001, true, 413},
		"Huge":        {"A large body is refused.", "/small", 10 << 20, false, 413},
		"HugeChunked": {"A large chunked body is refused.", "/small", 10 << 20, true, 413},
		"Large":       {"A route may have its own limit.", "/large", 10 << 20, false, 200},
		"Lost":        {"The limit applies to unknown routes too.", "/nosuch", 10 << 20, false, 413},
		"Unread":      {"A body that the handler does not read does no harm.", "/unread", 900, true, 200},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var body io.Reader = strings.NewReader(strings.Repeat("x", tc.size))
			if tc.chunked {
				body = struct{ io.Reader }{body}
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", hs.URL+"/api/things"+tc.path, body)
			if err != nil {
				t.Fatal(err)
			}
			// The client waits for the server's consent, so that a refusal is not lost while
			// it is still sending.
			req.Header.Set("Expect", "100-continue")
			tr := &http.Transport{ExpectContinueTimeout: 20 * time.Second}
			defer tr.CloseIdleConnections()
			res, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tc.status {
				t.Errorf("%s: response is %d %s", tc.reason, res.StatusCode, got)
			}
			if tc.status == 413 && !strings.Contains(string(got), `"PayloadTooLargeError","message":"The body has more than 1000 bytes"`) {
				t.Errorf("%s: response is %s", tc.reason, got)
			}
		})
	}
}

// dial opens a connection and sends a text.
func dial(t *testing.T, hs *httptest.Server, send string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", hs.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlowBody(t *testing.T) {
	_, hs := start(t, Options{},
		rest.Route{Method: "POST", Path: "/read", Public: true, Handle: length, Timeout: 100 * time.Millisecond},
		rest.Route{Method: "POST", Path: "/unread", Public: true, Timeout: 100 * time.Millisecond,
			Handle: textRoute(func(*http.Request) string { return "unread" })},
		// The time of the handler does not start before the body has arrived.
		rest.Route{Method: "POST", Path: "/wait", Public: true, Timeout: 10 * time.Second, Handle: func(w http.ResponseWriter, r *http.Request) error {
			if err := length(w, r); err != nil {
				return err
			}
			return r.Context().Err()
		}})
	cases := map[string]struct {
		reason string
		path   string
		body   string
		want   string
	}{
		"Read":   {"A body that does not arrive times out.", "/read", "x", "HTTP/1.1 408 "},
		"Unread": {"A body that is not read is not drained forever.", "/unread", "x", "HTTP/1.1 200 "},
		"Whole":  {"A body that has arrived is accepted.", "/wait", "0123456789", "HTTP/1.1 200 "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := dial(t, hs, fmt.Sprintf("POST /api/things%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n%s", tc.path, tc.body))
			got, err := io.ReadAll(c)
			if err != nil {
				t.Fatalf("%s: connection stays open: %v", tc.reason, err)
			}
			if !strings.HasPrefix(string(got), tc.want) {
				t.Errorf("%s: response is %s", tc.reason, got)
			}
		})
	}
}

// TestBodyProgress sends bodies that take longer than the timeout. The clock is that of
// the bubble, so that a busy machine does not count as a slow client.
func TestBodyProgress(t *testing.T) {
	cases := map[string]struct {
		reason string
		piece  int
		want   string
	}{
		"Steady":  {"A body that arrives steadily is accepted.", 256 << 10, "HTTP/1.1 200 "},
		"Slow":    {"A body below the minimum rate is refused.", 64 << 10, "HTTP/1.1 408 "},
		"Trickle": {"A byte now and then is not progress.", 1, "HTTP/1.1 408 "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipe(t, rest.Route{Method: "POST", Path: "/read", Public: true, Handle: length, MaxBody: 10 << 20})
				response := make(chan string, 1)
				go func() {
					got, _ := io.ReadAll(c)
					response <- string(got)
				}()
				const pieces = 8
				_, err := fmt.Fprintf(c, "POST /api/things/read HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", pieces*tc.piece)
				for range pieces {
					if err == nil {
						time.Sleep(bodyTimeout / 3)
						// The server closes the connection of a slow client.
						_, err = io.WriteString(c, strings.Repeat("x", tc.piece))
					}
				}
				if got := <-response; !strings.HasPrefix(got, tc.want) {
					t.Errorf("%s: response is %s", tc.reason, got)
				}
			})
		})
	}
}

// pipe starts a server on one end of a pipe and returns the other.
func pipe(t *testing.T, routes ...rest.Route) net.Conn {
	t.Helper()
	s := New(fill(Options{Plugins: []rest.Plugin{{Names: []string{"things"}, Routes: routes}}}))
	client, server := net.Pipe()
	l := oneConn{make(chan net.Conn, 1)}
	l.conns <- server
	hs := &http.Server{Handler: s.Handler()} //nolint:gosec // The test is about the time of bodies.
	go func() { _ = hs.Serve(l) }()
	t.Cleanup(func() {
		_ = client.Close()
		_ = hs.Close()
	})
	return client
}

// oneConn is a listener that accepts the connections of a channel.
type oneConn struct{ conns chan net.Conn }

func (l oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l oneConn) Close() error {
	close(l.conns)
	return nil
}

func (l oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func TestCutBody(t *testing.T) {
	var log lines
	_, hs := start(t, Options{Log: log.logger(-4)}, rest.Route{Method: "POST", Path: "/read", Public: true, Handle: length})
	c := dial(t, hs, "POST /api/things/read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if line := log.find(t, "request"); line["status"] == 200.0 || line["status"] == 500.0 {
		t.Errorf("log line is %v", line)
	}
}

func TestGarbage(t *testing.T) {
	_, hs := start(t, Options{}, rest.Route{Method: "GET", Path: "/x", Public: true, Handle: textRoute(func(*http.Request) string { return "fine" })})
	const good = "GET /api/things/x HTTP/1.1\r\nHost: x\r\n\r\n"
	cases := map[string]struct {
		reason string
		send   string
		want   []string
	}{
		"Binary":      {"A text that is not HTTP is refused.", "\x16\x03\x01\x02\x00garbage\r\n\r\n", []string{"400"}},
		"BehindGood":  {"Garbage after a request does not affect its response.", good + "garbage\r\n\r\n", []string{"200", "400"}},
		"Pipelined":   {"Requests can be pipelined.", good + good + good, []string{"200", "200", "200"}},
		"NoHost":      {"A request needs a host.", "GET /api/things/x HTTP/1.1\r\n\r\n", []string{"400"}},
		"BadEscape":   {"An invalid escape is refused.", "GET /api/things/%zz HTTP/1.1\r\nHost: x\r\n\r\n", []string{"400"}},
		"LongURL":     {"The length of a URL is limited.", "GET /api/things/" + strings.Repeat("x", 200<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", []string{"431"}},
		"LongHeader":  {"The size of headers is limited.", "GET /api/things/x HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 200<<10) + "\r\n\r\n", []string{"431"}},
		"TwoLengths":  {"Two lengths are refused.", "POST /api/things/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", []string{"400"}},
		"Absolute":    {"A URL may be absolute.", "GET http://x/api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"200"}},
		"Elsewhere":   {"The host of an absolute URL is checked.", "GET http://other/api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"421"}},
		"Asterisk":    {"A star is not a path.", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", []string{"400"}},
		"Connect":     {"CONNECT to another host is refused.", "CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n", []string{"421"}},
		"ConnectPath": {"CONNECT to a path is refused.", "CONNECT /api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"405"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := dial(t, hs, "")
			go func() { _, _ = io.WriteString(c, tc.send) }()
			r := bufio.NewReader(c)
			for i, want := range tc.want {
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatalf("%s: response %d returned %v", tc.reason, i, err)
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil && want != "431" {
					t.Errorf("%s: response %d returned %v", tc.reason, i, err)
				}
				if got := res.Status[:3]; got != want {
					t.Errorf("%s: response %d is %s, want %s", tc.reason, i, got, want)
				}
			}
		})
	}
}
