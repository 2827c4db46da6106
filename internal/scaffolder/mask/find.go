package mask

import "sync"

// span is a part of a text.
type span struct{ from, to int }

// deepest is how often base64 and hex are decoded inside each other.
const deepest = 4

// finder looks for secrets in one text.
type finder struct {
	*Mask
	found []span
	// room is how many bytes may still be decoded. Texts that decode to much
	// more than themselves are hidden instead of read.
	room int
	// levels are the memory for the stream of each depth, of which there is one
	// at a time.
	levels [deepest + 1]struct {
		escapes escapes
		decoded []byte
		run     run
	}
}

var finders = sync.Pool{New: func() any { return &finder{} }}

// find returns the parts of s that are secret, in no order.
func (m *Mask) find(s string) []span {
	f := finders.Get().(*finder)
	f.Mask, f.found, f.room = m, nil, 16*len(s)+64<<10
	f.stream(stream{s: []byte(s)}, 0)
	found := f.found
	f.Mask, f.found = nil, nil
	// One text that is large does not keep its memory for all others.
	if len(s) <= 1<<20 {
		finders.Put(f)
	}
	return found
}

// stream is a text to look at: the whole one, or what a part of it decodes to.
type stream struct {
	s []byte
	// place returns the part of the whole text that bytes of s are decoded from;
	// nil if s is the whole text.
	place func(from, to int) span
}

func (st *stream) at(from, to int) span {
	if st.place == nil {
		return span{from, to}
	}
	return st.place(from, to)
}

// hide notes that bytes of a stream are secret.
func (f *finder) hide(p span) {
	// One that overlaps itself again and again is one span.
	if last := len(f.found) - 1; last >= 0 && p.from <= f.found[last].to && p.from >= f.found[last].from {
		f.found[last].to = max(f.found[last].to, p.to)
		return
	}
	f.found = append(f.found, p)
}

// stream looks for secrets in a stream, which was decoded so many times.
func (f *finder) stream(st stream, depth int) {
	least := shortest
	if depth > 0 {
		least = shortestInside
	}
	e := &f.levels[depth].escapes
	defer e.reset()
	if !e.read(st.s) {
		f.plain(&st, least)
		f.runs(&st, depth)
		return
	}
	f.escaped(&st, e, least)
	f.runs(&st, depth)
	f.escapedRuns(&st, e, depth)
}

// plain looks at a stream without escapes.
func (f *finder) plain(st *stream, least int) {
	f.texts.starts(st.s, func(p int) {
		if n := f.texts.match(st.s[p:]); n >= least {
			f.hide(st.at(p, p+n))
		}
	})
}

// escaped looks at a stream that can be read in several ways.
func (f *finder) escaped(st *stream, e *escapes, least int) {
	from := func(p int) {
		w := walk{trie: &f.texts, e: e, least: least}
		w.step(p, 0, 0)
		if w.end > 0 {
			f.hide(st.at(p, w.end))
		}
	}
	f.texts.starts(st.s, from)
	// The first three bytes of a pattern may be escaped as well.
	next := 0
	for i := len(e.all) - 1; i >= 0; i-- {
		at := int(e.all[i].from)
		for next = max(next, at-2); next <= at; next++ {
			from(next)
		}
	}
}

// mostSteps is how many bytes are read from one place. A text that has more ways
// to be read is hidden as far as it was read.
const mostSteps = 1 << 12

// walk reads a text from one place in all ways.
type walk struct {
	trie  *trie
	e     *escapes
	least int
	steps int
	// end is where the longest pattern ends, 0 if there is none.
	end int
}

// step goes on at a place, and a node of the trie that so many bytes led to.
func (w *walk) step(p int, at int32, depth int) {
	if p >= len(w.e.s) {
		return
	}
	if w.steps++; w.steps > mostSteps {
		w.end = max(w.end, p)
		return
	}
	w.take(w.e.s[p:p+1], p+1, at, depth)
	for i := w.e.heads[p]; i != 0; i = w.e.all[i-1].next {
		o := &w.e.all[i-1]
		w.take(o.text[:o.n], int(o.to), at, depth)
	}
}

// take reads some bytes up to a place.
func (w *walk) take(text []byte, to int, at int32, depth int) {
	for _, c := range text {
		if at = w.trie.child(at, c); at == 0 {
			return
		}
	}
	if depth += len(text); w.trie.nodes[at].ends && depth >= w.least {
		w.end = max(w.end, to)
	}
	w.step(to, at, depth)
}
