package git

import (
	"context"
	"sync"
)

// turns serializes writers of the same branch. It is for commits of this process
// that lost against another writer: without it they would also conflict with one
// another, more often the more there are.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is the queue of the writers of a branch.
type line struct {
	// turn has capacity for the writer whose turn it is.
	turn chan struct{}
	// waiting counts the writers in the queue, including the current one.
	waiting int
}

// contended are the branches with conflicting commits of this process.
var contended = &turns{lines: map[string]*line{}}

// enter waits for the turn at a branch. The caller must call leave.
func (t *turns) enter(ctx context.Context, branch string) (leave func(), err error) {
	t.mu.Lock()
	l, ok := t.lines[branch]
	if !ok {
		l = &line{turn: make(chan struct{}, 1)}
		t.lines[branch] = l
	}
	l.waiting++
	t.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return func() {
			<-l.turn
			t.forget(branch, l)
		}, nil
	case <-ctx.Done():
		t.forget(branch, l)
		return nil, ctx.Err()
	}
}

// forget removes a writer from a queue, and deletes the queue when it is empty.
func (t *turns) forget(branch string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		delete(t.lines, branch)
	}
}
