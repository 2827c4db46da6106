package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"example.dev/ingestor/document/finding"
)

// NoticeType says what happened.
type NoticeType uint8

// The types of notices.
const (
	// Listed is all there is of a kind now: what is not in it is gone.
	Listed NoticeType = iota
	// Changed is an object that is new or different.
	Changed
	// Deleted is an object that is gone, or that the labels no longer choose,
	// as it was last.
	Deleted
)

// String names the type.
func (t NoticeType) String() string { return [...]string{"listed", "changed", "deleted"}[t] }

// Event is word of a change.
type Event struct {
	Type NoticeType
	// Items are all there are for Listed, one otherwise.
	Items []Item
	// Version is the list's, or that of the change; 0 if it is not a number.
	Version int64
	// Spoilt are objects of a list that could not be read. They exist all the
	// same.
	Spoilt []finding.Finding
}

// WatchOptions are how a kind is followed. The zero value is ready for use.
type WatchOptions struct {
	// Trouble, if not nil, is told what goes wrong while following goes on. It
	// takes care of it by itself; a kind that is not served has the reason
	// Absent, and is asked for until it is.
	Trouble func(*Error)
	// Well, if not nil, is told that following goes on after trouble, though
	// there may be nothing new to tell of.
	Well func()
}

// Pauses after a failure grow between these. A stream that has lived for steady
// was a good one, even if it said nothing.
const (
	shortestPause = 400 * time.Millisecond
	longestPause  = 30 * time.Second
	steady        = 10 * time.Second
)

// A stream is asked to end after this time, and at random up to twice of it, so
// that many do not begin at once.
const streamSeconds = 300

// mostEvent bounds one event of a stream.
const mostEvent = 64 << 20

// Watch tells event of what there is of a kind, and then of every change of
// its metadata, until ctx ends. The label selector is as for Survey. A
// connection that is lost is made again and goes on where it was; if the server
// cannot go on from there, a new Listed says what there is now, so that no
// change is missed, though several may be told as one. Everything is called by
// the goroutine that called Follow. What event returns ends it if it is not
// nil.
func (c *Cluster) Watch(ctx context.Context, res Resource, labels string, opts WatchOptions, event func(Event) error) error {
	f := &watch{
		Cluster: c, opts: opts, event: event, pauses: backoff.NewExponentialBackOff(),
		list: listing{Resource: res, labels: labels, metadata: true, survey: true, once: true},
	}
	// Each pause is at random up to half as long again.
	f.pauses.InitialInterval, f.pauses.MaxInterval = shortestPause, longestPause*2/3
	for ctx.Err() == nil {
		wait, err := f.round(ctx)
		if own, ok := errors.AsType[*listenerError](err); ok {
			return own.error
		}
		if wait {
			pause(ctx, max(f.pauses.NextBackOff(), f.backOff(ctx, err)))
		}
	}
	return context.Cause(ctx)
}

// watch is one Follow.
type watch struct {
	*Cluster
	list   listing
	opts   WatchOptions
	event  func(Event) error
	pauses *backoff.ExponentialBackOff
	// version is where a stream goes on; empty if a list is needed first.
	version string
	// troubled says that Trouble was told, and Well not since.
	troubled bool
}

// listenerError is what ended a Follow from within.
type listenerError struct{ error }

func (f *watch) tell(n Event) error {
	if err := f.event(n); err != nil {
		return &listenerError{err}
	}
	return nil
}

// round lists, if need be, and then follows one stream to its end. wait asks
// for a pause before the next.
func (f *watch) round(ctx context.Context) (wait bool, err error) {
	if f.version == "" {
		all, err := f.Cluster.list(ctx, f.list)
		if err != nil {
			return true, err
		}
		err = f.tell(Event{Type: Listed, Items: all.items, Version: number(all.version), Spoilt: f.findings(f.list.short(), all.spoilt)})
		if err != nil {
			return false, err
		}
		f.version = all.version
	}
	return f.stream(ctx)
}

// stream follows changes until the server ends it. wait asks for a pause before
// the next, so that one that ends at once is not begun again and again.
func (f *watch) stream(ctx context.Context) (wait bool, err error) {
	seconds := streamSeconds + rand.IntN(streamSeconds)
	r := request{
		doing: "watch " + f.list.String(), path: f.list.path(), needs: permission(f.list.Resource, "watch"),
		accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
		query: url.Values{
			"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {f.version}, "timeoutSeconds": {strconv.Itoa(seconds)},
		},
	}
	if f.list.labels != "" {
		r.query.Set("labelSelector", f.list.labels)
	}
	before, short := f.version, time.AfterFunc(steady, func() {})
	err = f.run(ctx, r, time.Duration(seconds)*time.Second)
	if wait = short.Stop() && f.version == before; !wait {
		f.pauses.Reset()
	}
	if _, ok := errors.AsType[*listenerError](err); ok || err == nil {
		return wait, err
	}
	status, ok := errors.AsType[*statusError](err)
	if ok && isOfVersion(status.code) {
		f.version, wait = "", true
	}
	if _, lost := errors.AsType[*cutError](err); lost || ok && status.code == http.StatusGone {
		// A stream that is lost is worth a word only if there is no new one, and
		// that it cannot go on from where it was is worth none.
		f.Cluster.opts.Log.Debug("stream ends", "path", r.path, "error", cause(err))
		return wait, nil
	}
	return true, f.explain(r, err)
}

// isOfVersion reports whether a refusal may speak of the version: that it is
// too old or, because the cluster was restored, too new or none; or that the
// kind is not there. A list comes before the next stream then.
func isOfVersion(code int) bool {
	return slices.Contains([]int{http.StatusGone, http.StatusBadRequest, http.StatusNotFound, http.StatusGatewayTimeout}, code)
}

// run begins a stream and reads it to its end, and sees to it that it begins
// and ends in time, although whoever is at the other end may not.
func (f *watch) run(ctx context.Context, r request, lasts time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(f.Cluster.opts.Timeout, func() { cancel(errSlow) })
	defer limit.Stop()
	resp, err := f.send(ctx, r)
	if err != nil {
		if errors.Is(context.Cause(ctx), errSlow) {
			return errSlow
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, mostWords))
		return newStatusError(resp, data)
	}
	if err := isJSON(resp); err != nil {
		return err
	}
	f.Cluster.opts.Log.Debug("stream begins", "path", r.path, "query", r.query.Encode())
	if f.troubled && f.opts.Well != nil {
		f.opts.Well()
	}
	f.troubled = false
	limit.Reset(lasts + f.Cluster.opts.Timeout)
	return f.read(resp.Body)
}

// read takes the events of a stream.
func (f *watch) read(stream io.Reader) error {
	from := &io.LimitedReader{R: stream}
	events := json.NewDecoder(from)
	for {
		from.N = mostEvent
		var e struct {
			Type   string
			Object json.RawMessage
		}
		err := events.Decode(&e)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &cutError{err}
		case e.Type == "ERROR":
			return newEventError(e.Object)
		}
		if err := f.take(e.Type, e.Object); err != nil {
			return err
		}
	}
}

// newEventError reads what a server says in a stream went wrong.
func newEventError(object []byte) error {
	status, err := wire.Decode(object)
	if err != nil {
		return &cutError{err}
	}
	e := &statusError{code: http.StatusInternalServerError}
	if code, err := strconv.Atoi(status.Get("code").Scalar()); err == nil {
		e.code = code
	}
	e.take(status)
	return e
}

// take tells of an event.
func (f *watch) take(what string, object []byte) error {
	var o metadata
	err := json.Unmarshal(object, &o)
	if err == nil && what == "BOOKMARK" {
		f.version = o.Metadata.ResourceVersion
		return nil
	}
	item, bad := o.item()
	if err := cmp.Or(err, bad); err != nil {
		// The next stream would begin with it again; a list can do without it.
		return &statusError{code: http.StatusGone, message: err.Error()}
	}
	n := Event{Type: Changed, Items: []Item{item}, Version: item.Version}
	if what == "DELETED" {
		n.Type = Deleted
	}
	if err := f.tell(n); err != nil {
		return err
	}
	f.version = o.Metadata.ResourceVersion
	return nil
}

// backOff tells of a failure, if there is one, and returns how long the server
// asks to be left alone.
func (f *watch) backOff(ctx context.Context, err error) time.Duration {
	e, ok := errors.AsType[*Error](err)
	// What ends because it was ended is no trouble.
	if f.opts.Trouble != nil && ok && ctx.Err() == nil {
		f.troubled = true
		f.opts.Trouble(e)
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		return min(status.after, longestPause)
	}
	return 0
}

func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}
