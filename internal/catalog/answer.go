package catalog

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"example.dev/ingestor/internal/catalog/query"
	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

// maxBuffered is the longest page that is built in memory. Longer ones are streamed.
const maxBuffered = 1000

// shape is how entities are written: the text around them, and which of their fields.
type shape struct {
	begin, end string
	fields     query.Fields
	// order is that of the entities, for the ETag.
	order []store.Order
}

// The shapes of a listing.
var (
	plainList = shape{begin: "[", end: "]"}
	itemsList = shape{begin: `{"items":[`, end: "]}"}
)

// append appends entities, nil as null.
func (s shape) append(dst []byte, items []*store.Entity) ([]byte, error) {
	size := len(s.begin) + len(s.end)
	if s.fields.All() {
		for _, e := range items {
			size += len("null,")
			if e != nil {
				size += len(e.JSON)
			}
		}
	}
	dst = append(slices.Grow(dst, size), s.begin...)
	for i, e := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if e == nil {
			dst = append(dst, "null"...)
			continue
		}
		var err error
		if dst, err = s.fields.Project(dst, e.JSON); err != nil {
			return nil, err
		}
	}
	return append(dst, s.end...), nil
}

// tag returns the ETag of a listing in this shape, given a digest of its entities.
func (s shape) tag(digest []byte) string {
	h := sha256.New()
	for _, part := range append([]string{s.begin, s.end}, s.fields.Ways()...) {
		fmt.Fprintf(h, "%s\x00", part)
	}
	for _, o := range s.order {
		fmt.Fprintf(h, "%t %s\x00", o.Desc, o.Field)
	}
	h.Write(digest)
	return quote(h.Sum(nil))
}

// digestOf identifies entities by their ETags, which no two entities share, without reading
// their JSON.
func digestOf(items []*store.Entity) []byte {
	const perTag = 41
	text := make([]byte, 0, perTag*len(items))
	for _, e := range items {
		text = append(append(text, e.ETag...), '\n')
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

func quote(sum []byte) string { return `"` + hex.EncodeToString(sum[:16]) + `"` }

// fingerprint identifies a value by its JSON.
func fingerprint(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:12]), nil
}

// write responds with entities.
func (s shape) write(w http.ResponseWriter, r *http.Request, items []*store.Entity) error {
	buf := responses.Get().(*[]byte)
	body, err := s.append((*buf)[:0], items)
	if err == nil {
		err = rest.Write(w, r, rest.Content{ETag: s.tag(digestOf(items)), Body: body})
	}
	if cap(body) <= mostKept {
		*buf = body
		responses.Put(buf)
	}
	return err
}

// responses holds buffers for responses, of at most mostKept bytes.
var responses = sync.Pool{New: func() any { return new([]byte) }}

const mostKept = 1 << 20

// listed responds with everything that a query finds, all from one snapshot: the ETag,
// the link to the next page, and the entities, which write writes.
func (c *Catalog) listed(w http.ResponseWriter, r *http.Request, s shape, q store.Query, typ string,
	link func(*store.Listing) error, write func(io.Writer, *store.Listing) error,
) error {
	if q.Limit == store.NoLimit {
		// A client that has the current version need not wait for other readers of lists.
		digest, err := c.store.Digest(r.Context(), q)
		if err != nil {
			return clientError(err)
		}
		if tag := s.tag(digest); rest.Holds(r, tag) {
			return rest.WriteStream(w, r, rest.Streamed{Type: typ, ETag: tag})
		}
	}
	return clientError(c.store.List(r.Context(), q, func(l *store.Listing) error {
		if err := link(l); err != nil {
			return err
		}
		return rest.WriteStream(w, r, rest.Streamed{Type: typ, ETag: s.tag(l.Digest), Write: func(to io.Writer) error {
			return write(to, l)
		}})
	}))
}

// stream responds with everything that a query finds, a piece at a time. The order is
// part of the ETag, since the digest does not depend on it.
func (c *Catalog) stream(w http.ResponseWriter, r *http.Request, s shape, q store.Query, link func(*store.Listing) error) error {
	s.order = q.Order
	return c.listed(w, r, s, q, "", link, func(to io.Writer, l *store.Listing) error {
		out := bufio.NewWriterSize(to, 64<<10)
		separator := s.begin
		var buf []byte
		err := l.Each(func(e *store.Entity) error {
			// The writer keeps its first error, and Flush returns it.
			_, _ = out.WriteString(separator)
			separator = ","
			var err error
			if buf, err = s.fields.Project(buf[:0], e.JSON); err != nil {
				return err
			}
			_, err = out.Write(buf)
			return err
		})
		if err != nil {
			return err
		}
		if separator == s.begin {
			_, _ = out.WriteString(s.begin)
		}
		_, _ = out.WriteString(s.end)
		return out.Flush()
	})
}

// pointers returns pointers to the entities of a page.
func pointers(items []store.Entity) []*store.Entity {
	out := make([]*store.Entity, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

// clientError converts the error of a query into the one for the client.
func clientError(err error) error {
	if errors.Is(err, store.ErrTooComplex) {
		return query.TooComplex()
	}
	return err
}

// link returns the address of the next page, relative to the plugin: that of the
// request with the parameter after.
func link(r *http.Request, after string) string {
	path, params, _ := strings.Cut(rest.URL(r), "?")
	params = angles.Replace(params)
	var pairs []string
	for pair := range strings.SplitSeq(params, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if pair == "" || name == "offset" || name == "after" {
			continue
		}
		pairs = append(pairs, pair)
	}
	pairs = append(pairs, "after="+after)
	return "<" + path + "?" + strings.Join(pairs, "&") + `>; rel="next"`
}

// angles escapes what delimits the URL of a link.
var angles = strings.NewReplacer("<", "%3C", ">", "%3E")
