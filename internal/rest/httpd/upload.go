package httpd

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bound limits the size of a body, and the time to read it. A body whose Content-Length
// is too large is refused unread.
func (e *endpoint) bound(res *response, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.ContentLength > e.MaxBody {
		return &http.MaxBytesError{Limit: e.MaxBody}
	}
	most := bodyTimeout
	if e.Timeout > 0 {
		most = min(most, e.Timeout)
	}
	in := &body{ReadCloser: http.MaxBytesReader(res.ResponseWriter, r.Body, e.MaxBody), res: res, most: most, left: most}
	// Without a deadline a client that stops in the middle holds the connection even if
	// the handler does not read, because the rest is drained.
	in.until(e.server.opts.Now().Add(in.left))
	r.Body = in
	return nil
}

const (
	// bodyTimeout is how long a client may take to send a part of a body.
	bodyTimeout = 30 * time.Second
	// slowestBody is the minimum average rate of a body, in bytes per second: a byte now
	// and then is not progress.
	slowestBody = 16 << 10
)

// body waits for the client as long as there is progress, however large the body is. It
// clears the deadline once the body has been read, so that it does not affect what the
// handler does next.
type body struct {
	io.ReadCloser
	res *response
	// left is how long to wait for the client from now on, at most most.
	left, most time.Duration
	done       bool
}

func (b *body) until(t time.Time) {
	_ = http.NewResponseController(b.res.ResponseWriter).SetReadDeadline(t)
}

func (b *body) Read(p []byte) (int, error) {
	if b.done {
		return b.ReadCloser.Read(p)
	}
	now := b.res.server.opts.Now
	begun := now()
	b.until(begun.Add(b.left))
	n, err := b.ReadCloser.Read(p)
	earned := time.Duration(n) * time.Second / slowestBody
	b.left = min(b.left-now().Sub(begun)+earned, b.most)
	if errors.Is(err, io.EOF) {
		b.done = true
		b.until(time.Time{})
	}
	return n, err
}
