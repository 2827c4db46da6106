package rest

import (
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// Streamed is a body that is too long to be held in memory.
type Streamed struct {
	// Type and ETag are as those of Content.
	Type, ETag string
	// Write writes the body. It is not called if the client has it already.
	Write func(w io.Writer) error
}

// WriteStream responds with s as it is written, or with 304 and without a body if the
// client has it already.
func WriteStream(w http.ResponseWriter, r *http.Request, s Streamed) error {
	h := w.Header()
	compress := accepts(r)
	AddVary(h, encodingHeader)
	if s.ETag != "" {
		shown, matched := newTag(s.ETag).match(r, compress)
		h["Etag"] = []string{shown}
		if matched {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h["Content-Type"] = jsonHeader
	if s.Type != "" {
		h["Content-Type"] = []string{s.Type}
	}
	if compress {
		h["Content-Encoding"] = []string{"gzip"}
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	out := &begun{Writer: w}
	err := s.write(out, compress)
	if err != nil && !out.yes {
		// Nothing has been sent yet, so that the client can get the error.
		h.Del("Etag")
		h.Del("Content-Encoding")
	}
	return err
}

func (s Streamed) write(w io.Writer, compress bool) error {
	if !compress {
		return s.Write(w)
	}
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(w)
	if err := s.Write(z); err != nil {
		return err
	}
	return z.Close()
}

// begun records whether anything was written.
type begun struct {
	io.Writer
	yes bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.Writer.Write(p)
}
