package provider

import (
	"cmp"
	"iter"
	"slices"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/spool"
)

// smallPush is up to how many entities of a stream are written as a change in memory.
const smallPush = 1000

// stream are the entities of a full push, in the order of their references: its memory does
// not grow with their number.
type stream struct {
	sorter spool.Sorter[streamed]
	// texts has the entities, and held those of them that are in memory.
	texts *spool.Spool
	held  []spool.Text
	// accepted is how many entities there are, each counted once.
	accepted int
}

// streamed is an entry of a stream. A refused one has no text.
type streamed struct {
	ref string
	// hash is that of the entity, or empty.
	hash        string
	index, line int
	text        place
}

// place is where a text is: in a file or, if at is negative, in memory.
type place struct {
	at   int64
	size int
}

func newStream(texts *spool.Spool) *stream {
	return &stream{texts: texts, sorter: spool.Sorter[streamed]{
		Compare: func(a, b streamed) int { return cmp.Or(cmp.Compare(a.ref, b.ref), cmp.Compare(a.index, b.index)) },
		Size:    func(e streamed) int { return len(e.ref) + len(e.hash) },
		Encode: func(dst []byte, e streamed) []byte {
			dst = spool.AppendText(spool.AppendText(dst, e.ref), e.hash)
			for _, n := range []int64{int64(e.index), int64(e.line), e.text.at, int64(e.text.size)} {
				dst = spool.AppendNumber(dst, n)
			}
			return dst
		},
		Decode: func(p *spool.Piece) streamed {
			return streamed{p.Text(), p.Text(), int(p.Number()), int(p.Number()), place{p.Number(), int(p.Number())}}
		},
	}}
}

// put adds an entity with its text.
func (s *stream) put(e streamed, text []byte) error {
	t, err := s.texts.Put(text)
	if err != nil {
		return err
	}
	at, inFile := t.At()
	if !inFile {
		s.held = append(s.held, t)
		at = -int64(len(s.held))
	}
	e.text = place{at, t.Size()}
	return s.sorter.Put(e)
}

// refuse adds an entity that was refused, so that others with its reference are, too.
func (s *stream) refuse(ref string, index, line int) error {
	return s.sorter.Put(streamed{ref: ref, index: index, line: line})
}

// settle counts the entities, and calls duplicate for each entry whose reference an earlier
// one has.
func (s *stream) settle(duplicate func(e streamed)) error {
	last := ""
	for e, err := range s.sorter.All() {
		switch {
		case err != nil:
			return err
		case e.ref == last:
			duplicate(e)
		case e.text.size > 0:
			s.accepted++
		}
		last = e.ref
	}
	return nil
}

// entities returns the entries that are neither refused nor duplicates.
func (s *stream) entities() iter.Seq2[streamed, error] {
	return func(yield func(streamed, error) bool) {
		last := ""
		for e, err := range s.sorter.All() {
			if err == nil && (e.ref == last || e.text.size == 0) {
				last = e.ref
				continue
			}
			if last = e.ref; !yield(e, err) {
				return
			}
		}
	}
}

// documents returns the entities as documents, whose Index is that of the entry.
func (s *stream) documents() write.Sorted {
	return func(yield func(write.Document, error) bool) {
		for e, err := range s.entities() {
			d := write.Document{Ref: e.ref, Hash: e.hash, Index: e.index}
			if e.text.at < 0 {
				d.Spooled = s.held[-e.text.at-1]
			} else {
				d.Spooled = s.texts.Text(e.text.at, e.text.size)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// fill sets the documents of a change. It returns a function that finds, for refusals of the
// change, where the entries are.
func (s *stream) fill(change *write.Change) (func([]write.Refusal) ([]streamed, error), error) {
	if s.accepted > smallPush {
		change.Sorted = s.documents()
		return s.find, nil
	}
	for d, err := range s.documents() {
		if err != nil {
			return nil, err
		}
		change.Put = append(change.Put, d)
	}
	return func(refused []write.Refusal) ([]streamed, error) {
		refused = slices.Clone(refused)
		for i := range refused {
			refused[i].Index = change.Put[refused[i].Index].Index
		}
		return s.find(refused)
	}, nil
}

// find returns the entries with the indices of refusals, in their order.
func (s *stream) find(refused []write.Refusal) ([]streamed, error) {
	at := make(map[int]int, len(refused))
	for i := range refused {
		at[refused[i].Index] = i
	}
	found := make([]streamed, len(refused))
	if len(refused) == 0 {
		return found, nil
	}
	for e, err := range s.entities() {
		if err != nil {
			return nil, err
		}
		if i, ok := at[e.index]; ok {
			found[i] = e
		}
	}
	return found, nil
}

func (s *stream) close() error { return s.sorter.Close() }
