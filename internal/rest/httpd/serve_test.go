package httpd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/rest"
)

func TestRoutes(t *testing.T) {
	routes := []rest.Route{
		{Method: "GET", Path: "/named/{name}", Handle: textRoute(func(r *http.Request) string { return "name=" + r.PathValue("name") })},
		{Method: "GET", Path: "/url", Handle: textRoute(rest.URL)},
		{Method: "POST", Path: "/url", Handle: textRoute(func(*http.Request) string { return "posted" })},
		{Method: "GET", Path: "/public", Public: true, Handle: textRoute(func(*http.Request) string { return "public" })},
	}
	_, hs := start(t, Options{Extra: map[string]http.Handler{
		"GET /page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }),
	}}, routes...)
	fault := func(method, url string, status int, name, message string) string {
		return fmt.Sprintf(`{"error":{"name":%q,"message":%q},"request":{"method":%q,"url":%q},"response":{"statusCode":%d}}`,
			name, message, method, url, status)
	}
	nothing := func(url string) string { return fault("GET", url, 404, "NotFoundError", "Nothing found at "+url) }
	cases := map[string]struct {
		reason  string
		method  string
		path    string
		headers []string
		status  int
		allow   string
		want    string
	}{
		"Name":         {"A path has parameters.", "GET", "/api/things/named/a", []string{signedIn}, 200, "", "name=a"},
		"OtherName":    {"A plugin may have two names.", "GET", "/api/stuff/named/a", []string{signedIn}, 200, "", "name=a"},
		"Slash":        {"An escaped slash is part of a name.", "GET", "/api/things/named/a%2Fb", []string{signedIn}, 200, "", "name=a/b"},
		"Percent":      {"An escaped percent sign is part of a name.", "GET", "/api/things/named/100%25", []string{signedIn}, 200, "", "name=100%"},
		"Twice":        {"A name is unescaped once.", "GET", "/api/things/named/a%252Fb", []string{signedIn}, 200, "", "name=a%2Fb"},
		"Unicode":      {"A name may have any script.", "GET", "/api/things/named/" + "%E2%98%83", []string{signedIn}, 200, "", "name=☃"},
		"Dots":         {"Escaped dots are a name.", "GET", "/api/things/named/%2e%2e", []string{signedIn}, 200, "", "name=.."},
		"Nul":          {"A name may contain NUL.", "GET", "/api/things/named/%00", []string{signedIn}, 200, "", "name=\x00"},
		"Long":         {"A name may be long.", "GET", "/api/things/named/" + strings.Repeat("x", 30000), []string{signedIn}, 200, "", "name=" + strings.Repeat("x", 30000)},
		"LastSlash":    {"A trailing slash is ignored.", "GET", "/api/things/named/a/", []string{signedIn}, 200, "", "name=a"},
		"LastEscaped":  {"An escaped trailing slash is part of the name.", "GET", "/api/things/named/a%2F", []string{signedIn}, 200, "", "name=a/"},
		"URL":          {"The URL of a request is relative to the plugin.", "GET", "/api/things/url?a=b%20c", []string{signedIn}, 200, "", "/url?a=b%20c"},
		"DoubleSlash":  {"A double slash is not redirected, as clients do not follow redirects.", "GET", "/api/things//named/a", []string{signedIn}, 404, "", nothing("//named/a")},
		"Parent":       {"Dots are not redirected.", "GET", "/api/things/x/../named/a", []string{signedIn}, 404, "", nothing("/x/../named/a")},
		"Unknown":      {"An error has the format of Backstage.", "GET", "/api/things/nosuch?x=1", []string{signedIn}, 404, "", nothing("/nosuch?x=1")},
		"Root":         {"The root of a plugin is not found.", "GET", "/api/things", []string{signedIn}, 404, "", nothing("/")},
		"NoPlugin":     {"An unknown plugin is not found.", "GET", "/api/nosuch/x", nil, 404, "", nothing("/x")},
		"Outside":      {"The path of an error outside plugins is complete.", "GET", "/nosuch", nil, 404, "", nothing("/nosuch")},
		"Method":       {"A wrong method is refused with the allowed ones.", "DELETE", "/api/things/url", []string{signedIn}, 405, "GET, HEAD, POST", fault("DELETE", "/url", 405, "MethodNotAllowedError", "Method DELETE is not allowed; use GET, HEAD, POST")},
		"OddMethod":    {"An unknown method is refused.", "BREW", "/api/things/url", []string{signedIn}, 405, "GET, HEAD, POST", fault("BREW", "/url", 405, "MethodNotAllowedError", "Method BREW is not allowed; use GET, HEAD, POST")},
		"Anonymous":    {"Credentials are required.", "GET", "/api/things/url", nil, 401, "", fault("GET", "/url", 401, "AuthenticationError", "Missing credentials")},
		"BadToken":     {"An invalid token is refused.", "GET", "/api/things/url", []string{"Authorization: Bearer bad"}, 403, "", fault("GET", "/url", 403, "NotAllowedError", "Illegal token")},
		"NobodyLost":   {"Without credentials, unknown paths are 401.", "GET", "/api/things/nosuch", nil, 401, "", fault("GET", "/nosuch", 401, "AuthenticationError", "Missing credentials")},
		"NobodyMethod": {"Without credentials, wrong methods are 401.", "DELETE", "/api/things/url", nil, 401, "", fault("DELETE", "/url", 401, "AuthenticationError", "Missing credentials")},
		"Public":       {"A public route ignores credentials.", "GET", "/api/things/public", []string{"Authorization: Bearer bad"}, 200, "", "public"},
		"Head":         {"HEAD is accepted where GET is.", "HEAD", "/api/things/named/a", []string{signedIn}, 200, "", ""},
		"Page":         {"Pages can be routes beside plugins.", "GET", "/page", nil, 200, "", "page"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, hs, tc.method, tc.path, "", tc.headers...)
			if got.StatusCode != tc.status {
				t.Errorf("%s: status is %d", tc.reason, got.StatusCode)
			}
			if diff := cmp.Diff(tc.want, got.body); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if allow := got.Header.Get("Allow"); allow != tc.allow {
				t.Errorf("%s: Allow is %q", tc.reason, allow)
			}
			if tc.method == "HEAD" && got.ContentLength != int64(len("name=a")) {
				t.Errorf("%s: Content-Length is %d", tc.reason, got.ContentLength)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	secret := errors.New("the password is hunter2")
	cases := map[string]struct {
		reason  string
		handle  rest.Handler
		status  int
		message string
		retry   string
		logged  string
	}{
		"Input": {"A fault is returned unchanged.", func(http.ResponseWriter, *http.Request) error { return rest.Input("wrong %s", "x") },
			400, "wrong x", "", ""},
		"Wrapped": {"A fault may be wrapped.", func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("cannot: %w", rest.Conflict("there is one"))
		}, 409, "there is one", "", ""},
		"Other": {"Any other error is an internal error without details.", func(http.ResponseWriter, *http.Request) error { return secret },
			500, "Internal server error; see the server log for the request id of this response", "", "request failed"},
		"Panic": {"A panic is an internal error without details.", func(http.ResponseWriter, *http.Request) error { panic(secret) },
			500, "Internal server error; see the server log for the request id of this response", "", "request panicked"},
		"Unavailable": {"An outage of the database is 503.", func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("%w: %w", db.ErrUnavailable, secret)
		}, 503, "The database is not available, try again later", "5", "request failed"},
		"TooMany": {"Retry-After is rounded up.", func(http.ResponseWriter, *http.Request) error { return rest.TooMany(1200 * time.Millisecond) },
			429, "Too many requests, try again later", "2", ""},
		"Timeout": {"A timeout is 503.", func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		}, 503, "The request took too long, try again later", "5", "request failed"},
		"Headers": {"A fault removes the headers of the response it replaces.", func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Content-Length", "3")
			w.Header().Set("Content-Encoding", "gzip")
			return rest.NotFound("gone")
		}, 404, "gone", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var log lines
			_, hs := start(t, Options{Log: log.logger(slog.LevelInfo)}, rest.Route{Method: "GET", Path: "/x", Public: true, Handle: tc.handle, Timeout: 50 * time.Millisecond})
			got := ask(t, hs, "GET", "/api/things/x", "")
			if got.StatusCode != tc.status || !strings.Contains(got.body, `"message":"`+tc.message+`"`) {
				t.Errorf("%s: response is %d %s", tc.reason, got.StatusCode, got.body)
			}
			if strings.Contains(got.body, "hunter2") {
				t.Errorf("%s: body contains the cause", tc.reason)
			}
			if got.Header.Get("Retry-After") != tc.retry || got.Header.Get("ETag") != "" {
				t.Errorf("%s: headers are %v", tc.reason, got.Header)
			}
			log.find(t, "request")
			if tc.logged != "" {
				line := log.find(t, tc.logged)
				if line["id"] != got.Header.Get("X-Request-Id") {
					t.Errorf("%s: id of the log line is %v", tc.reason, line["id"])
				}
			} else if strings.Contains(log.String(), "failed") {
				t.Errorf("%s: client error was logged:\n%s", tc.reason, &log)
			}
		})
	}
}

func TestAbort(t *testing.T) {
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	}
	cases := map[string]struct {
		reason string
		handle rest.Handler
	}{
		"Error": {"An error after the first write aborts the response.", func(w http.ResponseWriter, _ *http.Request) error {
			begin(w)
			return errors.New("x")
		}},
		"Panic": {"A panic after the first write aborts the response.", func(w http.ResponseWriter, _ *http.Request) error {
			begin(w)
			panic("x")
		}},
		"Abort": {"A handler may abort the response.", func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var log lines
			_, hs := start(t, Options{Log: log.logger(slog.LevelInfo)},
				rest.Route{Method: "GET", Path: "/x", Public: true, Handle: tc.handle},
				rest.Route{Method: "GET", Path: "/ok", Public: true, Handle: textRoute(func(*http.Request) string { return "ok" })})
			res, err := http.Get(hs.URL + "/api/things/x")
			if err == nil {
				var b [200]byte
				for err == nil {
					_, err = res.Body.Read(b[:])
				}
				res.Body.Close()
				if err.Error() != "unexpected EOF" {
					t.Errorf("%s: body ends with %v", tc.reason, err)
				}
			}
			if line := log.find(t, "request"); line["aborted"] != true {
				t.Errorf("%s: log line is %v", tc.reason, line)
			}
			if got := ask(t, hs, "GET", "/api/things/ok", ""); got.body != "ok" {
				t.Errorf("%s: next request returned %s", tc.reason, got.body)
			}
		})
	}
}

func TestClientGone(t *testing.T) {
	var log lines
	entered := make(chan struct{})
	_, hs := start(t, Options{Log: log.logger(slog.LevelInfo)}, rest.Route{Method: "GET", Path: "/x", Public: true,
		Handle: func(_ http.ResponseWriter, r *http.Request) error {
			close(entered)
			<-r.Context().Done()
			return fmt.Errorf("cannot read: %w", r.Context().Err())
		}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, "GET", hs.URL+"/api/things/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := hs.Client().Do(req); err == nil {
		res.Body.Close()
		t.Fatal("cancelled request got a response")
	}
	if line := log.find(t, "request"); line["status"] != float64(clientGone) {
		t.Errorf("log line is %v", line)
	}
	if strings.Contains(log.String(), "failed") {
		t.Errorf("cancelled request was logged as a failure:\n%s", &log)
	}
}

func TestRequestID(t *testing.T) {
	made := regexp.MustCompile(`^[A-Z2-7]{26}$`)
	cases := map[string]struct {
		reason string
		given  string
		kept   bool
	}{
		"None":    {"A request without an id gets one.", "", false},
		"Given":   {"An id of the client is kept.", "7f3a-42.b:c/d", true},
		"Space":   {"An id with spaces is replaced.", "a b", false},
		"Newline": {"An id that is not ASCII is replaced.", "\u2028", false},
		"Long":    {"A long id is replaced.", strings.Repeat("a", 129), false},
	}
	_, hs := start(t, Options{}, rest.Route{Method: "GET", Path: "/id", Public: true, Handle: textRoute(func(r *http.Request) string { return rest.RequestID(r.Context()) })})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, hs, "GET", "/api/things/id", "", "X-Request-Id: "+tc.given)
			id := got.Header.Get("X-Request-Id")
			if id != got.body || (id == tc.given) != tc.kept || !tc.kept && !made.MatchString(id) {
				t.Errorf("%s: id is %q", tc.reason, id)
			}
		})
	}
}

// TestGuests sends requests without credentials to routes for guests.
func TestGuests(t *testing.T) {
	name := textRoute(func(r *http.Request) string { return r.Context().Value(subjectKey{}).(string) })
	routes := []rest.Route{{Method: "GET", Path: "/open", Guests: true, Handle: name}, {Method: "GET", Path: "/shut", Handle: name}}
	guest := func(in bool) func(*http.Request) (context.Context, bool) {
		return func(r *http.Request) (context.Context, bool) {
			return context.WithValue(r.Context(), subjectKey{}, "guest"), in
		}
	}
	cases := map[string]struct {
		reason string
		in     bool
		path   string
		header []string
		status int
		body   string
	}{
		"Guest":  {"A caller without credentials is a guest.", true, "/open", nil, 200, "guest"},
		"Known":  {"A caller with a token is not a guest.", true, "/open", []string{signedIn}, 200, "ada"},
		"Bad":    {"An invalid token is refused.", true, "/open", []string{"Authorization: Bearer bad"}, 403, ""},
		"NotIn":  {"Without guests enabled, credentials are required.", false, "/open", nil, 401, ""},
		"Others": {"Other routes require credentials.", true, "/shut", nil, 401, ""},
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			_, hs := start(t, Options{Guest: guest(tc.in)}, routes...)
			got := ask(t, hs, "GET", "/api/things"+tc.path, "", tc.header...)
			if got.StatusCode != tc.status || tc.body != "" && got.body != tc.body {
				t.Errorf("%s: response is %d %s", tc.reason, got.StatusCode, got.body)
			}
		})
	}
}

func TestAccessLog(t *testing.T) {
	var log lines
	_, hs := start(t, Options{Log: log.logger(slog.LevelInfo)}, rest.Route{Method: "GET", Path: "/x", Handle: textRoute(func(*http.Request) string { return "12345" })})
	got := ask(t, hs, "GET", "/api/things/x?token=hunter2", "", signedIn)
	line := log.find(t, "request")
	delete(line, "time")
	if d, ok := line["milliseconds"].(float64); !ok || d <= 0 {
		t.Errorf("milliseconds of the log line are %v", line["milliseconds"])
	}
	delete(line, "milliseconds")
	want := map[string]any{"level": "INFO", "msg": "request", "method": "GET", "path": "/api/things/x", "status": 200.0,
		"bytes": 5.0, "client": "127.0.0.1", "id": got.Header.Get("X-Request-Id"), "caller": "ada"}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Error("log contains the query")
	}
}

func TestSecurityHeaders(t *testing.T) {
	page := map[string]http.Handler{"GET /page": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	cases := map[string]struct {
		reason string
		base   string
		path   string
		want   map[string]string
	}{
		"Plain": {"An HTTP server has no Strict-Transport-Security header.", "http://localhost", "/api/things/nosuch", map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"Strict-Transport-Security": "", "Server": "", "X-Powered-By": "",
		}},
		"Encrypted": {"An HTTPS server has a Strict-Transport-Security header.", "https://portal.example.org", "/api/things/nosuch", map[string]string{
			"Strict-Transport-Security": "max-age=15552000; includeSubDomains",
		}},
		"Page": {"A page sets its own policy.", "", "/page", map[string]string{
			"Content-Security-Policy": "", "X-Frame-Options": "SAMEORIGIN",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, hs := start(t, Options{BaseURL: tc.base, Extra: page})
			got := ask(t, hs, "GET", tc.path, "")
			for key, want := range tc.want {
				if is := got.Header.Get(key); is != want {
					t.Errorf("%s: %s is %q, want %q", tc.reason, key, is, want)
				}
			}
		})
	}
}
