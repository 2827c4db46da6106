// Package web serves the portal's user interface: one page, its scripts and
// styles, built by `make web` from the sources in this folder and embedded. The
// build tag noweb leaves it out.
package web

import (
	"crypto/rand"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Options configure the page.
type Options struct {
	// Title is the name of the portal; empty means Portal.
	Title string
	// Logo is the logo of the portal; nil means that it has none.
	Logo *Logo
	// Files are the page and its assets; nil means the embedded ones.
	Files fs.FS
}

// Logo is a picture that is served at /logo.
type Logo struct {
	// Type is its media type, and Data its content.
	Type string
	Data []byte
}

// site serves browsers. It may be used concurrently.
type site struct {
	// before and after are the parts of the page around its nonce.
	before, after string
	files         map[string]*file
	// logo is nil if there is none; logoVersion is the query of its URL.
	logo        *file
	logoVersion string
}

// Handler returns the handler for browsers: it serves the files, and the page at
// every other path. It returns nil if this build has no page at all. If `make web`
// has not been run, the page says so.
func Handler(opts Options) http.Handler {
	files := opts.Files
	if files == nil {
		files = dist()
	}
	if files == nil {
		return nil
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		page = []byte(unbuilt)
	}
	title := opts.Title
	if title == "" {
		title = "Portal"
	}
	s := &site{files: map[string]*file{}}
	text := string(page)
	head := "<title>" + html.EscapeString(title) + "</title>"
	if opts.Logo != nil {
		s.logo, s.logoVersion = newLogo(opts.Logo)
		head += `<meta name="portal-logo" content="` + logoPath + "?" + s.logoVersion + `" />`
	}
	text = strings.Replace(text, "<title>Portal</title>", head, 1)
	s.before, s.after, _ = strings.Cut(text, nonceMark)
	s.collect(files)
	return s
}

// nonceMark is the position of the nonce in the page, which is empty in the build.
const nonceMark = `name="nonce" content=""`

// unbuilt is the page of a program that was built without the web build.
const unbuilt = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><title>Portal</title></head>
  <body>
    <h1>The web UI has not been built</h1>
    <p>Run <code>make web</code>, then <code>make build</code>; or <code>make run</code>, which does both. The API under /api works without it.</p>
  </body>
</html>
`

// collect finds the files that can be requested. Files with a leading dot belong
// to the build.
func (s *site) collect(files fs.FS) {
	// Unreadable files are not served.
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); name != "." && strings.HasPrefix(base, ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() && name != "index.html" {
			s.files["/"+name] = newFile(files, name)
		}
		return nil
	})
}

// ServeHTTP serves a GET or HEAD request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f, ok := s.files[r.URL.Path]; ok {
		f.serve(w, r)
		return
	}
	if r.URL.Path == logoPath && s.logo != nil {
		s.serveLogo(w, r)
		return
	}
	if looksLikeFile(r.URL.Path) {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, fmt.Sprintf("file %s not found", path.Base(r.URL.Path)), http.StatusNotFound)
		return
	}
	s.page(w, r)
}

// page serves the page. Its nonce is unique to this response, so browsers must
// request the page again each time.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	body := s.before
	if s.after != "" {
		body += `name="nonce" content="` + nonce + `"` + s.after
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(nonce))
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body))
	}
}

// policy returns the Content-Security-Policy of the page: it may load only what
// this portal serves, scripts only from files, and styles only from files and from
// elements with the nonce.
func policy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; connect-src 'self'; " +
		"img-src 'self' data:; font-src 'self'; worker-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
}

// looksLikeFile reports whether a path means a file rather than a route of the
// page. Below the routes that contain names, any name is allowed.
func looksLikeFile(p string) bool {
	for _, place := range []string{"/catalog/", "/create/", "/tasks/"} {
		if strings.HasPrefix(p, place) {
			return false
		}
	}
	return p == logoPath || strings.HasPrefix(p, "/assets/") || extensions[path.Ext(p)]
}

// extensions are the extensions of files that browsers and robots request.
var extensions = map[string]bool{
	".js": true, ".mjs": true, ".css": true, ".map": true, ".json": true, ".ico": true, ".png": true, ".svg": true, ".jpg": true,
	".txt": true, ".xml": true, ".woff": true, ".woff2": true, ".webmanifest": true, ".php": true,
}
