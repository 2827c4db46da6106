package provide

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/sink/spool"
)

// Paths of the entities and of the health check.
const (
	pathYAML   = "/catalog.yaml"
	pathNDJSON = "/catalog.ndjson"
	pathHealth = "/healthz"
)

// content holds the served entities in two formats. It is reference-counted and
// stays until the last reader is done.
type content struct {
	spool    *spool.Spool
	yaml     *os.File
	forms    map[string]form
	entities int

	// readers counts the active readers, plus one for the owner.
	mu      sync.Mutex
	readers int
}

// form is one format of the entities.
type form struct {
	media, tag string
	size       int64
	at         io.ReaderAt
}

// newContent creates the content of entities, and takes ownership of s.
func newContent(s *spool.Spool) (*content, error) {
	c := &content{spool: s, entities: s.Len(), readers: 1}
	if err := c.fill(); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

func (c *content) fill() (err error) {
	if c.yaml, err = os.CreateTemp("", "entities-*.yaml"); err != nil {
		return fmt.Errorf("cannot create a temporary file: %w", err)
	}
	// Where the system allows it, the name of the file is removed immediately.
	_ = os.Remove(c.yaml.Name())
	out := measured{to: bufio.NewWriterSize(c.yaml, 64<<10), hash: sha256.New()}
	var buf []byte
	for n, err := range c.spool.All() {
		if err != nil {
			return err
		}
		buf = tree.AppendYAML(append(buf[:0], "---\n"...), n)
		if err := out.write(buf); err != nil {
			return err
		}
	}
	if err := out.to.Flush(); err != nil {
		return fmt.Errorf("cannot write to a temporary file: %w", err)
	}
	lines, err := c.spool.Reader()
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, lines)
	if err != nil {
		return fmt.Errorf("cannot read a temporary file: %w", err)
	}
	at, ok := lines.(io.ReaderAt)
	if !ok {
		return errors.New("cannot read a temporary file at an offset")
	}
	c.forms = map[string]form{
		pathYAML:   {"application/yaml; charset=utf-8", tagOf(out.hash), out.size, c.yaml},
		pathNDJSON: {"application/x-ndjson", tagOf(sum), size, at},
	}
	return nil
}

// tagOf returns a strong ETag, which changes with every byte.
func tagOf(h hash.Hash) string { return `"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"` }

// measured is a writer that records the size and hash of the data.
type measured struct {
	to   *bufio.Writer
	hash hash.Hash
	size int64
}

func (m *measured) write(p []byte) error {
	m.hash.Write(p)
	m.size += int64(len(p))
	if _, err := m.to.Write(p); err != nil {
		return fmt.Errorf("cannot write to a temporary file: %w", err)
	}
	return nil
}

// acquire keeps the content until release. It reports false if it was already
// released.
func (c *content) acquire() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers == 0 {
		return false
	}
	c.readers++
	return true
}

// release releases the content, and deletes it after the last reader.
func (c *content) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers--; c.readers > 0 {
		return
	}
	_ = c.spool.Close()
	if c.yaml != nil {
		_ = c.yaml.Close()
		_ = os.Remove(c.yaml.Name())
	}
}

// offer serves the current content.
type offer struct {
	mu      sync.Mutex
	now     *content
	problem string
}

// put replaces the content, and reports whether it changed.
func (o *offer) put(c *content) (changed bool) {
	o.mu.Lock()
	before := o.now
	o.now, o.problem = c, ""
	o.mu.Unlock()
	if before == nil {
		return true
	}
	changed = before.forms[pathYAML].tag != c.forms[pathYAML].tag
	before.release()
	return changed
}

// spoil records why the content is stale. It reports whether the problem is new.
func (o *offer) spoil(problem string) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	news = o.problem != problem
	o.problem = problem
	return news
}

// spoilt reports whether the content is stale.
func (o *offer) spoilt() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.problem != ""
}

// take returns the content, which the caller must release.
func (o *offer) take() *content {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil || !o.now.acquire() {
		return nil
	}
	return o.now
}

// close releases the content.
func (o *offer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now != nil {
		o.now.release()
		o.now = nil
	}
}

// handler returns the HTTP handler.
func (o *offer) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{pathYAML, pathNDJSON} {
		// A GET pattern also matches HEAD.
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { o.serve(w, r, path) })
	}
	mux.HandleFunc("GET "+pathHealth, o.health)
	return mux
}

func (o *offer) serve(w http.ResponseWriter, r *http.Request, path string) {
	c := o.take()
	if c == nil {
		http.Error(w, "nothing to serve", http.StatusServiceUnavailable)
		return
	}
	defer c.release()
	f := c.forms[path]
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("ETag", f.tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f.at, 0, f.size))
}

// health reports the status. Stale content is still served, so the status code is
// 200 and the process is not restarted.
func (o *offer) health(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	body := struct {
		Status   string `json:"status"`
		Entities int    `json:"entities"`
		Problem  string `json:"problem,omitempty"`
	}{Status: "ok", Problem: o.problem}
	if o.now != nil {
		body.Entities = o.now.entities
	}
	o.mu.Unlock()
	if body.Problem != "" {
		body.Status = "stale"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
