package portal

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/sink"
)

// Mode is what a push says.
type Mode uint8

// The modes.
const (
	// Full is everything the provider has: what it does not name is removed.
	Full Mode = iota
	// Delta is what changed: nothing else does.
	Delta
)

// ParseMode reads full or delta.
func ParseMode(s string) (Mode, error) {
	for _, m := range []Mode{Full, Delta} {
		if s == m.String() {
			return m, nil
		}
	}
	return Full, fmt.Errorf("cannot use mode %q: want %s or %s", s, Full, Delta)
}

// String names the mode as flags do.
func (m Mode) String() string { return [...]string{"full", "delta"}[m] }

// PushOptions are how a push is meant.
type PushOptions struct {
	// Mode is Full by default.
	Mode Mode
	// Strict takes all entities or none.
	Strict bool
	// AllowEmpty lets a full push of nothing remove everything; without it
	// that is an error.
	AllowEmpty bool
}

// Report is what became of a push.
type Report struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	// Kept are those that a full push left out and that stay, because it
	// cannot be told whether a refused entity was meant for one of them.
	Kept    int       `json:"kept"`
	Refused []Refusal `json:"refused"`
}

// Refusal is an entity that the portal did not take.
type Refusal struct {
	// Line is which line of the push it is, the first being 1; 0 if the portal
	// does not say.
	Line int `json:"line,omitempty"`
	// Ref is empty if it has none that could be used.
	Ref    string `json:"ref,omitempty"`
	Reason string `json:"reason"`
}

// RefusedError is a push of which entities were refused. The Report names
// them.
type RefusedError struct {
	Report Report
	// Nothing says that for their sake nothing at all was taken.
	Nothing bool
}

// Error says how many, and why the first.
func (e *RefusedError) Error() string {
	first := e.Report.Refused[0]
	return fmt.Sprintf("the portal refuses %d of the entities, the first, %s, because: %s", len(e.Report.Refused), first.Ref, first.Reason)
}

// Push pushes entities, which are JSON objects one a line, in one transaction:
// all that is not refused is in the catalog when it returns, or nothing is. In
// a Delta, {"remove": "kind:namespace/name"} in place of an entity removes one.
// If lines can be read again from the start, as an io.Seeker, the push is tried
// again where that does no harm. It is sent while it is read.
//
// A push of which something was refused is no error, unless it is Strict: then
// it is a *RefusedError. Any other is an *Error, or one of reading lines.
func (p *Portal) Push(ctx context.Context, lines io.Reader, opts PushOptions) (Report, error) {
	c := call{
		verb: "push to", method: http.MethodPut, path: "/api/catalog/providers/" + url.PathEscape(p.opts.Provider) + "/entities",
		query: url.Values{}, again: opts.Mode == Full,
	}
	if opts.Mode == Delta {
		c.method, c.path = http.MethodPost, "/api/catalog/providers/"+url.PathEscape(p.opts.Provider)+"/delta"
	}
	if opts.Strict {
		c.query.Set("strict", "true")
		c.good = []int{http.StatusBadRequest}
	}
	if opts.AllowEmpty && opts.Mode == Full {
		c.query.Set("allowEmpty", "true")
	}
	seeker, ok := lines.(io.Seeker)
	c.single = !ok
	first := true
	c.body = func() (body, error) {
		if !first {
			if _, err := seeker.Seek(0, io.SeekStart); err != nil {
				return body{}, &readError{err}
			}
		}
		first = false
		return zipped(lines, ok), nil
	}
	a, err := p.do(ctx, c)
	if e, ok := errors.AsType[*readError](err); ok {
		return Report{}, fmt.Errorf("cannot read what is to be pushed: %w", e.error)
	}
	if err != nil {
		return Report{}, err
	}
	return p.report(c, a)
}

// readError is an error of reading what is to be sent.
type readError struct{ error }

// report reads the answer to a push.
func (p *Portal) report(c call, a answer) (Report, error) {
	r := Report{}
	err := a.decode(&r)
	if a.status == http.StatusBadRequest && (err != nil || len(r.Refused) == 0) {
		e := refusal(&http.Response{StatusCode: a.status}, a.body, "")
		e.verb, e.URL = c.verb, p.base
		return Report{}, e
	}
	if err != nil {
		return Report{}, &Error{Problem: Strange, URL: p.base, Status: a.status, Err: err, Unsure: true, verb: c.verb}
	}
	for i, x := range r.Refused {
		r.Refused[i].Ref, r.Refused[i].Reason = clean(x.Ref, ""), clean(x.Reason, "")
	}
	if a.status == http.StatusBadRequest {
		return r, &RefusedError{Report: r, Nothing: true}
	}
	return r, nil
}

// zipped is lines compressed while they are sent. Wait has Close wait until
// nobody reads lines any more, for those who read them again.
func zipped(lines io.Reader, wait bool) body {
	from, to := io.Pipe()
	ended := make(chan struct{})
	var whole atomic.Bool
	go func() {
		defer close(ended)
		z := gzip.NewWriter(to)
		_, err := io.Copy(z, reading{lines})
		if err == nil {
			err = z.Close()
		}
		whole.Store(err == nil)
		// A reader that fails must not look like one that ended.
		_ = to.CloseWithError(err)
	}()
	var done <-chan struct{}
	if wait {
		done = ended
	}
	return body{ReadCloser: &piped{from, done}, media: "application/x-ndjson", encoding: "gzip", sent: whole.Load}
}

// reading marks the errors of a reader as such.
type reading struct{ from io.Reader }

// Read reads.
func (r reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// piped is the end of a pipe, whose Close waits for the other if it is told
// when that is done.
type piped struct {
	*io.PipeReader
	done <-chan struct{}
}

// Close ends the pipe.
func (p *piped) Close() error {
	err := p.PipeReader.Close()
	if p.done != nil {
		<-p.done
	}
	return err
}

var _ sink.Sink = (*Portal)(nil)

// Write makes the entities all that the provider has. It is a *RefusedError if
// not all of them were taken.
func (p *Portal) Write(ctx context.Context, entities []*entity.Entity) error {
	var lines []byte
	for _, e := range entities {
		lines = entity.AppendNDJSON(lines, e)
	}
	r, err := p.Push(ctx, bytes.NewReader(lines), PushOptions{})
	if err == nil && len(r.Refused) > 0 {
		return &RefusedError{Report: r}
	}
	return err
}
