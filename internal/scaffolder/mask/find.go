package mask

import "sync"

// span is a part of a text.
type span struct{ from, to int }

// deepest is the maximum nesting of base64 and hex.
const deepest = 4

// finder searches for secrets in one text.
type finder struct {
	*Mask
	found []span
	// room is how many bytes may still be decoded. Runs beyond that are masked instead
	// of decoded.
	room int
	// levels are the buffers for the stream of each depth; there is only one stream per
	// depth at a time.
	levels [deepest + 1]struct {
		escapes escapes
		decoded []byte
		run     run
	}
}

var finders = sync.Pool{New: func() any { return &finder{} }}

// find returns the spans of s that are secret, in no particular order.
func (m *Mask) find(s string) []span {
	f := finders.Get().(*finder)
	f.Mask, f.found, f.room = m, nil, 16*len(s)+64<<10
	f.stream(stream{s: []byte(s)}, 0)
	found := f.found
	f.Mask, f.found = nil, nil
	// Buffers of a very large text are not kept.
	if len(s) <= 1<<20 {
		finders.Put(f)
	}
	return found
}

// stream is a text to search: the whole text, or what a part of it decodes to.
type stream struct {
	s []byte
	// place returns the span of the whole text that bytes of s were decoded from; nil if
	// s is the whole text.
	place func(from, to int) span
}

func (st *stream) at(from, to int) span {
	if st.place == nil {
		return span{from, to}
	}
	return st.place(from, to)
}

// hide records that a span is secret.
func (f *finder) hide(p span) {
	// Repeatedly overlapping matches become one span.
	if last := len(f.found) - 1; last >= 0 && p.from <= f.found[last].to && p.from >= f.found[last].from {
		f.found[last].to = max(f.found[last].to, p.to)
		return
	}
	f.found = append(f.found, p)
}

// stream searches a stream for secrets; depth is how often it was decoded.
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

// plain searches a stream without escapes.
func (f *finder) plain(st *stream, least int) {
	f.texts.starts(st.s, func(p int) {
		if n := f.texts.match(st.s[p:]); n >= least {
			f.hide(st.at(p, p+n))
		}
	})
}

// escaped searches a stream that can be read in several ways.
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

// mostSteps is the maximum number of bytes read from one position. A text with more
// readings is masked as far as it was read.
const mostSteps = 1 << 12

// walk reads a text from one position in all ways.
type walk struct {
	trie  *trie
	e     *escapes
	least int
	steps int
	// end is where the longest pattern ends, 0 if there is none.
	end int
}

// step continues at position p, at a node of the trie at the given depth.
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

// take reads some bytes up to a position.
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
