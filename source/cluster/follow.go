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

// EventType is the type of an Event.
type EventType uint8

// Types of events.
const (
	// Listed has all objects of a kind: those that it does not contain are gone.
	Listed EventType = iota
	// Changed is a new or modified object.
	Changed
	// Deleted is the last state of an object that was deleted or no longer matches the
	// label selector.
	Deleted
)

// String returns the name of the type.
func (t EventType) String() string { return [...]string{"listed", "changed", "deleted"}[t] }

// Event is a change seen by a watch.
type Event struct {
	Type EventType
	// Items are all objects for Listed, one object otherwise.
	Items []Item
	// Version is the resource version of the list or of the change; 0 if it is not a
	// number.
	Version int64
	// Unreadable are objects of a list that could not be decoded. They do exist.
	Unreadable []finding.Finding
}

// WatchOptions configure a watch. The zero value is ready for use.
type WatchOptions struct {
	// ChangesOnly omits the objects: each Listed is empty, and only says that any of them
	// may have changed. That costs as little for a million objects as for one.
	ChangesOnly bool
	// OnError, if not nil, receives failures while the watch continues. Watch handles
	// them itself; a kind that is not served has the reason Absent, and is requested
	// until it is served.
	OnError func(*Error)
	// OnRecovered, if not nil, is called when the watch has recovered after a failure, even if
	// there is no new event.
	OnRecovered func()
}

// Limits of the backoff after a failure. A stream that has lasted for steady counts
// as a success, even without events.
const (
	shortestPause = 400 * time.Millisecond
	longestPause  = 30 * time.Second
	steady        = 10 * time.Second
)

// A stream is requested to end after this time, plus a random time of up to the same
// length, so that many streams do not restart at once.
const streamSeconds = 300

// mostEvent is the size limit of one event of a stream.
const mostEvent = 64 << 20

// Watch passes all objects of a kind to event, and then every change of their
// metadata, until ctx ends. The label selector is as for Survey. A lost connection is
// reestablished and resumed; if the server cannot resume there, a new Listed has the
// current objects, so that no change is missed, though several may be combined. All
// callbacks are called by the goroutine that called Watch. If event returns an error,
// Watch ends and returns it.
func (c *Cluster) Watch(ctx context.Context, res Resource, labels string, opts WatchOptions, event func(Event) error) error {
	f := &watch{
		Cluster: c, opts: opts, event: event, pauses: backoff.NewExponentialBackOff(),
		list: listing{Resource: res, labels: labels, metadata: true, survey: true, once: true},
	}
	// Each pause is randomized by up to half.
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

// watch is the state of one Watch.
type watch struct {
	*Cluster
	list   listing
	opts   WatchOptions
	event  func(Event) error
	pauses *backoff.ExponentialBackOff
	// version is the resource version to resume from; empty if a list is needed first.
	version string
	// failing says that OnError was called, and OnRecovered was not since.
	failing bool
}

// listenerError is an error of the event callback that ends a Watch.
type listenerError struct{ error }

func (f *watch) tell(n Event) error {
	if err := f.event(n); err != nil {
		return &listenerError{err}
	}
	return nil
}

// round lists the objects, if necessary, and then reads one stream to its end. wait
// asks for a pause before the next round.
func (f *watch) round(ctx context.Context) (wait bool, err error) {
	if f.version == "" {
		all, err := f.begin(ctx)
		if err != nil {
			return true, err
		}
		err = f.tell(Event{Type: Listed, Items: all.items, Version: number(all.version), Unreadable: f.findings(f.list.short(), all.unreadable)})
		if err != nil {
			return false, err
		}
		f.version = all.version
	}
	return f.stream(ctx)
}

// begin returns the objects, with the version to continue from.
func (f *watch) begin(ctx context.Context) (page, error) {
	if !f.opts.ChangesOnly {
		return f.Cluster.list(ctx, f.list)
	}
	first, err := f.Cluster.page(ctx, f.list, 1, "")
	return page{version: first.version}, err
}

// stream reads changes until the server ends the stream. wait asks for a pause before
// the next, so that a stream that ends at once is not restarted in a tight loop.
func (f *watch) stream(ctx context.Context) (wait bool, err error) {
	seconds := streamSeconds + rand.IntN(streamSeconds)
	r := request{
		doing: "watch " + f.list.String(), path: f.list.path(), needs: permission(f.list.Resource, "watch"),
		accept: ObjectMetadataOnly,
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
		// A lost stream is reported only if a new one cannot be started, and an expired
		// version not at all.
		f.Cluster.opts.Log.Debug("stream closed", "path", r.path, "error", cause(err))
		return wait, nil
	}
	return true, f.explain(r, err)
}

// isOfVersion reports whether an error status may be about the resource version,
// which is too old or, because the cluster was restored, too new or invalid; or about
// a missing kind. Then a list is needed before the next stream.
func isOfVersion(code int) bool {
	return slices.Contains([]int{http.StatusGone, http.StatusBadRequest, http.StatusNotFound, http.StatusGatewayTimeout}, code)
}

// run starts a stream and reads it to its end. It enforces timeouts for its start and
// end, in case the server does not.
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
	f.Cluster.opts.Log.Debug("stream opened", "path", r.path, "query", r.query.Encode())
	if f.failing && f.opts.OnRecovered != nil {
		f.opts.OnRecovered()
	}
	f.failing = false
	limit.Reset(lasts + f.Cluster.opts.Timeout)
	return f.read(resp.Body)
}

// read reads the events of a stream.
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

// newEventError parses an error event of a stream.
func newEventError(object []byte) error {
	status, err := responses.Decode(object)
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

// take passes on an event.
func (f *watch) take(what string, object []byte) error {
	var o metadata
	err := json.Unmarshal(object, &o)
	if err == nil && what == "BOOKMARK" {
		f.version = o.Metadata.ResourceVersion
		return nil
	}
	item, bad := o.item()
	if err := cmp.Or(err, bad); err != nil {
		// The next stream would begin with it again; a list can skip it.
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

// backOff reports a failure, if there is one, and returns the delay that the server
// asks for.
func (f *watch) backOff(ctx context.Context, err error) time.Duration {
	e, ok := errors.AsType[*Error](err)
	// The end of the context is not a failure.
	if f.opts.OnError != nil && ok && ctx.Err() == nil {
		f.failing = true
		f.opts.OnError(e)
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
