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

// made is the result for a record.
type made struct {
	entities []*entity.Entity
	// text is the formatted entities; empty if the output is not a stream.
	text     []byte
	findings []finding.Finding
}

// step is one record in the pipeline.
type step struct {
	found xrd.Found
	made  made
	// ready is closed when made is set.
	ready    chan struct{}
	panicked string
}

// flow processes the records that read yields concurrently, and passes the results
// to hand in the order in which they were read. idle means that no other record is
// waiting. Only a small multiple of GOMAXPROCS records is held in memory. flow
// returns the error of read, and the error of hand or of ctx, which ends it at
// once: a read that blocks on its input is abandoned.
func flow(ctx context.Context, read func(ctx context.Context, take func(xrd.Found) bool) error,
	work func(context.Context, xrd.Found) made, hand func(s *step, idle bool) error,
) (unread, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := runtime.GOMAXPROCS(0)
	todo, order := make(chan *step, n), make(chan *step, 2*n)
	// Both are set once order is closed.
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

// catch records a panic, to be rethrown in the calling goroutine.
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
