package git

import (
	"context"
	"sync"
)

// turns has those who write to the same branch do so one after the other. It is for
// the commits of this process that lost against another: they would lose against
// one another too, the more often the more they are.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is where those stand who wait for a branch.
type line struct {
	// turn has room for the one whose turn it is.
	turn chan struct{}
	// waiting are how many stand in it, with the one whose turn it is.
	waiting int
}

// contended are the branches that several commits of this process write to at once.
var contended = &turns{lines: map[string]*line{}}

// enter waits for the turn at a branch. Whoever has it calls leave.
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

// forget removes one from a line, and the line after its last.
func (t *turns) forget(branch string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		delete(t.lines, branch)
	}
}
