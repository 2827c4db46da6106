package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// page is a built page.
const page = `<head><meta name="nonce" content="" /><title>Portal</title><script type="module" src="/assets/index-abc.js"></script></head>`

var script = strings.Repeat("console.log('a script that is long enough to be compressed');\n", 50)

var files = fstest.MapFS{
	"index.html":            {Data: []byte(page)},
	"theme.js":              {Data: []byte("1")},
	"icon.svg":              {Data: []byte("<svg/>")},
	"assets/index-abc.js":   {Data: []byte(script)},
	".vite/manifest.json":   {Data: []byte("{}")},
	".keep":                 {},
	"assets/style-1234.css": {Data: []byte("a{}")},
}

func get(t *testing.T, h http.Handler, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for _, line := range headers {
		key, value, _ := strings.Cut(line, ": ")
		r.Header.Set(key, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPaths(t *testing.T) {
	h := Handler(Options{Files: files})
	cases := map[string]struct {
		reason       string
		method, path string
		status       int
		kind, cache  string
	}{
		"Root":       {"the page is at the root", "GET", "/", 200, "text/html; charset=utf-8", "no-cache"},
		"Deep":       {"a deep link survives a reload", "GET", "/catalog/default/component/shop", 200, "text/html; charset=utf-8", "no-cache"},
		"Dotted":     {"a name may look like a file", "GET", "/catalog/default/api/shop.js", 200, "text/html; charset=utf-8", "no-cache"},
		"Unknown":    {"the page itself shows that the path is unknown", "GET", "/nosuch", 200, "text/html; charset=utf-8", "no-cache"},
		"Head":       {"HEAD works like GET", "HEAD", "/", 200, "text/html; charset=utf-8", "no-cache"},
		"Asset":      {"files with a hash in their name are cached forever", "GET", "/assets/index-abc.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"AssetHead":  {"HEAD of a file", "HEAD", "/assets/index-abc.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"Style":      {"styles need their media type, or browsers reject them", "GET", "/assets/style-1234.css", 200, "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"Plain":      {"files without a hash are revalidated", "GET", "/theme.js", 200, "text/javascript; charset=utf-8", "no-cache"},
		"Picture":    {"a picture", "GET", "/icon.svg", 200, "image/svg+xml", "no-cache"},
		"OldAsset":   {"a missing asset is not answered with the page, which would run as a script", "GET", "/assets/index-old.js", 404, "text/plain; charset=utf-8", "no-store"},
		"Map":        {"A missing source map is not answered with the page.", "GET", "/assets/index-abc.js.map", 404, "text/plain; charset=utf-8", "no-store"},
		"Favicon":    {"A missing icon is not answered with the page.", "GET", "/favicon.ico", 404, "text/plain; charset=utf-8", "no-store"},
		"Manifest":   {"files of the build tool are not served", "GET", "/.vite/manifest.json", 404, "text/plain; charset=utf-8", "no-store"},
		"IndexAsked": {"the page by its file name is the page, with its nonce", "GET", "/index.html", 200, "text/html; charset=utf-8", "no-cache"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := get(t, h, tc.method, tc.path)
			body := text(t, res)
			if res.StatusCode != tc.status || res.Header.Get("Content-Type") != tc.kind || res.Header.Get("Cache-Control") != tc.cache {
				t.Errorf("%s: got %d %q %q", tc.reason, res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Cache-Control"))
			}
			if tc.method == http.MethodHead && body != "" {
				t.Errorf("%s: HEAD has a body: %q", tc.reason, body)
			}
		})
	}
}

func TestNonce(t *testing.T) {
	h := Handler(Options{Files: files, Title: `The "shop" <portal>`})
	seen := map[string]bool{}
	for range 3 {
		res := get(t, h, "GET", "/catalog")
		body := text(t, res)
		nonce := regexp.MustCompile(`name="nonce" content="([A-Z0-9]{20,})"`).FindStringSubmatch(body)
		if nonce == nil {
			t.Fatalf("the page has no nonce: %s", body)
		}
		if seen[nonce[1]] {
			t.Errorf("the nonce %s is used twice", nonce[1])
		}
		seen[nonce[1]] = true
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "style-src 'self' 'nonce-"+nonce[1]+"';") {
			t.Errorf("the policy lacks the nonce: %s", policy)
		}
		for _, never := range []string{"unsafe-inline", "unsafe-eval", "http:", "https:", "*"} {
			if strings.Contains(policy, never) {
				t.Errorf("the policy allows %s: %s", never, policy)
			}
		}
		if want := "<title>The &#34;shop&#34; &lt;portal&gt;</title>"; !strings.Contains(body, want) {
			t.Errorf("the title is not escaped: %s", body)
		}
		if !strings.HasSuffix(body, `<script type="module" src="/assets/index-abc.js"></script></head>`) {
			t.Errorf("the page is cut short: %s", body)
		}
	}
}

func TestCompression(t *testing.T) {
	h := Handler(Options{Files: files})
	cases := map[string]struct {
		reason, accepts string
		compressed      bool
	}{
		"Browser":   {"browsers accept gzip", "gzip, deflate, br, zstd", true},
		"Weighted":  {"also with a quality", "br;q=1.0, gzip;q=0.5", true},
		"Refused":   {"clients that refuse gzip do not get it", "gzip;q=0", false},
		"Malformed": {"an invalid quality means no gzip", "gzip;q=x", false},
		"None":      {"no header means no gzip", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res := get(t, h, "GET", "/assets/index-abc.js", "Accept-Encoding: "+tc.accepts)
			body := text(t, res)
			if got := res.Header.Get("Content-Encoding") == "gzip"; got != tc.compressed {
				t.Fatalf("%s: compressed is %v", tc.reason, got)
			}
			if tc.compressed {
				z, err := gzip.NewReader(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				body = string(data)
			}
			if body != script || res.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: got %d bytes, Vary %q", tc.reason, len(body), res.Header.Get("Vary"))
			}
		})
	}
	if small := get(t, h, "GET", "/theme.js", "Accept-Encoding: gzip"); small.Header.Get("Content-Encoding") != "" {
		t.Error("a file that does not get smaller is compressed")
	}
}

func TestUnchanged(t *testing.T) {
	h := Handler(Options{Files: files})
	for _, accepts := range []string{"gzip", ""} {
		first := get(t, h, "GET", "/theme.js", "Accept-Encoding: "+accepts)
		tag := first.Header.Get("ETag")
		if tag == "" {
			t.Fatal("a file has no ETag")
		}
		for _, held := range []string{tag, `"other", W/` + tag, "*"} {
			if res := get(t, h, "GET", "/theme.js", "If-None-Match: "+held); res.StatusCode != http.StatusNotModified || text(t, res) != "" {
				t.Errorf("with %s got %d", held, res.StatusCode)
			}
		}
		if res := get(t, h, "GET", "/theme.js", `If-None-Match: "other"`); res.StatusCode != http.StatusOK {
			t.Errorf("with another tag got %d", res.StatusCode)
		}
	}
}

func TestUnbuilt(t *testing.T) {
	res := get(t, Handler(Options{Files: fstest.MapFS{".keep": {}}}), "GET", "/catalog")
	if body := text(t, res); res.StatusCode != http.StatusOK || !strings.Contains(body, "make web") {
		t.Errorf("got %d: %s", res.StatusCode, body)
	}
}

// TestBudget limits the compressed size of the scripts that a first page loads:
// those of the frame and of the page itself.
func TestBudget(t *testing.T) {
	const most = 200 << 10
	built, err := readManifest()
	if err != nil {
		t.Fatal(err)
	}
	if built == nil {
		t.Skip("the web UI has not been built: run make web")
	}
	for _, page := range []string{"src/home/HomePage.tsx", "src/catalog/CatalogPage.tsx"} {
		t.Run(page, func(t *testing.T) {
			for _, entry := range []string{"index.html", page} {
				if _, ok := built[entry]; !ok {
					t.Fatalf("the build has no %s", entry)
				}
			}
			total := 0
			for _, name := range built.closure("index.html", page) {
				data, err := built.read(name)
				if err != nil {
					t.Fatal(err)
				}
				packed, err := compress(data)
				if err != nil {
					t.Fatal(err)
				}
				size := len(packed)
				if packed == nil {
					size = len(data)
				}
				t.Logf("%7d %s", size, name)
				total += size
			}
			t.Logf("%7d in all", total)
			if total > most {
				t.Errorf("the first page loads %d KB of script, compressed; the budget is %d KB", total>>10, most>>10)
			}
		})
	}
}
