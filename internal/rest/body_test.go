package rest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// form is a body with a bit of everything.
type form struct {
	Type   string `json:"type"`
	Limit  int    `json:"limit"`
	Nested struct {
		List []string `json:"list"`
		On   *bool    `json:"on"`
	} `json:"nested"`
}

func TestReadJSON(t *testing.T) {
	cases := map[string]struct {
		reason string
		body   string
		want   string
	}{
		"Fine":     {"nothing is wrong", `{"type":"x","limit":3,"nested":{"list":["a"],"on":true}}`, ""},
		"Unknown":  {"what is not known is passed over", `{"other":1}`, ""},
		"Empty":    {"nothing is no JSON", "", "request/body is required and must be JSON, and it is empty"},
		"Blank":    {"nor is white space", " \n", "request/body is required and must be JSON, and it is empty"},
		"Open":     {"the end is where it is wrong", "{", "Unexpected end in JSON at position 1 (line 1 column 2)"},
		"Line":     {"the line is counted", "{\n  \"type\": x}", "Invalid character 'x' looking for beginning of value in JSON at position 12 (line 2 column 11)"},
		"Behind":   {"one value, and nothing behind it", `{} {}`, "Invalid character '{' after top-level value in JSON at position 3 (line 1 column 4)"},
		"List":     {"the whole is of another type", `[]`, "request/body must be object, and not array"},
		"Text":     {"the whole is of another type", `"x"`, "request/body must be object, and not string"},
		"Field":    {"a field is", `{"type":1}`, "request/body/type must be string, and not number"},
		"Integer":  {"a fraction is no integer", `{"limit":1.5}`, "request/body/limit must be integer, and not number 1.5"},
		"Huge":     {"nor is what does not fit", `{"limit":1e99}`, "request/body/limit must be integer, and not number 1e99"},
		"Deep":     {"the way to a field is shown", `{"nested":{"list":{}}}`, "request/body/nested/list must be array, and not object"},
		"Item":     {"that to an item, too", `{"nested":{"list":[true]}}`, "request/body/nested/list must be string, and not bool"},
		"Pointer":  {"a field that may be missing has a type", `{"nested":{"on":"yes"}}`, "request/body/nested/on must be boolean, and not string"},
		"HTML":     {"what is no JSON at all", "<html>", "Invalid character '<' looking for beginning of value in JSON at position 0 (line 1 column 1)"},
		"VeryDeep": {"depth has a bound", strings.Repeat("[", 20000), "Invalid character '[' exceeded max depth in JSON at position 10000 (line 1 column 10001)"},
		"ByteMark": {"a byte order mark is not white space", "\ufeff{}", "Invalid character 'ï' looking for beginning of value in JSON at position 0 (line 1 column 1)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var v form
			err := ReadJSON(httptest.NewRequest("POST", "/", strings.NewReader(tc.body)), &v)
			got := ""
			if err != nil {
				got = err.Error()
				if f, ok := errors.AsType[*Fault](err); !ok || f.Status != 400 {
					t.Errorf("%s: %#v", tc.reason, err)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add("{\n\"type\":}")
	f.Add(`{"nested":{"list":[1]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		var v form
		err := DecodeJSON([]byte(s), &v)
		if fault, ok := errors.AsType[*Fault](err); err != nil && (!ok || fault.Status != 400) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

// length is a handler that answers with the size of the body.
func length(w http.ResponseWriter, r *http.Request) error {
	data, err := ReadBody(r)
	if err != nil {
		return err
	}
	return WriteJSON(w, r, http.StatusOK, len(data))
}

func TestBodyLimit(t *testing.T) {
	_, hs := start(t, Options{MaxBody: 1000},
		Route{Method: "POST", Path: "/small", Public: true, Handle: length},
		Route{Method: "POST", Path: "/large", Public: true, Handle: length, MaxBody: 20 << 20},
		Route{Method: "POST", Path: "/unread", Public: true, Handle: textRoute(func(*http.Request) string { return "unread" })})
	cases := map[string]struct {
		reason string
		path   string
		size   int
		// chunked bodies do not say how long they are.
		chunked bool
		status  int
	}{
		"Just":        {"as much as is allowed", "/small", 1000, false, 200},
		"JustChunked": {"as much as is allowed", "/small", 1000, true, 200},
		"Over":        {"a byte more is refused", "/small", 1001, false, 413},
		"OverChunked": {"even if it is found only when reading", "/small", 1001, true, 413},
		"Huge":        {"however much it is", "/small", 10 << 20, false, 413},
		"HugeChunked": {"however much it is", "/small", 10 << 20, true, 413},
		"Large":       {"a route may have a limit of its own", "/large", 10 << 20, false, 200},
		"Lost":        {"what fits no route has the limit, too", "/nosuch", 10 << 20, false, 413},
		"Unread":      {"a body that nobody reads does no harm", "/unread", 900, true, 200},
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
			// With this the client waits for leave, so that a refusal is
			// not lost under what is still being sent.
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
				t.Errorf("%s: %d %s", tc.reason, res.StatusCode, got)
			}
			if tc.status == 413 && !strings.Contains(string(got), `"PayloadTooLargeError","message":"The body has more than 1000 bytes"`) {
				t.Errorf("%s: %s", tc.reason, got)
			}
		})
	}
}

// dial opens a connection and sends the text.
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
		Route{Method: "POST", Path: "/read", Public: true, Handle: length, Timeout: 100 * time.Millisecond},
		Route{Method: "POST", Path: "/unread", Public: true, Timeout: 100 * time.Millisecond,
			Handle: textRoute(func(*http.Request) string { return "unread" })},
		// A body that has come in leaves the handler its time.
		Route{Method: "POST", Path: "/wait", Public: true, Timeout: 10 * time.Second, Handle: func(w http.ResponseWriter, r *http.Request) error {
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
		"Read":   {"a body that does not come is not waited for", "/read", "x", "HTTP/1.1 408 "},
		"Unread": {"nor drained for ever", "/unread", "x", "HTTP/1.1 200 "},
		"Whole":  {"a body that has come is no trouble", "/wait", "0123456789", "HTTP/1.1 200 "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := dial(t, hs, fmt.Sprintf("POST /api/things%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n%s", tc.path, tc.body))
			got, err := io.ReadAll(c)
			if err != nil {
				t.Fatalf("%s: the connection stays open: %v", tc.reason, err)
			}
			if !strings.HasPrefix(string(got), tc.want) {
				t.Errorf("%s: %s", tc.reason, got)
			}
		})
	}
}

// TestBodyProgress sends bodies that take longer than a client is waited for.
func TestBodyProgress(t *testing.T) {
	s, hs := start(t, Options{}, Route{Method: "POST", Path: "/read", Public: true, Handle: length, MaxBody: 1 << 20})
	s.bodyTimeout = 300 * time.Millisecond
	cases := map[string]struct {
		reason string
		piece  int
		want   string
	}{
		"Steady":  {"a body that comes steadily takes its time", 8 << 10, "HTTP/1.1 200 "},
		"Trickle": {"a byte now and then is not progress", 1, "HTTP/1.1 408 "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const pieces = 8
			c := dial(t, hs, fmt.Sprintf("POST /api/things/read HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", pieces*tc.piece))
			for range pieces {
				time.Sleep(100 * time.Millisecond)
				// The server may have hung up by now.
				_, _ = io.WriteString(c, strings.Repeat("x", tc.piece))
			}
			got, err := io.ReadAll(c)
			if err != nil && len(got) == 0 {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if !strings.HasPrefix(string(got), tc.want) {
				t.Errorf("%s: %s", tc.reason, got)
			}
		})
	}
}

func TestCutBody(t *testing.T) {
	var log lines
	_, hs := start(t, Options{Log: log.logger(-4)}, Route{Method: "POST", Path: "/read", Public: true, Handle: length})
	c := dial(t, hs, "POST /api/things/read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if line := log.find(t, "request"); line["status"] == 200.0 || line["status"] == 500.0 {
		t.Errorf("got %v", line)
	}
}

func TestGarbage(t *testing.T) {
	_, hs := start(t, Options{}, Route{Method: "GET", Path: "/x", Public: true, Handle: textRoute(func(*http.Request) string { return "fine" })})
	const good = "GET /api/things/x HTTP/1.1\r\nHost: x\r\n\r\n"
	cases := map[string]struct {
		reason string
		send   string
		want   []string
	}{
		"Binary":      {"what is no HTTP", "\x16\x03\x01\x02\x00garbage\r\n\r\n", []string{"400"}},
		"BehindGood":  {"garbage behind a request leaves its answer", good + "garbage\r\n\r\n", []string{"200", "400"}},
		"Pipelined":   {"requests may come all at once", good + good + good, []string{"200", "200", "200"}},
		"NoHost":      {"a request has a host", "GET /api/things/x HTTP/1.1\r\n\r\n", []string{"400"}},
		"BadEscape":   {"an escape is whole", "GET /api/things/%zz HTTP/1.1\r\nHost: x\r\n\r\n", []string{"400"}},
		"LongURL":     {"an address has a bound", "GET /api/things/" + strings.Repeat("x", 200<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n", []string{"431"}},
		"LongHeader":  {"so have headers", "GET /api/things/x HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 200<<10) + "\r\n\r\n", []string{"431"}},
		"TwoLengths":  {"two lengths are a trick", "POST /api/things/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", []string{"400"}},
		"Absolute":    {"an address may be absolute", "GET http://x/api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"200"}},
		"Elsewhere":   {"and then it names the host", "GET http://other/api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"421"}},
		"Asterisk":    {"a star is no path", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", []string{"400"}},
		"Connect":     {"this is no proxy", "CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n", []string{"421"}},
		"ConnectPath": {"not for paths either", "CONNECT /api/things/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"405"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := dial(t, hs, "")
			go func() { _, _ = io.WriteString(c, tc.send) }()
			r := bufio.NewReader(c)
			for i, want := range tc.want {
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatalf("%s: response %d: %v", tc.reason, i, err)
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil && want != "431" {
					t.Errorf("%s: response %d: %v", tc.reason, i, err)
				}
				if got := res.Status[:3]; got != want {
					t.Errorf("%s: response %d is %s, want %s", tc.reason, i, got, want)
				}
			}
		})
	}
}
