package resource

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"example.dev/ingestor/xrd/composed"
)

const (
	// readFor is the timeout of reading a tree.
	readFor = 20 * time.Second
	// keepFor is how long a tree is kept, so that pages that are open at the same time
	// share it.
	keepFor = time.Second
	// mostTrees is how many trees are kept.
	mostTrees = 200
	// mostReadings is how many trees of a cluster are read at once, for all callers. Each
	// cluster has its own limit, so that one that does not answer delays no other.
	mostReadings = 8
)

// trees reads each tree once for all who ask for it at the same time.
type trees struct {
	now    func() time.Time
	flight singleflight.Group

	mu    sync.Mutex
	kept  map[treeKey]Status
	slots map[string]chan struct{}
}

// treeKey identifies a tree, and the callers who may see it.
type treeKey struct {
	cluster, identity string
	ref               composed.Ref
	skip              int
}

// String returns a text that no other key has.
func (k treeKey) String() string {
	return fmt.Sprintf("%q %q %q %q %q %q %d", k.cluster, k.identity, k.ref.APIVersion, k.ref.Kind, k.ref.Namespace, k.ref.Name, k.skip)
}

func newTrees(now func() time.Time) *trees {
	return &trees{now: now, kept: map[treeKey]Status{}, slots: map[string]chan struct{}{}}
}

// enter waits until another tree of a cluster may be read, and returns the function that
// ends it.
func (t *trees) enter(ctx context.Context, cluster string) (leave func(), err error) {
	t.mu.Lock()
	slots := t.slots[cluster]
	if slots == nil {
		slots = make(chan struct{}, mostReadings)
		t.slots[cluster] = slots
	}
	t.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// get returns a tree that was read within the last second, or reads it.
func (t *trees) get(ctx context.Context, key treeKey, read func(context.Context) (Status, error)) (Status, error) {
	if st, ok := t.recent(key); ok {
		return st, nil
	}
	answer := t.flight.DoChan(key.String(), func() (any, error) {
		// The first who asks may leave while others wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readFor)
		defer cancel()
		st, err := read(ctx)
		if err == nil {
			t.keep(key, st)
		}
		return st, err
	})
	select {
	case a := <-answer:
		return a.Val.(Status), a.Err
	case <-ctx.Done():
		return Status{}, context.Cause(ctx)
	}
}

func (t *trees) recent(key treeKey) (Status, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	st, ok := t.kept[key]
	return st, ok && t.now().Sub(st.Read) < keepFor
}

// keep stores a tree, and removes those that are too old.
func (t *trees) keep(key treeKey, st Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, old := range t.kept {
		if len(t.kept) >= mostTrees || t.now().Sub(old.Read) >= keepFor {
			delete(t.kept, k)
		}
	}
	t.kept[key] = st
}
