package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.dev/ingestor/tree"
	"example.dev/ingestor/xrd"
)

// EventType says what happened.
type EventType uint8

// The types of events.
const (
	// Listed is all there is of a kind now: what is not in it is gone.
	Listed EventType = iota
	// Changed is an object that is new or different.
	Changed
	// Deleted is an object that is gone, as it was last.
	Deleted
)

// String names the type.
func (t EventType) String() string { return [...]string{"listed", "changed", "deleted"}[t] }

// Event is a change in a cluster.
type Event struct {
	Type    EventType
	Cluster string
	// Resource is the kind of object; it tells what an empty list is of.
	Resource Resource
	// Set holds the objects: all of the kind for Listed, one otherwise.
	Set *xrd.Set
}

// WatchOptions are what is watched. The zero value watches definitions and
// Compositions.
type WatchOptions struct {
	// NoCompositions leaves them out.
	NoCompositions bool
	// Composites are kinds to watch as well; see the function Composites.
	Composites []Kind
	// Trouble, if not nil, is told what goes wrong while watching goes on. The
	// watch takes care of it by itself.
	Trouble func(*Error)
}

// Watch tells event of what there is, and then of every change, until ctx
// ends. A connection that is lost is made again and goes on where it was; if
// the server cannot go on from there, a new Listed says what there is now, so
// that no change is missed. event is called by one goroutine at a time, and
// what it returns ends the watch if it is not nil.
func (c *Cluster) Watch(ctx context.Context, opts WatchOptions, event func(Event) error) error {
	apis, err := c.APIs(ctx)
	if err != nil {
		// What is not watched from the beginning would never be.
		return err
	}
	config := rest.CopyConfig(c.way.Config)
	// Kinds begin side by side; the server itself says when it is too much.
	config.QPS = -1
	client, err := dynamic.NewForConfigAndClient(config, c.way.Client)
	if err != nil {
		return settingsError(c.name, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &watching{Cluster: c, client: client, opts: opts, event: event, stop: stop}
	var wg sync.WaitGroup
	for _, api := range apis {
		wg.Go(func() { w.follow(ctx, api, api.definitions(), "xrd") })
		if !opts.NoCompositions && len(api.Compositions) > 0 {
			wg.Go(func() { w.follow(ctx, api, api.compositions(), "composition") })
		}
	}
	for _, k := range opts.Composites {
		wg.Go(func() { w.follow(ctx, API{}, k.Resource, k.Plural) })
	}
	wg.Wait()
	return context.Cause(ctx)
}

// watching is one Watch.
type watching struct {
	*Cluster
	client dynamic.Interface
	opts   WatchOptions
	stop   context.CancelCauseFunc

	mu    sync.Mutex
	event func(Event) error
}

// follow watches one kind until ctx ends.
func (w *watching) follow(ctx context.Context, api API, res Resource, short string) {
	objects := w.client.Resource(schema.GroupVersionResource{Group: res.Group, Version: res.Version, Resource: res.Plural}).Namespace(res.Namespace)
	lister := &clientcache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, w.Cluster.opts.Timeout, errSlow)
			defer cancel()
			list, err := objects.List(ctx, o)
			if err != nil {
				w.trouble(ctx, "list", res, slow(ctx, err))
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return w.open(ctx, objects, res, o)
		},
	}
	silent := logr.Discard()
	r := clientcache.NewReflectorWithOptions(clientcache.ToListWatcherWithWatchListSemantics(lister, w.client), &unstructured.Unstructured{},
		&feed{watching: w, api: api, res: res, short: short}, clientcache.ReflectorOptions{Logger: &silent, Name: res.String()})
	r.RunWithContext(klog.NewContext(ctx, silent))
}

// open begins a watch, and sees to it that it begins and ends in time, although
// whoever is at the other end may not.
func (w *watching) open(ctx context.Context, objects dynamic.ResourceInterface, res Resource, o metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	beginning := time.AfterFunc(w.Cluster.opts.Timeout, func() { cancel(errSlow) })
	stream, err := objects.Watch(ctx, o)
	if !beginning.Stop() && err == nil {
		stream.Stop()
		err = errSlow
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errSlow) {
			err = errSlow
		}
		defer cancel(nil)
		// A server that cannot begin with what there is says so, and is asked
		// for a list instead.
		if o.SendInitialEvents == nil || !apierrors.IsInvalid(err) {
			w.trouble(ctx, "watch", res, err)
		}
		return nil, err
	}
	s := &running{Interface: stream, cancel: cancel}
	if o.TimeoutSeconds != nil {
		s.end = time.AfterFunc(time.Duration(*o.TimeoutSeconds)*time.Second+w.Cluster.opts.Timeout, func() { cancel(errSlow) })
	}
	s.Interface = watch.Filter(stream, func(e watch.Event) (watch.Event, bool) {
		if e.Type == watch.Error {
			// That it cannot go on from where it was is nothing to speak of.
			if err := apierrors.FromObject(e.Object); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
				w.trouble(ctx, "watch", res, err)
			}
		}
		return e, true
	})
	return s, nil
}

// running is a watch that runs.
type running struct {
	watch.Interface
	cancel context.CancelCauseFunc
	end    *time.Timer
}

// Stop ends it.
func (s *running) Stop() {
	if s.end != nil {
		s.end.Stop()
	}
	// First, so that the stream's complaint of having been closed is known for
	// what it is.
	s.cancel(nil)
	s.Interface.Stop()
}

// trouble tells of a call that failed. Refused connections come in crowds
// while a server is away; each is told, and the teller may count.
func (w *watching) trouble(ctx context.Context, verb string, res Resource, err error) {
	if w.opts.Trouble == nil {
		return
	}
	e := w.explain(request{doing: verb + " " + res.String(), needs: permission(res, verb)}, fromLibrary(err))
	w.mu.Lock()
	defer w.mu.Unlock()
	// What ends because it was ended is no trouble. It is asked here, where no
	// event can end the watch meanwhile.
	if ctx.Err() != nil && !errors.Is(err, errSlow) {
		return
	}
	w.opts.Trouble(e)
}

// fromLibrary translates an error of the client library into ours.
func fromLibrary(err error) error {
	if s, ok := errors.AsType[interface {
		error
		Status() metav1.Status
	}](err); ok {
		status := s.Status()
		return &statusError{code: int(status.Code), reason: string(status.Reason), message: status.Message}
	}
	return err
}

// feed takes what the client library reads of one kind. It is not a store: it
// remembers nothing.
type feed struct {
	*watching
	api   API
	res   Resource
	short string
}

// Add is told of a new object.
func (f *feed) Add(obj any) error { return f.tell(Changed, []any{obj}) }

// Update is told of a changed object.
func (f *feed) Update(obj any) error { return f.tell(Changed, []any{obj}) }

// Delete is told of an object that is gone.
func (f *feed) Delete(obj any) error { return f.tell(Deleted, []any{obj}) }

// Replace is told of all there is.
func (f *feed) Replace(objs []any, _ string) error { return f.tell(Listed, objs) }

// Resync has nothing to do.
func (*feed) Resync() error { return nil }

func (f *feed) tell(what EventType, objs []any) error {
	set := &xrd.Set{}
	for _, obj := range objs {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("cannot read an object of type %T", obj)
		}
		u.SetManagedFields(nil)
		n, err := tree.From(u.Object)
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", u.GetName(), err)
		}
		settleVersion(n, f.api)
		set.Documents++
		set.Add(n, f.origin(f.short, u.GetNamespace(), u.GetName()))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.event(Event{Type: what, Cluster: f.name, Resource: f.res, Set: set})
	if err != nil {
		f.stop(err)
	}
	return err
}
