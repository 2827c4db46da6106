package mask

import "slices"

// fold maps bytes that are treated as equal to the same byte.
type fold [256]byte

// textFold ignores the case of ASCII letters, and treats a plus as a space, as in the
// query of a URL. blobFold treats the two alphabets of base64 as one and ignores
// letter case.
var textFold, blobFold = func() (text, blob fold) {
	for i := range 256 {
		c := byte(i)
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		text[i], blob[i] = c, c
	}
	text['+'] = ' '
	blob['-'], blob['_'] = '+', '/'
	return text, blob
}()

// apply returns s with every byte folded.
func (f *fold) apply(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = f[c]
	}
	return string(b)
}

// trie finds the longest of its patterns at a position. No pattern is shorter than
// shortest.
type trie struct {
	fold *fold
	// nodes has the root first. The children of a node are adjacent, sorted by label.
	nodes []node
	// roots are the indexes of the root's children by label, 0 if there is none.
	roots [256]int32
	// least is the length of the shortest pattern.
	least int
	// grams has a bit for the hash of the first three bytes of each pattern, so that
	// only a few positions must be examined.
	grams [1 << 10]uint64
}

type node struct {
	first int32
	count uint16
	label byte
	// ends says that a pattern ends here.
	ends bool
}

// newTrie returns a trie of patterns.
func newTrie(patterns []string, f *fold) trie {
	for i, p := range patterns {
		patterns[i] = f.apply(p)
	}
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	t := trie{fold: f, nodes: []node{{}}}
	for _, p := range patterns {
		h := gram(p[0], p[1], p[2])
		t.grams[h>>6] |= 1 << (h & 63)
		if t.least == 0 || len(p) < t.least {
			t.least = len(p)
		}
	}
	// Node i is the common prefix, of length depth, of the patterns in part i.
	type part struct{ lo, hi, depth int }
	parts := []part{{0, len(patterns), 0}}
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		t.nodes[i].first = int32(len(t.nodes))
		for lo := p.lo; lo < p.hi; {
			if len(patterns[lo]) == p.depth {
				t.nodes[i].ends = true
				lo++
				continue
			}
			label, hi := patterns[lo][p.depth], lo+1
			for hi < p.hi && patterns[hi][p.depth] == label {
				hi++
			}
			t.nodes = append(t.nodes, node{label: label})
			parts = append(parts, part{lo, hi, p.depth + 1})
			t.nodes[i].count++
			lo = hi
		}
	}
	for i := range int32(t.nodes[0].count) {
		t.roots[t.nodes[1+i].label] = 1 + i
	}
	return t
}

func (t *trie) empty() bool { return len(t.nodes) <= 1 }

// gram returns the hash of three folded bytes.
func gram(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> 16
}

// starts calls f with every position in s where a pattern may begin.
func (t *trie) starts(s []byte, f func(p int)) {
	if len(s) < shortest {
		return
	}
	// The last three folded bytes, the latest in the highest bits.
	last := uint32(t.fold[s[0]])<<8 | uint32(t.fold[s[1]])<<16
	for p, c := range s[2:] {
		last = last>>8 | uint32(t.fold[c])<<16
		h := last * 0x9E3779B1 >> 16
		if t.grams[h>>6]&(1<<(h&63)) != 0 {
			f(p)
		}
	}
}

// child returns the child of a node for a byte, 0 if there is none.
func (t *trie) child(at int32, c byte) int32 {
	c = t.fold[c]
	if at == 0 {
		return t.roots[c]
	}
	n := &t.nodes[at]
	lo, hi := n.first, n.first+int32(n.count)
	for hi-lo > 4 {
		if mid := (lo + hi) / 2; t.nodes[mid].label <= c {
			lo = mid
		} else {
			hi = mid
		}
	}
	for ; lo < hi; lo++ {
		if t.nodes[lo].label == c {
			return lo
		}
	}
	return 0
}

// match returns the length of the longest pattern that s begins with, 0 if there is
// none.
func (t *trie) match(s []byte) int {
	found := 0
	for at, i := int32(0), 0; i < len(s); {
		if at = t.child(at, s[i]); at == 0 {
			break
		}
		if i++; t.nodes[at].ends {
			found = i
		}
	}
	return found
}
