package httpd

import (
	"net/http"
	"strings"
	"testing"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/rest"
)

func TestCORS(t *testing.T) {
	const (
		site   = "Origin: https://portal.example.org"
		other  = "Origin: https://other.example.org"
		asking = "Access-Control-Request-Method: PUT"
	)
	named := config.CORS{Origins: []string{"https://portal.example.org", "http://localhost:3000"}, Credentials: true}
	cases := map[string]struct {
		reason  string
		config  config.CORS
		method  string
		headers []string
		status  int
		want    map[string]string
	}{
		"Closed": {"Without configured origins all preflights are refused.", config.CORS{}, "OPTIONS", []string{site, asking}, 401,
			map[string]string{"Access-Control-Allow-Origin": "", "Vary": ""}},
		"Preflight": {"A configured origin is allowed.", named, "OPTIONS", []string{site, asking, "Access-Control-Request-Headers: authorization,content-type"}, 204,
			map[string]string{
				"Access-Control-Allow-Origin":      "https://portal.example.org",
				"Access-Control-Allow-Credentials": "true",
				"Access-Control-Allow-Methods":     "GET,HEAD,PATCH,POST,PUT,DELETE",
				"Access-Control-Allow-Headers":     "authorization,content-type",
				"Vary":                             "Origin, Access-Control-Request-Headers",
			}},
		"Stranger": {"Another origin is refused.", named, "OPTIONS", []string{other, asking}, 401,
			map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Allow-Credentials": "", "Access-Control-Allow-Methods": "", "Vary": "Origin"}},
		"StrangerSignedIn": {"Another origin is refused with a token too.", named, "OPTIONS", []string{other, asking, signedIn}, 405,
			map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"Prefix": {"The whole origin must match.", named, "OPTIONS", []string{"Origin: https://portal.example.org.evil.example", asking}, 401,
			map[string]string{"Access-Control-Allow-Origin": ""}},
		"Null": {"The origin null is refused.", named, "OPTIONS", []string{"Origin: null", asking}, 401,
			map[string]string{"Access-Control-Allow-Origin": ""}},
		"Options": {"OPTIONS without a requested method is no preflight.", named, "OPTIONS", []string{site}, 401,
			map[string]string{"Access-Control-Allow-Origin": "https://portal.example.org", "Access-Control-Allow-Methods": ""}},
		"Get": {"A configured origin may read responses.", named, "GET", []string{site, signedIn}, 200,
			map[string]string{"Access-Control-Allow-Origin": "https://portal.example.org", "Access-Control-Expose-Headers": "ETag, Link, Retry-After, X-Request-Id", "Vary": "Origin"}},
		"GetStranger": {"Another origin may not read responses.", named, "GET", []string{other, signedIn}, 200,
			map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"NoOrigin": {"Responses without an origin vary by origin too.", named, "GET", []string{signedIn}, 200,
			map[string]string{"Access-Control-Allow-Origin": "", "Vary": "Origin"}},
		"Fault": {"A configured origin may read errors.", named, "GET", []string{site}, 401,
			map[string]string{"Access-Control-Allow-Origin": "https://portal.example.org"}},
		"Methods": {"Methods are those of the configuration.", config.CORS{Origins: []string{"https://portal.example.org"}, Methods: []string{"GET", "HEAD"}}, "OPTIONS",
			[]string{site, asking}, 204, map[string]string{"Access-Control-Allow-Methods": "GET,HEAD", "Access-Control-Allow-Credentials": ""}},
		"Any": {"A star allows all origins, but without credentials.", config.CORS{Origins: []string{"*"}, Credentials: true}, "GET", []string{other, signedIn}, 200,
			map[string]string{"Access-Control-Allow-Origin": "https://other.example.org", "Access-Control-Allow-Credentials": ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, hs := start(t, Options{CORS: tc.config}, rest.Route{Method: "GET", Path: "/x", Handle: textRoute(func(*http.Request) string { return "x" })})
			got := ask(t, hs, tc.method, "/api/things/x", "", tc.headers...)
			if got.StatusCode != tc.status {
				t.Errorf("%s: status is %d", tc.reason, got.StatusCode)
			}
			for key, want := range tc.want {
				if is := strings.Join(got.Header.Values(key), ", "); is != want {
					t.Errorf("%s: %s is %q, want %q", tc.reason, key, is, want)
				}
			}
		})
	}
}
