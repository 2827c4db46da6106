package mask

// blobDigit is the value of a base64 character in either alphabet, -1 for other
// bytes.
var blobDigit = func() (out [256]int8) {
	for i := range out {
		out[i] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		out[c] = int8(i)
	}
	out['-'], out['_'] = 62, 63
	return out
}()

// run is a sequence of base64 characters, without the line breaks between them.
type run struct {
	of *stream
	s  []byte
	// first is where in the stream the run begins. places are the positions of its
	// characters if they are not adjacent, and end is where the last one ends.
	first  int
	places []int
	end    int
	// memory is the buffer for characters that are not adjacent.
	memory []byte
}

// at returns the span of the whole text that holds the characters from i to j.
func (r *run) at(i, j int) span {
	if len(r.places) == 0 {
		return r.of.at(r.first+i, r.first+j)
	}
	// Bytes between characters belong to the one before.
	end := r.end
	if j < len(r.places) {
		end = r.places[j]
	}
	return r.of.at(r.places[i], end)
}

// runs searches what runs of base64 and hex in a stream decode to.
func (f *finder) runs(st *stream, depth int) {
	least := f.least()
	if least == 0 || depth == deepest {
		return
	}
	s, r := st.s, &f.levels[depth].run
	r.of = st
	for p := 0; p+least <= len(s); {
		// A run must fill the whole window: searching the window from its end for a byte
		// outside of any run skips most positions.
		if i := lastOther(s[p : p+least]); i >= 0 {
			p += i + 1
			continue
		}
		if blobDigit[s[p]] < 0 {
			p++
			continue
		}
		// The run continues over line breaks to q.
		q, letters, broken := p, 0, false
		for {
			from := q
			for q < len(s) && blobDigit[s[q]] >= 0 {
				q++
			}
			letters += q - from
			next := overBreak(s, q)
			if next == q {
				break
			}
			q, broken = next, true
		}
		switch {
		case letters < least:
		case !broken:
			r.s, r.first, r.places = s[p:q], p, r.places[:0]
			f.run(r, depth)
		default:
			r.memory, r.places, r.end = r.memory[:0], r.places[:0], q
			for i, c := range s[p:q] {
				if blobDigit[c] >= 0 {
					r.memory, r.places = append(r.memory, c), append(r.places, p+i)
				}
			}
			r.s = r.memory
			f.run(r, depth)
		}
		p = q
	}
}

// lastOther returns the index of the last byte that cannot be part of a run, -1 if
// there is none.
func lastOther(s []byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if blobDigit[s[i]] >= 0 {
			continue
		}
		first := beforeBreak(s[:i+1])
		if first < 0 {
			return i
		}
		i = first
	}
	return -1
}

// beforeBreak returns where the line break at the end of s begins, including the
// indentation of the next line; -1 if s does not end with one.
func beforeBreak(s []byte) int {
	i := len(s)
	for i > 0 && isSpace(s[i-1]) {
		i--
	}
	if i == len(s) || !isBreak(s[i]) {
		return -1
	}
	return i
}

func isBreak(c byte) bool { return c == '\r' || c == '\n' }

func isSpace(c byte) bool { return isBreak(c) || c == ' ' || c == '\t' }

// escapedRuns searches runs in which characters, or the line breaks between them, are
// escaped.
func (f *finder) escapedRuns(st *stream, e *escapes, depth int) {
	least := f.least()
	if least == 0 || depth == deepest {
		return
	}
	r := &f.levels[depth].run
	r.of = st
	done := 0
	// e.all is ordered from the end of the text to its beginning.
	for i := len(e.all) - 1; i >= 0; i-- {
		p := int(e.all[i].from)
		if p < done {
			continue
		}
		p = e.begin(p, done)
		letters, end := 0, p
		done = e.over(p, func(_ byte, _, to int) { letters, end = letters+1, to })
		if letters < least {
			continue
		}
		r.memory, r.places, r.end = r.memory[:0], r.places[:0], end
		e.over(p, func(c byte, from, _ int) {
			r.memory, r.places = append(r.memory, c), append(r.places, from)
		})
		r.s = r.memory
		f.run(r, depth)
	}
}

// begin returns where the run that includes p begins, but not before first.
func (e *escapes) begin(p, first int) int {
	for i := p; i > first; {
		if blobDigit[e.s[i-1]] >= 0 {
			i--
			p = i
			continue
		}
		if i = beforeBreak(e.s[first:i]) + first; i < first {
			break
		}
	}
	return p
}

// over reads a run, calls f with each of its characters, and returns where the next
// run may begin.
func (e *escapes) over(p int, f func(c byte, from, to int)) int {
	for gap := false; p < len(e.s); {
		c, to := e.letter(p)
		switch {
		case blobDigit[c] >= 0:
			f(c, p, to)
			gap = false
		case isBreak(c) || gap && isSpace(c):
			gap = true
		default:
			return to
		}
		p = to
	}
	return p
}

// overBreak returns where the next line continues a run after a line break at q; q if
// it does not.
func overBreak(s []byte, q int) int {
	at := q
	for at < len(s) && (isBreak(s[at]) || at > q && isSpace(s[at])) {
		at++
	}
	if at == q || at == len(s) || blobDigit[s[at]] < 0 {
		return q
	}
	return at
}

// least returns the minimum number of characters of a run to search, 0 to search
// none.
func (m *Mask) least() int {
	if m.inside == 0 {
		return 0
	}
	if m.blobs.least == 0 {
		return m.encoded()
	}
	return min(m.blobs.least, m.encoded())
}

// encoded returns the minimum number of base64 characters of the shortest secret.
func (m *Mask) encoded() int { return (m.inside*4 + 2) / 3 }

// run searches what a run decodes to.
func (f *finder) run(r *run, depth int) {
	f.folded(r)
	if len(r.s) < f.encoded() {
		return
	}
	if f.room -= 4 * len(r.s); f.room < 0 {
		f.hide(r.at(0, len(r.s)))
		return
	}
	memory := &f.levels[depth+1].decoded
	// The start of the base64 data is unknown, so every alignment is tried.
	for skip := range 4 {
		*memory = decodeBase64((*memory)[:0], r.s[skip:])
		f.stream(stream{s: *memory, place: func(i, j int) span {
			return r.at(skip+i/3*4+i%3, skip+(j-1)/3*4+(j-1)%3+2)
		}}, depth+1)
	}
	for i := 0; i < len(r.s); {
		j := i
		for j < len(r.s) && hexDigit[r.s[j]] >= 0 {
			j++
		}
		if j-i < 2*f.inside {
			i = j + 1
			continue
		}
		for skip := i; skip < i+2; skip++ {
			*memory = decodeHex((*memory)[:0], r.s[skip:j])
			f.stream(stream{s: *memory, place: func(i, j int) span { return r.at(skip+2*i, skip+2*j) }}, depth+1)
		}
		i = j
	}
}

// decodeHex decodes hexadecimal digits; an odd last one is ignored.
func decodeHex(out, s []byte) []byte {
	for ; len(s) >= 2; s = s[2:] {
		out = append(out, byte(hexDigit[s[0]])<<4|byte(hexDigit[s[1]]))
	}
	return out
}

// decodeBase64 decodes base64 characters; those that do not complete a byte are
// ignored.
func decodeBase64(out, s []byte) []byte {
	for len(s) >= 4 {
		v := uint32(blobDigit[s[0]])<<18 | uint32(blobDigit[s[1]])<<12 | uint32(blobDigit[s[2]])<<6 | uint32(blobDigit[s[3]])
		out = append(out, byte(v>>16), byte(v>>8), byte(v))
		s = s[4:]
	}
	if len(s) >= 2 {
		out = append(out, byte(blobDigit[s[0]])<<2|byte(blobDigit[s[1]])>>4)
	}
	if len(s) == 3 {
		out = append(out, byte(blobDigit[s[1]])<<4|byte(blobDigit[s[2]])>>2)
	}
	return out
}

// folded searches for base64 whose letter case was lost, which cannot be decoded.
func (f *finder) folded(r *run) {
	t, s := &f.blobs, r.s
	if t.empty() {
		return
	}
	t.starts(s, func(p int) {
		n := t.match(s[p:])
		if n >= longest-4 {
			// Only the beginning of a long secret is searched for.
			n = len(s) - p
		}
		if n > 0 {
			f.hide(r.at(p, p+n))
		}
	})
}
