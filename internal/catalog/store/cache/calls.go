package cache

import (
	"context"
	"fmt"
	"sync"
)

// calls deduplicates concurrent computations: callers with the same key at the same
// revision wait for one answer. The key must include all conditions, also those of
// permissions: callers who may see different entities have different keys.
type calls struct {
	mu      sync.Mutex
	running map[callKey]*call
}

type callKey struct {
	revision int64
	key      Key
}

// call is an answer that is being computed. It is canceled when no caller waits for
// it any more.
type call struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{}
	answer  any
	err     error
}

// do returns the result of compute, which runs once for all callers that wait for the
// same answer. The answer is shared and must not be changed.
func (k *calls) do(ctx context.Context, key callKey, compute func(context.Context) (any, error)) (any, error) {
	f := k.join(ctx, key, compute)
	select {
	case <-f.done:
		k.leave(key, f)
		return f.answer, f.err
	case <-ctx.Done():
		k.leave(key, f)
		return nil, context.Cause(ctx)
	}
}

func (k *calls) join(ctx context.Context, key callKey, compute func(context.Context) (any, error)) *call {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.running[key]; f != nil {
		f.waiting++
		return f
	}
	if k.running == nil {
		k.running = map[callKey]*call{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &call{waiting: 1, cancel: cancel, done: make(chan struct{})}
	k.running[key] = f
	go func() {
		defer close(f.done)
		defer k.end(key, f)
		defer func() {
			// A panic becomes an error of the callers, and does not end the process.
			if p := recover(); p != nil {
				f.err = fmt.Errorf("internal error: %v", p)
			}
		}()
		f.answer, f.err = compute(ctx)
	}()
	return f
}

// end makes the next caller start a new computation.
func (k *calls) end(key callKey, f *call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running[key] == f {
		delete(k.running, key)
	}
}

// leave is called by each caller that stops waiting.
func (k *calls) leave(key callKey, f *call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if k.running[key] == f {
		delete(k.running, key)
	}
}
