package live

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd/composed"
)

// Watches says when objects change. All who follow objects of a kind share one watch of
// the kind, which lasts as long as there is one of them. Watches are made by the account
// of the cluster and reveal nothing but that an object has changed: followers read it with
// their own identity.
type Watches struct {
	kinds *Kinds

	mu   sync.Mutex
	open map[watchKey]*watch
}

// NewWatches returns a Watches without any watch.
func NewWatches(kinds *Kinds) *Watches {
	return &Watches{kinds: kinds, open: map[watchKey]*watch{}}
}

// mostWatches is how many watches a Follower needs at most. The objects of others must be
// read again from time to time: the author of a composite can refer to any number of kinds
// and namespaces.
const mostWatches = 40

type watchKey struct {
	account  *cluster.Cluster
	resource cluster.Resource
}

// watch is a watch that is shared. Its fields are guarded by the mutex of Watches.
type watch struct {
	stop      context.CancelFunc
	followers map[*Follower]bool
	// failing says that changes are not seen at present.
	failing bool
}

// Follower follows the objects of one tree.
type Follower struct {
	of      *Watches
	on      *cluster.Cluster
	changed chan struct{}
	// objects are those to follow, by the watch that sees them. They are guarded by the
	// mutex of Watches.
	objects map[watchKey]map[cluster.NamespacedName]bool
	// partial says that some objects are not followed, also guarded by it.
	partial bool
}

// Follow returns a Follower that follows nothing yet.
func (w *Watches) Follow(on *cluster.Cluster) *Follower {
	return &Follower{of: w, on: on.Account(), changed: make(chan struct{}, 1), objects: map[watchKey]map[cluster.NamespacedName]bool{}}
}

// Changed receives a value after followed objects, or events about them, have changed.
// Several changes may be combined.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

func (f *Follower) signal() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Set replaces the objects to follow. If there are new ones, it signals a change, because
// they may have changed since they were read.
func (f *Follower) Set(ctx context.Context, refs []composed.Ref) {
	want, partial := map[watchKey]map[cluster.NamespacedName]bool{}, false
	add := func(res cluster.Resource, namespace, name string) {
		key := watchKey{f.on, res}
		if want[key] == nil {
			if len(want) >= mostWatches {
				partial = true
				return
			}
			want[key] = map[cluster.NamespacedName]bool{}
		}
		want[key][cluster.NamespacedName{Namespace: namespace, Name: name}] = true
	}
	for _, ref := range refs {
		k, err := f.of.kinds.find(ctx, f.on, ref)
		if err != nil {
			// The tree says why its objects cannot be read.
			partial = partial || reasonOf(err) != cluster.Absent
			continue
		}
		group, version, ok := strings.Cut(ref.APIVersion, "/")
		if !ok {
			group, version = "", ref.APIVersion
		}
		add(cluster.Resource{Group: group, Version: version, Plural: k.plural}, ref.Namespace, ref.Name)
		namespace := cmp.Or(ref.Namespace, eventNamespace)
		add(eventsIn(namespace), namespace, ref.Name)
	}
	f.of.replace(context.WithoutCancel(ctx), f, want, partial)
}

func eventsIn(namespace string) cluster.Resource {
	return cluster.Resource{Version: "v1", Plural: "events", Namespace: namespace}
}

// Close ends the watches that no other follower needs.
func (f *Follower) Close() { f.of.replace(context.Background(), f, nil, false) }

// IsComplete reports whether all changes are seen. If not, for example because the account
// may not watch a kind, the objects must be read again from time to time.
func (f *Follower) IsComplete() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	for key := range f.objects {
		if f.of.open[key].failing {
			return false
		}
	}
	return !f.partial
}

// replace begins and ends watches for the new objects of a follower.
func (w *Watches) replace(ctx context.Context, f *Follower, want map[watchKey]map[cluster.NamespacedName]bool, partial bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range f.objects {
		if want[key] != nil {
			continue
		}
		at := w.open[key]
		delete(at.followers, f)
		if len(at.followers) == 0 {
			at.stop()
			delete(w.open, key)
		}
	}
	for key, names := range want {
		if w.open[key] == nil {
			ctx, stop := context.WithCancel(ctx)
			w.open[key] = &watch{stop: stop, followers: map[*Follower]bool{}}
			go w.run(ctx, key, w.open[key])
		}
		w.open[key].followers[f] = true
		for name := range names {
			if !f.objects[key][name] {
				f.signal()
			}
		}
	}
	f.objects, f.partial = want, partial
}

// run watches a kind until its context ends.
func (w *Watches) run(ctx context.Context, key watchKey, at *watch) {
	set := func(failing bool) {
		w.mu.Lock()
		at.failing = failing
		w.mu.Unlock()
	}
	opts := cluster.WatchOptions{ChangesOnly: true, OnError: func(*cluster.Error) { set(true) }, OnRecovered: func() { set(false) }}
	_ = key.account.Watch(ctx, key.resource, selectorOf(key.resource), opts, func(e cluster.Event) error {
		w.tell(key, at, e)
		return nil
	})
}

// selectorOf limits a watch of one of Kubernetes' own kinds to what composites compose:
// the others of the kind are usually many more.
func selectorOf(res cluster.Resource) string {
	if res.Plural == "events" && res.Group == "" || !(Kind{APIVersion: res.Group + "/" + res.Version}).isBuiltIn() {
		return ""
	}
	return compositeLabel
}

// tell signals the followers of the objects of an event.
func (w *Watches) tell(key watchKey, at *watch, e cluster.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range at.followers {
		if e.Type == cluster.Listed || f.follows(key, e.Items[0]) {
			f.signal()
		}
	}
}

// follows reports whether an object, or the object of an event, is followed. Events are
// named after their object.
func (f *Follower) follows(key watchKey, item cluster.Item) bool {
	name := item.Name
	if key.resource == eventsIn(item.Namespace) {
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			name = name[:dot]
		}
	}
	return f.objects[key][cluster.NamespacedName{Namespace: item.Namespace, Name: name}]
}

// Len returns the number of watches.
func (w *Watches) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}
