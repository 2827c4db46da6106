package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster/access"
)

// request is one call of the API.
type request struct {
	// doing completes "cannot …".
	doing string
	path  string
	query url.Values
	// accept is the requested media type; empty means JSON.
	accept string
	// body, if not nil, is sent, as media, or as JSON if that is empty.
	body  []byte
	media string
	// method is the HTTP method; empty means GET, or POST with a body.
	method string
	// once disables retries, because the caller retries if it makes sense.
	once bool
	// needs are the required permissions, for the message when they are missing.
	needs Rule
	// most is the size limit of the response; 0 means mostBytes.
	most int64
	// text accepts a response of any type, and cuts it off at the size limit.
	text bool
	// read, if not nil, decodes the response, and returns an error if it is incomplete,
	// or a foreignError if it is not what was expected.
	read func(data []byte) error
}

// malformed is the prefix of the server's message for an applied object whose fields
// are not those of its kind.
const malformed = "failed to create typed patch object"

// mostBytes is the size limit of a response. A page of large definitions stays far
// below it. mostWords is the limit of an error response.
const (
	mostBytes = 512 << 20
	mostWords = 64 << 10
)

// call makes a call. Temporary failures are retried, with exponential and random
// backoff or after the delay that the server asks for, as long as patience allows.
func (c *Cluster) call(ctx context.Context, r request) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 100*time.Millisecond, 5*time.Second
	for waited := time.Duration(0); ; {
		err := c.once(ctx, r)
		if err == nil {
			return nil
		}
		after, passing := passes(ctx, err)
		wait := cmp.Or(after, pauses.NextBackOff())
		if r.once || !passing || waited+wait > c.patience() {
			return c.explain(r, err)
		}
		waited += wait
		c.opts.Log.Debug("call failed, retrying", "path", r.path, "wait", wait, "error", cause(err))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return c.explain(r, ctx.Err())
		}
	}
}

// patience returns how long to retry in total.
func (c *Cluster) patience() time.Duration {
	if c.answered.Load() {
		return c.opts.Patience
	}
	return min(c.opts.Patience, firstPatience)
}

// passes reports whether a failure may be temporary, and the delay before a retry, if
// the server gives one. A call that timed out is not retried: it has already used all
// its time.
func passes(ctx context.Context, err error) (after time.Duration, passing bool) {
	if ctx.Err() != nil || isTimeout(err) || certificateFault(err) != "" {
		return 0, false
	}
	if isCredential(err) {
		// The provider of the credential may be temporarily unavailable as well.
		e, ok := errors.AsType[*access.CredentialError](err)
		return 0, ok && e.Temporary()
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.after, s.code == http.StatusTooManyRequests || s.code >= 500 && !s.ours()
	}
	if _, ok := errors.AsType[*foreignError](err); ok {
		return 0, false
	}
	return 0, true
}

// statusError is a response with an error status.
type statusError struct {
	code int
	// reason, message and causes are the server's, and kind and name identify the object
	// they are about, if there is one.
	reason, message, kind, name string
	causes                      []Cause
	// after is the delay before a retry that the server asks for.
	after time.Duration
}

// Error returns the server's message.
func (e *statusError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("the server returned %d %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("the server returned %d: %s", e.code, e.message)
}

// ours reports whether the request is at fault although the server returns a server
// error: it has no better status for an applied object that does not fit the schema.
func (e *statusError) ours() bool { return strings.HasPrefix(e.message, malformed) }

// tooLargeError is a response that exceeds the size limit of its call.
type tooLargeError struct{ most int64 }

// Error returns the limit.
func (e *tooLargeError) Error() string {
	return fmt.Sprintf("response is larger than %d bytes", e.most)
}

// Unwrap returns what counts as the cause for a call without a limit of its own.
func (e *tooLargeError) Unwrap() error { return &foreignError{e.Error()} }

// IsTooLarge reports whether a response exceeded the size limit of its call.
func IsTooLarge(err error) bool {
	_, ok := errors.AsType[*tooLargeError](err)
	return ok
}

// foreignError is a response that no API server would give.
type foreignError struct{ what string }

// Error returns the description.
func (e *foreignError) Error() string { return e.what }

// cutError is a response that ended before it was complete.
type cutError struct{ err error }

// Error returns the message.
func (e *cutError) Error() string { return "response was cut off: " + e.err.Error() }

// Unwrap returns the cause.
func (e *cutError) Unwrap() error { return e.err }

// buffers are reused, because nothing keeps references to a response's data.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// send sends a request, and returns the response whatever its status is.
func (c *Cluster) send(ctx context.Context, r request) (*http.Response, error) {
	address := c.way.URL + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	method = cmp.Or(r.method, method)
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	c.as.identify(req.Header)
	req.Header.Set("Accept", "application/json")
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.media, "application/json"))
	}
	resp, err := c.way.Client.Do(req)
	if err != nil {
		c.opts.Log.Debug("call", "method", method, "path", r.path, "query", r.query.Encode(), "error", cause(err))
		return nil, slow(ctx, err)
	}
	// Whatever the status is, there is a server.
	c.answered.Store(true)
	return resp, nil
}

// once makes a call without retries.
func (c *Cluster) once(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, errSlow)
	defer cancel()
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	most := cmp.Or(r.most, mostBytes)
	if resp.StatusCode >= 300 {
		most = mostWords
	}
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	_, err = buffer.ReadFrom(io.LimitReader(resp.Body, most+1))
	data := buffer.Bytes()
	c.opts.Log.Debug("call", "method", resp.Request.Method, "path", r.path, "query", r.query.Encode(), "status", resp.StatusCode, "bytes", len(data))
	switch {
	case resp.StatusCode >= 300:
		return newStatusError(resp, data)
	case err != nil && isTimeout(err):
		return slow(ctx, err)
	case err != nil:
		return &cutError{err}
	case r.text:
		return r.read(data[:min(int64(len(data)), most)])
	case int64(len(data)) > most:
		return &tooLargeError{most}
	}
	if err := isJSON(resp); err != nil {
		return err
	}
	if r.read != nil {
		err := r.read(data)
		if _, ok := errors.AsType[*foreignError](err); err != nil && !ok {
			return &cutError{err}
		}
		return err
	}
	return nil
}

// isJSON returns an error if a response is not JSON.
func isJSON(resp *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return &foreignError{fmt.Sprintf("response is %s, not JSON", orNothing(kind))}
	}
	return nil
}

func orNothing(kind string) string {
	if kind == "" {
		return "of unknown type"
	}
	return kind
}

// errSlow is the cause of a call that exceeded its timeout.
var errSlow = errors.New("call timed out")

// slow marks a failure that is due to our timeout, to distinguish it from that of the
// caller.
func slow(ctx context.Context, err error) error {
	if isTimeout(err) && errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Errorf("%w: %w", errSlow, err)
	}
	return err
}

// newStatusError parses an error response.
func newStatusError(resp *http.Response, data []byte) error {
	if resp.StatusCode < 400 {
		return &foreignError{"the URL redirects to another one"}
	}
	e := &statusError{code: resp.StatusCode, after: retryAfter(resp.Header)}
	if status, err := responses.Decode(data); err == nil && status.Get("kind").Str() == "Status" {
		e.take(status)
	}
	return e
}

// take reads the fields of a Status object.
func (e *statusError) take(status *tree.Node) {
	e.reason, e.message, e.name = status.Get("reason").Str(), status.Get("message").Str(), status.Get("details", "name").Str()
	e.kind = status.Get("details", "kind").Str()
	for _, c := range status.Get("details", "causes").List() {
		e.causes = append(e.causes, Cause{Reason: c.Get("reason").Str(), Message: c.Get("message").Str(), Field: c.Get("field").Str()})
	}
	if seconds, err := strconv.Atoi(status.Get("details", "retryAfterSeconds").Scalar()); err == nil && e.after == 0 {
		e.after = time.Duration(max(seconds, 0)) * time.Second
	}
}

// retryAfter returns the delay before a retry that the server asks for. If it gives a
// date, the delay is relative to the server's own clock.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	then, err := http.ParseTime(text)
	now, bad := http.ParseTime(h.Get("Date"))
	if err != nil || bad != nil {
		return 0
	}
	return max(then.Sub(now), 0)
}
