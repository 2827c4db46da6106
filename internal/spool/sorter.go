package spool

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

const (
	// sorterBytes is about how many bytes of records a Sorter holds in memory, and
	// recordBytes how many a record takes besides its Size.
	sorterBytes = 16 << 20
	recordBytes = 160
	// pieceBytes is about how much of a run is read at a time.
	pieceBytes = 128 << 10
)

// Sorter sorts any number of records in little memory: what it does not hold is in a
// temporary file, in sorted runs, which are merged when they are read.
type Sorter[T any] struct {
	Compare func(a, b T) int
	// Encode appends a record, Decode reads it, and Size returns about how many bytes it
	// takes in memory.
	Encode func(dst []byte, record T) []byte
	Decode func(p *Piece) T
	Size   func(record T) int
	// Most is how many bytes are held at most; 0 means the usual.
	Most int

	texts *Spool
	runs  [][]Text
	held  []T
	size  int
}

// Put adds a record.
func (s *Sorter[T]) Put(record T) error {
	s.held = append(s.held, record)
	if s.size += recordBytes + s.Size(record); s.size <= cmp.Or(s.Most, sorterBytes) {
		return nil
	}
	slices.SortFunc(s.held, s.Compare)
	err := s.PutRun(slices.Values(s.held))
	clear(s.held)
	s.held, s.size = s.held[:0], 0
	return err
}

// PutRun adds sorted records, which are not held in memory.
func (s *Sorter[T]) PutRun(records iter.Seq[T]) error {
	if s.texts == nil {
		s.texts = New(0)
	}
	var run []Text
	var buf []byte
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		text, err := s.texts.Put(buf)
		run, buf = append(run, text), buf[:0]
		return err
	}
	for record := range records {
		if buf = s.Encode(buf, record); len(buf) >= pieceBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || len(run) == 0 {
		return err
	}
	s.runs = append(s.runs, run)
	return nil
}

// Close removes the file.
func (s *Sorter[T]) Close() error {
	if s.texts == nil {
		return nil
	}
	return s.texts.Close()
}

// Merge returns all records in order, as often as it is called. No record may be added
// meanwhile.
func (s *Sorter[T]) Merge() (*Merger[T], error) {
	slices.SortFunc(s.held, s.Compare)
	m := &Merger[T]{of: s}
	for _, c := range append([]*cursor[T]{{held: s.held}}, cursorsOf[T](s.runs)...) {
		more, err := c.next(s)
		if err != nil {
			return nil, err
		}
		if more {
			m.cursors = append(m.cursors, c)
		}
	}
	heap.Init(m)
	return m, nil
}

// All returns all records in order, as often as it is called, and ends after an error.
func (s *Sorter[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		m, err := s.Merge()
		for err == nil {
			record, ok := m.Peek()
			if !ok || !yield(record, nil) {
				return
			}
			err = m.Skip()
		}
		var none T
		yield(none, err)
	}
}

// cursor is a place in a run, or in what is held.
type cursor[T any] struct {
	held   []T
	left   []Text
	piece  Piece
	record T
}

func cursorsOf[T any](runs [][]Text) []*cursor[T] {
	all := make([]*cursor[T], len(runs))
	for i, run := range runs {
		all[i] = &cursor[T]{left: run}
	}
	return all
}

// next reads the next record, and returns false after the last.
func (c *cursor[T]) next(s *Sorter[T]) (bool, error) {
	if len(c.held) > 0 {
		c.record, c.held = c.held[0], c.held[1:]
		return true, nil
	}
	if len(c.piece.left) == 0 {
		if len(c.left) == 0 {
			return false, nil
		}
		text, err := c.left[0].Load()
		if err != nil {
			return false, err
		}
		c.left, c.piece.left = c.left[1:], text
	}
	c.record = s.Decode(&c.piece)
	return true, nil
}

// Merger reads the records of a Sorter in order.
type Merger[T any] struct {
	of *Sorter[T]
	// cursors are a heap.
	cursors []*cursor[T]
}

// Peek returns the next record, and false after the last.
func (m *Merger[T]) Peek() (record T, ok bool) {
	if len(m.cursors) == 0 {
		return record, false
	}
	return m.cursors[0].record, true
}

// Skip goes on to the record after the next one, which exists.
func (m *Merger[T]) Skip() error {
	more, err := m.cursors[0].next(m.of)
	if err != nil {
		return err
	}
	if more {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return nil
}

// Len implements heap.Interface, as do the following methods.
func (m *Merger[T]) Len() int { return len(m.cursors) }

// Less reports whether the next record of a cursor comes before that of another.
func (m *Merger[T]) Less(i, j int) bool {
	return m.of.Compare(m.cursors[i].record, m.cursors[j].record) < 0
}

// Swap swaps two cursors.
func (m *Merger[T]) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }

// Push adds a cursor.
func (m *Merger[T]) Push(x any) { m.cursors = append(m.cursors, x.(*cursor[T])) }

// Pop removes the last cursor.
func (m *Merger[T]) Pop() any {
	last := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return last
}
