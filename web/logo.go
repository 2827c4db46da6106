package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
)

// logoPath is where the logo is served.
const logoPath = "/logo"

// logoPolicy lets an SVG style itself. It can neither run scripts nor load anything, not even if a
// browser opens it as a page of its own.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// newLogo returns the file of a logo, and its version: the query of its URL, which changes with the
// content.
func newLogo(l *Logo) (f *file, version string) {
	sum := sha256.Sum256(l.Data)
	f = &file{kind: l.Type, cache: revalidated, policy: logoPolicy}
	f.load = sync.OnceValues(func() (content, error) { return newContent(l.Data) })
	return f, hex.EncodeToString(sum[:6])
}

// serveLogo serves the logo. Browsers may keep the version that they ask for.
func (s *site) serveLogo(w http.ResponseWriter, r *http.Request) {
	f := *s.logo
	if r.URL.RawQuery == s.logoVersion {
		f.cache = forever
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	f.serve(w, r)
}
