package write

import (
	"cmp"
	"slices"
)

// loggedEdge is the change of a relation in a log.
type loggedEdge struct {
	edge
	removed bool
}

// edgeLog collects the changed relations of a large sync, to write them in the order of
// their sources.
type edgeLog struct {
	runs[loggedEdge]
	// most is how many bytes are held at most, and size how many are.
	most, size int
	held       []loggedEdge
}

func newEdgeLog(most int) *edgeLog {
	return &edgeLog{most: cmp.Or(most, loggedBytes), runs: runs[loggedEdge]{
		compare: func(a, b loggedEdge) int { return compareEdges(a.edge, b.edge) },
		encode: func(dst []byte, e loggedEdge) []byte {
			for _, text := range []string{e.source, e.typ, e.target, e.declarer} {
				dst = appendText(dst, text)
			}
			if e.removed {
				return append(dst, 1)
			}
			return append(dst, 0)
		},
		decode: func(p *piece) loggedEdge {
			return loggedEdge{edge{p.text(), p.text(), p.text(), p.text()}, p.length() == 1}
		},
	}}
}

// log adds relations that are inserted and removed.
func (l *edgeLog) log(insert, remove []edge) error {
	for i, edges := range [][]edge{insert, remove} {
		for _, e := range edges {
			l.held = append(l.held, loggedEdge{e, i == 1})
			l.size += loggedOverhead + len(e.source) + len(e.target)
		}
	}
	if l.size <= l.most {
		return nil
	}
	return l.spill()
}

// spill moves what is held to a new run.
func (l *edgeLog) spill() error {
	slices.SortFunc(l.held, l.compare)
	err := l.add(slices.Values(l.held))
	l.held, l.size = nil, 0
	return err
}
