package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.dev/ingestor/internal/rest"
)

func TestPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "the page")
	})
	_, hs := start(t, Options{Page: page, Extra: map[string]http.Handler{
		"GET /extra": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "extra") }),
	}}, rest.Route{Method: "GET", Path: "/url", Handle: textRoute(rest.URL)}, rest.Route{Method: "POST", Path: "/posted", Handle: textRoute(rest.URL)})
	cases := map[string]struct {
		reason       string
		method, path string
		headers      []string
		status       int
		want         string
	}{
		"Root":       {"The page is at the root.", "GET", "/", nil, 200, "the page"},
		"Browser":    {"A browser gets the page at any path.", "GET", "/catalog", []string{"Accept: text/html,application/xhtml+xml,*/*;q=0.8"}, 200, "the page"},
		"Deep":       {"A deep link gets the page.", "GET", "/catalog/default/component/shop", nil, 200, "the page"},
		"Head":       {"HEAD is accepted where GET is.", "HEAD", "/catalog", nil, 200, ""},
		"Program":    {"A client that wants JSON gets a JSON error.", "GET", "/nosuch", []string{"Accept: application/json"}, 404, "Nothing found at"},
		"Post":       {"The page does not accept POST.", "POST", "/catalog", nil, 404, "Nothing found at"},
		"API":        {"Unknown API paths are errors, not pages.", "GET", "/api/nosuch/x", nil, 404, "Nothing found at"},
		"APIRoot":    {"The root of the API is an error.", "GET", "/api", nil, 404, "Nothing found at"},
		"Plugin":     {"An unknown path of a plugin is an error.", "GET", "/api/things/nosuch", []string{signedIn}, 404, "Nothing found at"},
		"Method":     {"A wrong method is an error.", "GET", "/api/things/posted", []string{signedIn}, 405, "use POST"},
		"Route":      {"API routes are not affected.", "GET", "/api/things/url", []string{signedIn}, 200, "/url"},
		"Health":     {"Unknown health paths are errors.", "GET", "/health/nosuch", nil, 404, "Nothing found at"},
		"Metrics":    {"Unknown metrics paths are errors.", "GET", "/metrics/nosuch", nil, 404, "Nothing found at"},
		"Probe":      {"Unknown paths below the old prefix are errors.", "GET", "/.backstage/nosuch", nil, 404, "Nothing found at"},
		"Alike":      {"A path that only begins like the API gets the page.", "GET", "/apis", nil, 200, "the page"},
		"Extra":      {"Other routes have precedence over the page.", "GET", "/extra", nil, 200, "extra"},
		"ExtraWrong": {"Other routes keep their methods.", "POST", "/extra", nil, 405, "use GET"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, hs, tc.method, tc.path, "", tc.headers...)
			if got.StatusCode != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("%s: response is %d %s", tc.reason, got.StatusCode, got.body)
			}
			policy := got.Header["Content-Security-Policy"]
			if tc.want == "the page" && (len(policy) != 1 || policy[0] != "default-src 'self'") {
				t.Errorf("%s: policy is %q", tc.reason, policy)
			}
			if tc.status >= 400 && (len(policy) != 1 || !strings.HasPrefix(policy[0], "default-src 'none'")) {
				t.Errorf("%s: policy of the error is %q", tc.reason, policy)
			}
		})
	}
}
