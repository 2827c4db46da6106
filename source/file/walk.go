package file

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.dev/ingestor/source"
	"example.dev/ingestor/xrd"
)

var _ source.Walker = (*Source)(nil)

// Walk passes the contents of the files to yield, one file after the other in the
// order of their paths, each read once, however many paths lead to it. It holds no
// more than one document at a time. Files that cannot be read are reported at the
// end. When ctx ends, Walk returns at once; a read that blocks is abandoned.
func (s *Source) Walk(ctx context.Context, yield func(xrd.Found) bool) error {
	found := s.find(ctx)
	if ctx.Err() == nil {
		s.last.Store(&found.infos)
	}
	errs := found.errs
	for i, path := range found.files {
		more, err := s.walk(ctx, path, yield)
		if err != nil {
			errs = append(errs, err)
		}
		if !more {
			return errors.Join(errs...)
		}
		if s.opts.Progress != nil {
			s.opts.Progress(i+1, len(found.files))
		}
	}
	if ctx.Err() != nil {
		errs = append(errs, fmt.Errorf("cannot read all files: %w", context.Cause(ctx)))
	}
	return errors.Join(errs...)
}

// walk passes the contents of one file to yield, and reports whether more is wanted.
func (s *Source) walk(ctx context.Context, path string, yield func(xrd.Found) bool) (more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	more = true
	err = xrd.Each(readAhead(ctx, func() (io.ReadCloser, error) { return s.open(path) }), origin(path), func(f xrd.Found) bool {
		more = yield(f)
		return more
	})
	if err == nil || ctx.Err() != nil {
		// A truncated read because of ctx is not a file error.
		return more, nil
	}
	return more, newError(path, err)
}

// ahead reads a file in a separate goroutine, and ends when its context does, even if
// a read blocks.
type ahead struct {
	ctx context.Context
	// ready are pieces that were read, and free those to read into.
	ready, free chan []byte
	// err is the reason why there are no more pieces, once ready is closed.
	err error
	// piece is the current piece, and rest what is left of it.
	piece, rest []byte
}

const (
	pieceSize  = 32 << 10
	firstPiece = 16 << 10
)

// readAhead returns a reader of what open opens. The file is closed when everything
// is read, or when ctx ends.
func readAhead(ctx context.Context, open func() (io.ReadCloser, error)) *ahead {
	a := &ahead{ctx: ctx, ready: make(chan []byte), free: make(chan []byte, 2)}
	// Most files are shorter than a piece; only for a longer file is the next piece read
	// ahead.
	a.free <- nil
	a.free <- nil
	go func() {
		defer close(a.ready)
		a.err = a.run(open)
	}()
	return a
}

// run reads the file until its end.
func (a *ahead) run(open func() (io.ReadCloser, error)) error {
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	for size := firstPiece; ; {
		var piece []byte
		select {
		case <-a.ctx.Done():
			return a.ctx.Err()
		case piece = <-a.free:
		}
		if piece == nil {
			piece = make([]byte, size)
		}
		n, err := in.Read(piece[:cap(piece)])
		if n == cap(piece) {
			size = pieceSize
		}
		if n > 0 {
			select {
			case <-a.ctx.Done():
				return a.ctx.Err()
			case a.ready <- piece[:n]:
			}
		}
		if err != nil {
			return err
		}
		if n == 0 {
			a.free <- piece
		}
	}
}

// Read returns what was read ahead.
func (a *ahead) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if a.piece != nil {
			a.free <- a.piece
			a.piece = nil
		}
		select {
		case <-a.ctx.Done():
			return 0, a.ctx.Err()
		case piece, ok := <-a.ready:
			if !ok {
				return 0, a.err
			}
			a.piece, a.rest = piece, piece
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
