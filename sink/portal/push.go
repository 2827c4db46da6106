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

// Mode is the meaning of a push.
type Mode uint8

// The modes.
const (
	// Full replaces all entities of the provider: those that are not pushed are
	// removed.
	Full Mode = iota
	// Delta changes only the entities that it names.
	Delta
)

// ParseMode parses full or delta.
func ParseMode(s string) (Mode, error) {
	for _, m := range []Mode{Full, Delta} {
		if s == m.String() {
			return m, nil
		}
	}
	return Full, fmt.Errorf("cannot use mode %q: must be %s or %s", s, Full, Delta)
}

// String returns the name of the mode in flags.
func (m Mode) String() string { return [...]string{"full", "delta"}[m] }

// PushOptions configure a push.
type PushOptions struct {
	// Mode is Full by default.
	Mode Mode
	// Strict accepts all entities or none.
	Strict bool
	// AllowEmpty lets a full push without entities remove everything; otherwise that
	// is an error.
	AllowEmpty bool
}

// Report is the result of a push.
type Report struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	// Kept counts the entities that a full push omitted and that stay, because a
	// refused entity might have been meant for one of them.
	Kept    int       `json:"kept"`
	Refused []Refusal `json:"refused"`
}

// Refusal is an entity that the portal refused.
type Refusal struct {
	// Line is the line in the push, the first being 1; 0 if the portal does not
	// report it.
	Line int `json:"line,omitempty"`
	// Ref is empty if the entity has no valid reference.
	Ref    string `json:"ref,omitempty"`
	Reason string `json:"reason"`
}

// RefusedError is the error of a push with refused entities, which are in the
// Report.
type RefusedError struct {
	Report Report
	// Nothing reports that because of them no entity was accepted.
	Nothing bool
}

// Error returns the number of refused entities and the first reason.
func (e *RefusedError) Error() string {
	first := e.Report.Refused[0]
	return fmt.Sprintf("the portal refused %d entities; the first is %s: %s", len(e.Report.Refused), first.Ref, first.Reason)
}

// Push pushes entities, which are JSON objects one per line, in one transaction:
// when it returns, either all entities that were not refused are in the catalog,
// or none. In a Delta, {"remove": "kind:namespace/name"} in place of an entity
// removes one. If lines is an io.Seeker, the push is retried where that is safe.
// It is streamed while lines are read.
//
// Refused entities are not an error, unless the push is Strict: then it is a
// *RefusedError. Any other error is an *Error, or one of reading lines.
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
		return Report{}, fmt.Errorf("cannot read the entities to push: %w", e.error)
	}
	if err != nil {
		return Report{}, err
	}
	return p.report(c, a)
}

// readError is an error of reading the lines to push.
type readError struct{ error }

// report reads the response to a push.
func (p *Portal) report(c call, a answer) (Report, error) {
	r := Report{}
	err := a.decode(&r)
	if a.status == http.StatusBadRequest && (err != nil || len(r.Refused) == 0) {
		e := refusal(&http.Response{StatusCode: a.status}, a.body, "")
		e.verb, e.name, e.URL = c.verb, p.opts.Name, p.base
		return Report{}, e
	}
	if err != nil {
		return Report{}, &Error{Problem: Strange, URL: p.base, Status: a.status, Err: err, Unsure: true, verb: c.verb, name: p.opts.Name}
	}
	for i, x := range r.Refused {
		r.Refused[i].Ref, r.Refused[i].Reason = clean(x.Ref, ""), clean(x.Reason, "")
	}
	if a.status == http.StatusBadRequest {
		return r, &RefusedError{Report: r, Nothing: true}
	}
	return r, nil
}

// zipped returns a body that compresses lines while they are sent. With wait,
// Close waits until lines are no longer being read, so that the caller can read
// them again.
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
		// A failed reader must not look like the end of the data.
		_ = to.CloseWithError(err)
	}()
	var done <-chan struct{}
	if wait {
		done = ended
	}
	return body{ReadCloser: &piped{from, done}, media: "application/x-ndjson", encoding: "gzip", sent: whole.Load}
}

// reading wraps the errors of a reader in readError.
type reading struct{ from io.Reader }

// Read reads from the wrapped reader.
func (r reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// piped is the read end of a pipe. Its Close waits for the writer if done is set.
type piped struct {
	*io.PipeReader
	done <-chan struct{}
}

// Close closes the pipe.
func (p *piped) Close() error {
	err := p.PipeReader.Close()
	if p.done != nil {
		<-p.done
	}
	return err
}

var _ sink.Sink = (*Portal)(nil)

// Write replaces the entities of the provider. It returns a *RefusedError if some
// of them were refused.
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
