package change

import (
	"context"
	"errors"
)

// lookups is how many entities are looked up at once.
const lookups = 200

// batch collects items, and passes them to do some at a time.
type batch[T any] struct {
	items []T
	do    func([]T) error
}

func (b *batch[T]) add(item T) error {
	if b.items = append(b.items, item); len(b.items) < lookups {
		return nil
	}
	return b.flush()
}

// flush passes on what is collected.
func (b *batch[T]) flush() error {
	items := b.items
	b.items = nil
	if len(items) == 0 {
		return nil
	}
	return b.do(items)
}

// reader decides which entities the caller of a request may read, while clusters are read.
// A catalog that cannot be read ends the request.
type reader struct {
	*Changes
	ctx  context.Context
	stop context.CancelCauseFunc
}

// reader returns a reader, whose context ends when stop is called or an entity cannot be
// looked up.
func (c *Changes) reader(ctx context.Context) (r *reader, stop func()) {
	r = &reader{Changes: c}
	r.ctx, r.stop = context.WithCancelCause(ctx)
	return r, func() { r.stop(nil) }
}

// each calls do with each item, and whether the caller may read its entity.
func (r *reader) each(refs []string, do func(i int, may bool)) error {
	may, err := r.Readable(r.ctx, refs)
	if err != nil {
		r.stop(err)
		return err
	}
	for i := range refs {
		do(i, may[i])
	}
	return nil
}

// failure returns why a request ended: err, or why entities could not be looked up.
func (r *reader) failure(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Cause(r.ctx)
	}
	return err
}
