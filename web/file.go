package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// file is a file to serve.
type file struct {
	kind, cache string
	// policy is the Content-Security-Policy if a browser shows the file itself.
	policy string
	// load reads and compresses the file on first use: most of the embedded files
	// are for pages that few users open.
	load func() (content, error)
}

// content is the content of a file.
type content struct {
	etag        string
	plain, gzip []byte
}

// kinds maps file extensions to the media types of a build's files.
var kinds = map[string]string{
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".png":   "image/png",
	".json":  "application/json; charset=utf-8",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

func newFile(files fs.FS, name string) *file {
	f := &file{kind: kinds[path.Ext(name)], cache: revalidated, policy: "default-src 'none'"}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	if strings.HasPrefix(name, "assets/") {
		// The name contains a hash of the content, so the content never changes.
		f.cache = forever
	}
	f.load = sync.OnceValues(func() (content, error) {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return content{}, err
		}
		return newContent(data)
	})
	return f
}

// How long browsers may keep a file: until they have asked whether it changed, or as long as they
// like.
const (
	revalidated = "no-cache"
	forever     = "public, max-age=31536000, immutable"
)

// newContent returns the content of a file, compressed too.
func newContent(data []byte) (content, error) {
	sum := sha256.Sum256(data)
	zipped, err := compress(data)
	return content{etag: hex.EncodeToString(sum[:12]), plain: data, gzip: zipped}, err
}

// compress returns compressed data, nil if that is not smaller.
func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(data) {
		return nil, nil
	}
	return b.Bytes(), nil
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	c, err := f.load()
	if err != nil {
		http.Error(w, "cannot read the file", http.StatusInternalServerError)
		return
	}
	body, etag := c.plain, `"`+c.etag+`"`
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	if c.gzip != nil && takesGzip(r) {
		body, etag = c.gzip, `"`+c.etag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	h.Set("Content-Security-Policy", f.policy)
	h.Set("ETag", etag)
	if held(r, c.etag) {
		h.Del("Content-Encoding")
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// held reports whether the browser has the file cached, in either encoding.
func held(r *http.Request, etag string) bool {
	for _, list := range r.Header["If-None-Match"] {
		for part := range strings.SplitSeq(list, ",") {
			tag := strings.Trim(strings.TrimPrefix(strings.TrimSpace(part), "W/"), `"`)
			if tag == "*" || strings.TrimSuffix(tag, "-gzip") == etag {
				return true
			}
		}
	}
	return false
}

// takesGzip reports whether the browser accepts gzip.
func takesGzip(r *http.Request) bool {
	for _, list := range r.Header["Accept-Encoding"] {
		for part := range strings.SplitSeq(list, ",") {
			name, param, _ := strings.Cut(part, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			q, ok := strings.CutPrefix(strings.ReplaceAll(param, " ", ""), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !ok || err == nil && weight > 0
		}
	}
	return false
}
