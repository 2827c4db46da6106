package write

import "example.dev/ingestor/internal/spool"

// loggedEdge is the change of a relation in a log.
type loggedEdge struct {
	edge
	removed bool
}

// newEdgeLog returns a log of the changed relations of a large sync, to write them in the
// order of their sources. It holds a number of bytes in memory.
func newEdgeLog(most int) *spool.Sorter[loggedEdge] {
	return &spool.Sorter[loggedEdge]{
		Most:    most,
		Size:    func(e loggedEdge) int { return len(e.source) + len(e.target) },
		Compare: func(a, b loggedEdge) int { return compareEdges(a.edge, b.edge) },
		Encode: func(dst []byte, e loggedEdge) []byte {
			for _, text := range []string{e.source, e.typ, e.target, e.declarer} {
				dst = spool.AppendText(dst, text)
			}
			return spool.AppendBool(dst, e.removed)
		},
		Decode: func(p *spool.Piece) loggedEdge {
			return loggedEdge{edge{p.Text(), p.Text(), p.Text(), p.Text()}, p.Bool()}
		},
	}
}
