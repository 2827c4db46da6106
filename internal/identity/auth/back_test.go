package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestBack(t *testing.T) {
	app, _ := url.Parse("https://portal.example/app")
	u := &users{app: app}
	good := map[string]string{
		"":                         "https://portal.example/app",
		"/":                        "https://portal.example/",
		"/catalog?a=b&c=//d#e":     "https://portal.example/catalog?a=b&c=//d#e",
		"/@evil.example":           "https://portal.example/@evil.example",
		"/%5c%5cevil.example":      "https://portal.example/%5c%5cevil.example",
		"/%2f%2fevil.example":      "https://portal.example/%2f%2fevil.example",
		"/https://evil.example":    "https://portal.example/https://evil.example",
		"/a/../../evil.example":    "https://portal.example/a/../../evil.example",
		"/?x=https://evil.example": "https://portal.example/?x=https://evil.example",
	}
	for path, want := range good {
		got, err := u.back(path)
		if err != nil || got != want {
			t.Errorf("%q leads to %q, %v; want %q", path, got, err, want)
		}
		if at, err := url.Parse(got); err != nil || at.Host != app.Host || at.Scheme != app.Scheme {
			t.Errorf("%q leads to another site: %q", path, got)
		}
	}
	for _, path := range []string{
		"//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/\n/evil.example", "https://evil.example",
		"https:evil.example", "javascript:alert(1)", "data:text/html,x", "evil.example", "?x", "#x", " /x", "/\x00", "//", "/%zz", "http://portal.example@evil.example/",
	} {
		if got, err := u.back(path); statusOf(t, err) != http.StatusBadRequest {
			t.Errorf("%q leads to %q, %v; want 400", path, got, err)
		}
	}
}

// FuzzBack checks that no path leads to another site.
func FuzzBack(f *testing.F) {
	app, _ := url.Parse("https://portal.example/app")
	u := &users{app: app}
	for _, seed := range []string{"/x", "//evil.example", "/\\evil.example", "/%2f/x?y#z", "/a:b@c/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got, err := u.back(path)
		if err != nil {
			statusOf(t, err)
			return
		}
		at, err := url.Parse(got)
		if err != nil || at.Host != app.Host || at.Scheme != app.Scheme || at.User != nil || strings.ContainsAny(got, "\\\r\n\t") {
			t.Errorf("%q leads to %q, %v", path, got, err)
		}
	})
}
