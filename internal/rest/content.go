package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Content is a body that clients may cache.
type Content struct {
	// Type is the media type; empty means JSON.
	Type string
	// ETag is the strong entity tag of the body, with or without its quotes; empty means
	// none.
	ETag string
	Body []byte
}

const jsonType = "application/json; charset=utf-8"

// Header values that are shared by responses.
var (
	jsonHeader     = []string{jsonType}
	encodingHeader = "Accept-Encoding"
)

// ETagOf returns a strong entity tag of a body, in quotes.
func ETagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// WriteJSON responds with v as JSON.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("cannot write the response: %w", err)
	}
	// Encode ends with a newline, which clients of the portal do not expect.
	body := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	w.Header()["Content-Type"] = jsonHeader
	return send(w, r, status, body, gzipped(r, body))
}

// Write responds with c, or with 304 and without a body if the client has it already.
func Write(w http.ResponseWriter, r *http.Request, c Content) error {
	h := w.Header()
	compress := gzipped(r, c.Body)
	if c.ETag != "" {
		shown, matched := newTag(c.ETag).match(r, compress)
		h["Etag"] = []string{shown}
		if matched {
			if len(c.Body) >= compressFrom {
				AddVary(h, encodingHeader)
			}
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if c.Type == "" {
		h["Content-Type"] = jsonHeader
	} else {
		h["Content-Type"] = []string{c.Type}
	}
	return send(w, r, http.StatusOK, c.Body, compress)
}

// send writes a body, compressed or not. It fails only after the response has begun.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte, compress bool) error {
	h := w.Header()
	if len(body) >= compressFrom {
		AddVary(h, encodingHeader)
	}
	if compress {
		h["Content-Encoding"] = []string{"gzip"}
		w.WriteHeader(status)
		if r.Method == http.MethodHead {
			return nil
		}
		return writeGzip(w, body)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// tag is a strong entity tag without its quotes.
type tag string

func newTag(s string) tag { return tag(strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`)) }

// quoted returns the tag of the compressed or uncompressed content: bodies with
// different bytes must not share a tag.
func (t tag) quoted(compress bool) string {
	if compress {
		return `"` + string(t) + `-gzip"`
	}
	return `"` + string(t) + `"`
}

// match returns the tag to respond with, and whether the client has the content in
// either form.
func (t tag) match(r *http.Request, compress bool) (shown string, matched bool) {
	mine := t.quoted(compress)
	held := r.Header["If-None-Match"]
	if len(held) == 0 || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return mine, false
	}
	if holds(held, mine) {
		return mine, true
	}
	if other := t.quoted(!compress); holds(held, other) {
		return other, true
	}
	return mine, false
}

// Holds reports whether the client has the content of an ETag, according to its
// request, so that the response is 304.
func Holds(r *http.Request, etag string) bool {
	_, held := newTag(etag).match(r, false)
	return held
}

// holds reports whether the values of If-None-Match contain the tag. They are compared
// weakly, as RFC 9110 requires here.
func holds(values []string, want string) bool {
	for _, list := range values {
		for list != "" {
			list = strings.TrimLeft(list, " \t,")
			if strings.HasPrefix(list, "*") {
				return true
			}
			list = strings.TrimPrefix(list, "W/")
			if !strings.HasPrefix(list, `"`) {
				// Anything but a tag ends the list: what follows cannot be parsed.
				break
			}
			end := strings.IndexByte(list[1:], '"')
			if end < 0 {
				break
			}
			if list[:end+2] == want {
				return true
			}
			list = list[end+2:]
		}
	}
	return false
}

// AddVary adds a name to the header Vary, once.
func AddVary(h http.Header, name string) {
	for _, v := range h["Vary"] {
		if v == name {
			return
		}
	}
	h["Vary"] = append(h["Vary"], name)
}
