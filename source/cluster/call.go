package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// request is one call of the API.
type request struct {
	// doing completes "cannot …".
	doing string
	path  string
	query url.Values
	// accept is the media type that is wanted; empty means JSON.
	accept string
	// body, if not nil, is posted.
	body []byte
	// needs are the permissions it takes, to be named when they are missing.
	needs Rule
	// read, if not nil, takes the answer, and returns an error if it is not
	// complete, or a foreignError if it is something else.
	read func(data []byte) error
}

// mostBytes bounds an answer. A page of large definitions stays far below.
const mostBytes = 1 << 30

// call makes a call. A failure that may pass is tried again, with growing and
// random pauses or after the time the server asks for, as long as Patience
// allows.
func (c *Cluster) call(ctx context.Context, r request) error {
	patience := c.opts.Patience
	if !c.answered.Load() {
		patience = min(patience, firstPatience)
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 100*time.Millisecond, 5*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := c.once(ctx, r)
		switch after, passing := passes(ctx, err); {
		case err == nil:
			c.answered.Store(true)
		case !passing:
			err = backoff.Permanent(err)
		case after > 0:
			err = &pause{err: err, after: after}
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(patience), backoff.WithNotify(func(err error, wait time.Duration) {
		c.opts.Log.Debug("call failed, trying again", "path", r.path, "wait", wait, "error", err)
	}))
	if err != nil {
		return c.explain(r, err)
	}
	return nil
}

// pause is a failure after which the server asks to be left alone for a time.
type pause struct {
	err   error
	after time.Duration
}

// Error returns the failure's message.
func (p *pause) Error() string { return p.err.Error() }

// Unwrap returns the failure, and what tells the retries how long to wait.
func (p *pause) Unwrap() []error { return []error{p.err, &backoff.RetryAfterError{Duration: p.after}} }

// passes reports whether a failure may be gone the next time, and after what
// time, if the server says. A call that took too long is not made again: it
// was given all the time there is.
func passes(ctx context.Context, err error) (after time.Duration, passing bool) {
	if err == nil || ctx.Err() != nil || isTimeout(err) || certificateFault(err) != "" || isCredential(err) {
		return 0, false
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.after, s.code == http.StatusTooManyRequests || s.code >= 500
	}
	if _, ok := errors.AsType[*foreignError](err); ok {
		return 0, false
	}
	return 0, true
}

// statusError is an answer that is not the one hoped for.
type statusError struct {
	code int
	// reason and message are the server's own words.
	reason, message string
	// after is how long it asks to be left alone.
	after time.Duration
}

// Error returns the server's words.
func (e *statusError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("the server answers %d %s", e.code, http.StatusText(e.code))
	}
	return fmt.Sprintf("the server answers %d: %s", e.code, e.message)
}

// foreignError is an answer no API server would give.
type foreignError struct{ what string }

// Error says what it is.
func (e *foreignError) Error() string { return e.what }

// cutError is an answer that ended before it was complete.
type cutError struct{ err error }

// Error says so.
func (e *cutError) Error() string { return "the answer was cut off: " + e.err.Error() }

// Unwrap returns the cause.
func (e *cutError) Unwrap() error { return e.err }

// once makes a call once.
func (c *Cluster) once(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	address := c.way.URL + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	method, body := http.MethodGet, io.Reader(nil)
	if r.body != nil {
		method, body = http.MethodPost, bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.way.Client.Do(req)
	if err != nil {
		c.opts.Log.Debug("call", "method", method, "path", r.path, "query", r.query.Encode(), "error", cause(err))
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	c.opts.Log.Debug("call", "method", method, "path", r.path, "query", r.query.Encode(), "status", resp.StatusCode, "bytes", len(data))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &foreignError{"the address redirects to another one"}
	case resp.StatusCode >= 400:
		return newStatusError(resp, data)
	case err != nil && isTimeout(err):
		return err
	case err != nil:
		return &cutError{err}
	case len(data) > mostBytes:
		return &foreignError{fmt.Sprintf("the answer is larger than %d bytes", mostBytes)}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return &foreignError{fmt.Sprintf("the answer is %s, not JSON", orNothing(kind))}
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

func orNothing(kind string) string {
	if kind == "" {
		return "of no known type"
	}
	return kind
}

// newStatusError reads what a server says went wrong.
func newStatusError(resp *http.Response, data []byte) error {
	e := &statusError{code: resp.StatusCode}
	if status, err := wire.Decode(data); err == nil && status.Get("kind").Str() == "Status" {
		e.reason, e.message = status.Get("reason").Str(), status.Get("message").Str()
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.after = time.Duration(seconds) * time.Second
	}
	return e
}
