package write

import (
	"container/heap"
	"encoding/binary"
	"iter"

	"example.dev/ingestor/internal/spool"
)

// pieceBytes is about how much of a run is read at a time.
const pieceBytes = 128 << 10

// runs are records of a type in a temporary file: each run is sorted, and all are merged
// when they are read. So any number of records can be sorted in little memory.
type runs[T any] struct {
	compare func(a, b T) int
	encode  func(dst []byte, record T) []byte
	decode  func(p *piece) T

	texts *spool.Spool
	all   [][]spool.Text
}

// add adds a run of sorted records.
func (r *runs[T]) add(records iter.Seq[T]) error {
	if r.texts == nil {
		r.texts = spool.New(0)
	}
	var run []spool.Text
	var buf []byte
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		text, err := r.texts.Put(buf)
		run, buf = append(run, text), buf[:0]
		return err
	}
	for record := range records {
		if buf = r.encode(buf, record); len(buf) >= pieceBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || len(run) == 0 {
		return err
	}
	r.all = append(r.all, run)
	return nil
}

// close frees the file.
func (r *runs[T]) close() error {
	if r.texts == nil {
		return nil
	}
	return r.texts.Close()
}

// merge returns the records of all runs, in order.
func (r *runs[T]) merge() (*merger[T], error) {
	m := &merger[T]{of: r}
	for _, run := range r.all {
		c := &cursor[T]{left: run}
		// A run has at least one record.
		if _, err := c.next(r); err != nil {
			return nil, err
		}
		m.cursors = append(m.cursors, c)
	}
	heap.Init(m)
	return m, nil
}

// cursor is a place in a run.
type cursor[T any] struct {
	left   []spool.Text
	piece  piece
	record T
}

// next reads the next record, and returns false after the last.
func (c *cursor[T]) next(r *runs[T]) (bool, error) {
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
	c.record = r.decode(&c.piece)
	return true, nil
}

// merger merges runs. Its cursors are a heap.
type merger[T any] struct {
	of      *runs[T]
	cursors []*cursor[T]
}

// peek returns the next record, and false after the last.
func (m *merger[T]) peek() (record T, ok bool) {
	if len(m.cursors) == 0 {
		return record, false
	}
	return m.cursors[0].record, true
}

// skip goes on to the record after the next one.
func (m *merger[T]) skip() error {
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

func (m *merger[T]) Len() int { return len(m.cursors) }
func (m *merger[T]) Less(i, j int) bool {
	return m.of.compare(m.cursors[i].record, m.cursors[j].record) < 0
}
func (m *merger[T]) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }
func (m *merger[T]) Push(x any)    { m.cursors = append(m.cursors, x.(*cursor[T])) }

func (m *merger[T]) Pop() any {
	last := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return last
}

// piece is the rest of a piece of a run.
type piece struct{ left []byte }

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func (p *piece) text() string {
	n := p.length()
	text := string(p.left[:n])
	p.left = p.left[n:]
	return text
}

func (p *piece) length() int {
	size, n := binary.Uvarint(p.left)
	p.left = p.left[n:]
	return int(size)
}

func (p *piece) number() int64 {
	number, n := binary.Varint(p.left)
	p.left = p.left[n:]
	return number
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = binary.LittleEndian.AppendUint32(dst, id)
	}
	return dst
}

func (p *piece) ids() []uint32 {
	ids := make([]uint32, p.length())
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint32(p.left[4*i:])
	}
	p.left = p.left[4*len(ids):]
	return ids
}
