package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestLogo(t *testing.T) {
	drawing := `<svg xmlns="http://www.w3.org/2000/svg">` + strings.Repeat("<g/>", 100) + `<script>alert(1)</script></svg>`
	h := Handler(Options{Files: files, Title: "Shop", Logo: &Logo{Type: "image/svg+xml", Data: []byte(drawing)}})
	at := regexp.MustCompile(`<title>Shop</title><meta name="portal-logo" content="(/logo\?[0-9a-f]{12})" />`).FindStringSubmatch(text(t, get(t, h, "GET", "/")))
	if at == nil {
		t.Fatal("page has no logo")
	}
	cases := map[string]struct {
		reason, method, path string
		cache                string
	}{
		"Version":      {"The version that the page names never changes.", "GET", at[1], forever},
		"Head":         {"HEAD works like GET.", "HEAD", at[1], forever},
		"NoVersion":    {"Without a version it may change.", "GET", "/logo", revalidated},
		"OtherVersion": {"The logo of an earlier configuration is not kept.", "GET", "/logo?0123456789ab", revalidated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := get(t, h, tc.method, tc.path)
			want := drawing
			if tc.method == http.MethodHead {
				want = ""
			}
			if got := text(t, res); res.StatusCode != http.StatusOK || got != want {
				t.Errorf("%s: response is %s %q", tc.reason, res.Status, got)
			}
			for name, want := range map[string]string{
				"Content-Type": "image/svg+xml", "Cache-Control": tc.cache, "X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s: header %s is %q, want %q", tc.reason, name, got, want)
				}
			}
			if again := get(t, h, tc.method, tc.path, "If-None-Match: "+res.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
				t.Errorf("%s: with its tag, the response is %s, want 304", tc.reason, again.Status)
			}
		})
	}
	if zipped := get(t, h, "GET", "/logo", "Accept-Encoding: gzip"); zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Error("logo is not compressed")
	}
	other := Handler(Options{Files: files, Logo: &Logo{Type: "image/png", Data: []byte("\x89PNG")}})
	if body := text(t, get(t, other, "GET", "/")); strings.Contains(body, at[1]) || get(t, other, "GET", "/logo").Header.Get("Content-Type") != "image/png" {
		t.Errorf("another logo has the same address, or another type: %s", body)
	}
}

// TestNoLogo checks that a portal without a logo has no address for it.
func TestNoLogo(t *testing.T) {
	h := Handler(Options{Files: files})
	if body := text(t, get(t, h, "GET", "/")); strings.Contains(body, "portal-logo") {
		t.Errorf("page has a logo: %s", body)
	}
	if res := get(t, h, "GET", "/logo"); res.StatusCode != http.StatusNotFound {
		t.Errorf("logo is answered with %s, want 404", res.Status)
	}
}
