package transform

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/xrd"
)

// made is what became of a record.
type made struct {
	entities []*entity.Entity
	// text is the entities as a stream has them; empty if there is no stream.
	text     []byte
	findings []finding.Finding
}

// step is one record on its way.
type step struct {
	found xrd.Found
	made  made
	// ready is closed when made is there.
	ready    chan struct{}
	panicked string
}

// flow has the records that read hands out worked on side by side, and hands
// them on in the order in which they were read. idle says that no other is
// waiting. Only as many are held as there are processors, or a few more. flow
// returns what read returned, and the error of hand or of ctx, which ends it at
// once: a read that waits for its input is left behind.
func flow(ctx context.Context, read func(ctx context.Context, take func(xrd.Found) bool) error,
	work func(context.Context, xrd.Found) made, hand func(s *step, idle bool) error,
) (unread, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := runtime.GOMAXPROCS(0)
	todo, order := make(chan *step, n), make(chan *step, 2*n)
	// Both are there once order is closed.
	var end error
	var panicked string
	go func() {
		defer close(order)
		defer close(todo)
		defer catch(&panicked)
		end = read(ctx, func(f xrd.Found) bool {
			s := &step{found: f, ready: make(chan struct{})}
			return pass(ctx, order, s) && pass(ctx, todo, s)
		})
	}()
	for range n {
		go func() {
			for s := range todo {
				s.do(ctx, work)
			}
		}()
	}
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case s, more := <-order:
			if !more {
				rethrow(panicked)
				return end, nil
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-s.ready:
			}
			rethrow(s.panicked)
			if err := hand(s, len(order) == 0); err != nil {
				return nil, err
			}
		}
	}
}

func pass(ctx context.Context, to chan<- *step, s *step) bool {
	select {
	case to <- s:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *step) do(ctx context.Context, work func(context.Context, xrd.Found) made) {
	defer close(s.ready)
	defer catch(&s.panicked)
	if s.found.Definition != nil {
		s.made = work(ctx, s.found)
	}
}

// catch keeps a panic for whoever decides what a bug does to the process.
func catch(to *string) {
	if p := recover(); p != nil {
		*to = fmt.Sprintf("%v\n%s", p, debug.Stack())
	}
}

func rethrow(panicked string) {
	if panicked != "" {
		panic(panicked)
	}
}
