package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "the page")
	})
	_, hs := start(t, Options{Page: page, Extra: map[string]http.Handler{
		"GET /extra": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "extra") }),
	}}, Route{Method: "GET", Path: "/url", Handle: textRoute(URL)}, Route{Method: "POST", Path: "/posted", Handle: textRoute(URL)})
	cases := map[string]struct {
		reason       string
		method, path string
		headers      []string
		status       int
		want         string
	}{
		"Root":       {"the page is at the root", "GET", "/", nil, 200, "the page"},
		"Browser":    {"browsers ask for HTML", "GET", "/catalog", []string{"Accept: text/html,application/xhtml+xml,*/*;q=0.8"}, 200, "the page"},
		"Deep":       {"a deep link survives a reload", "GET", "/catalog/default/component/shop", nil, 200, "the page"},
		"Head":       {"HEAD goes wherever GET does", "HEAD", "/catalog", nil, 200, ""},
		"Program":    {"a program that wants JSON is told in JSON", "GET", "/nosuch", []string{"Accept: application/json"}, 404, "There is nothing at"},
		"Post":       {"nothing can be sent to the page", "POST", "/catalog", nil, 404, "There is nothing at"},
		"API":        {"the API has errors, not pages", "GET", "/api/nosuch/x", nil, 404, "There is nothing at"},
		"APIRoot":    {"nor has its root", "GET", "/api", nil, 404, "There is nothing at"},
		"Plugin":     {"nor has a plugin", "GET", "/api/things/nosuch", []string{signedIn}, 404, "There is nothing at"},
		"Method":     {"nor has a wrong method", "GET", "/api/things/posted", []string{signedIn}, 405, "only POST"},
		"Route":      {"what there is stays what it is", "GET", "/api/things/url", []string{signedIn}, 200, "/url"},
		"Health":     {"machines are told the truth", "GET", "/health/nosuch", nil, 404, "There is nothing at"},
		"Metrics":    {"about metrics too", "GET", "/metrics/nosuch", nil, 404, "There is nothing at"},
		"Probe":      {"and by the old names", "GET", "/.backstage/nosuch", nil, 404, "There is nothing at"},
		"Alike":      {"a place may begin like the API", "GET", "/apis", nil, 200, "the page"},
		"Extra":      {"what stands beside goes first", "GET", "/extra", nil, 200, "extra"},
		"ExtraWrong": {"and keeps its methods", "POST", "/extra", nil, 405, "only GET"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, hs, tc.method, tc.path, "", tc.headers...)
			if got.StatusCode != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("%s: got %d %s", tc.reason, got.StatusCode, got.body)
			}
			policy := got.Header["Content-Security-Policy"]
			if tc.want == "the page" && (len(policy) != 1 || policy[0] != "default-src 'self'") {
				t.Errorf("%s: the policy is %q", tc.reason, policy)
			}
			if tc.status >= 400 && (len(policy) != 1 || !strings.HasPrefix(policy[0], "default-src 'none'")) {
				t.Errorf("%s: the policy of the error is %q", tc.reason, policy)
			}
		})
	}
}
