package provide

import (
	"context"
	"errors"
	"io"
)

// chunk is the result of one read.
type chunk struct {
	data []byte
	err  error
}

// pumped is a reader whose data is read by a goroutine from a source that may
// block, such as an idle pipe. It stops waiting when its context ends.
type pumped struct {
	ctx  context.Context
	next <-chan chunk
	rest chunk
}

// pump returns a reader of the stream that open opens. The caller must end ctx.
func pump(ctx context.Context, open func() (io.ReadCloser, error)) io.Reader {
	next := make(chan chunk)
	go func() {
		defer close(next)
		send := func(c chunk) bool {
			select {
			case next <- c:
				return c.err == nil
			case <-ctx.Done():
				return false
			}
		}
		in, err := open()
		if err != nil {
			send(chunk{err: err})
			return
		}
		defer in.Close()
		// One buffer is filled while the other is consumed.
		var bufs [2][]byte
		for i := 0; ; i = 1 - i {
			if bufs[i] == nil {
				bufs[i] = make([]byte, 64<<10)
			}
			n, err := in.Read(bufs[i])
			if !send(chunk{bufs[i][:n], err}) {
				return
			}
		}
	}()
	return &pumped{ctx: ctx, next: next}
}

// Read waits for the next chunk, or for the context to end.
func (p *pumped) Read(b []byte) (int, error) {
	for len(p.rest.data) == 0 {
		if p.rest.err != nil {
			return 0, p.rest.err
		}
		select {
		case c, ok := <-p.next:
			if !ok {
				return 0, errors.Join(context.Cause(p.ctx), io.ErrUnexpectedEOF)
			}
			p.rest = c
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(b, p.rest.data)
	p.rest.data = p.rest.data[n:]
	return n, nil
}
