package service_test

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"
)

// pageKeys has the keys of the portal's pages.
var pageKeys = map[string]keyed{
	"Logo": {
		reason: "The logo is served, and the page has its address.",
		keys:   []string{"app.logo"},
		with: func(t *testing.T, dir string) (sections, sections) {
			put(t, filepath.Join(dir, "logo.svg"), picture)
			return nil, sections{"app": sections{"logo": filepath.Join(dir, "logo.svg")}}
		},
		check: func(t *testing.T, s *service, _ string) {
			_, page := s.fetch("/catalog")
			found := regexp.MustCompile(`<meta name="portal-logo" content="([^"]+)"`).FindStringSubmatch(page)
			if found == nil {
				t.Fatalf("page has no logo:\n%s", page)
			}
			h, logo := s.fetch(found[1])
			if logo != picture {
				t.Errorf("logo is %q, want %q", logo, picture)
			}
			for name, want := range map[string]string{
				"Content-Type": "image/svg+xml", "X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=31536000, immutable",
				"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
			} {
				if got := h.Values(name); len(got) != 1 || got[0] != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
		},
	},
}

// picture is a logo with a script, which browsers must not run.
const picture = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`

func TestPageKeys(t *testing.T) { keep(t, pageKeys) }

// fetch gets a page as a browser does, without credentials.
func (s *service) fetch(path string) (http.Header, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s returned %s, %v", path, res.Status, err)
	}
	return res.Header, string(body)
}
