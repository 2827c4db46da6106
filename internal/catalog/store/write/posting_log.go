package write

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/spool"
)

const (
	// loggedBytes is about how many bytes a log holds in memory, and loggedOverhead how many a
	// record takes besides its texts.
	loggedBytes    = 16 << 20
	loggedOverhead = 160
	// writtenAtOnce and mostIDs are how many postings are written at once, and how many ids.
	writtenAtOnce = 8192
	mostIDs       = 1 << 20
)

// loggedPosting is the change of a posting in a log.
type loggedPosting struct {
	index.Posting
	postingChange
}

// postingLog collects the changes of postings of a large sync, to write them at the end in
// the order of the index: each part of the sync alone would change most pages of the index.
type postingLog struct {
	sorter spool.Sorter[loggedPosting]
	// most is how many bytes are held at most, and size how many are.
	most, size int
	held       postingChanges
	// spilled reports that some are in the sorter.
	spilled bool
}

func newPostingLog(most int) *postingLog {
	return &postingLog{most: cmp.Or(most, loggedBytes), held: postingChanges{}, sorter: spool.Sorter[loggedPosting]{
		Compare: func(a, b loggedPosting) int { return a.Posting.Compare(b.Posting) },
		Encode: func(dst []byte, p loggedPosting) []byte {
			dst = spool.AppendText(spool.AppendText(spool.AppendNumber(dst, p.Kid), p.Value), p.Original)
			return spool.AppendIDs(spool.AppendIDs(dst, p.add), p.drop)
		},
		Decode: func(p *spool.Piece) loggedPosting {
			return loggedPosting{index.Posting{Kid: p.Number(), Value: p.Text(), Original: p.Text()}, postingChange{add: p.IDs(), drop: p.IDs()}}
		},
	}}
}

// log adds changes.
func (l *postingLog) log(changes postingChanges) error {
	for p, c := range changes {
		held := l.held[p]
		if held == nil {
			// The texts are parts of documents, which would stay in memory.
			p.Value, p.Original = strings.Clone(p.Value), strings.Clone(p.Original)
			held = l.held.of(p)
			l.size += loggedOverhead + len(p.Value) + len(p.Original)
		}
		held.add, held.drop = append(held.add, c.add...), append(held.drop, c.drop...)
		l.size += 4 * (len(c.add) + len(c.drop))
	}
	if l.size <= l.most {
		return nil
	}
	return l.spill()
}

// spill moves what is held to a new run.
func (l *postingLog) spill() error {
	err := l.sorter.PutRun(func(yield func(loggedPosting) bool) {
		for _, p := range slices.SortedFunc(maps.Keys(l.held), index.Posting.Compare) {
			if !yield(loggedPosting{p, *l.held[p]}) {
				return
			}
		}
	})
	l.held, l.size, l.spilled = postingChanges{}, 0, true
	return err
}

// write writes all changes, in the order of the index. Each entity is written once, so that
// no part drops what another one adds.
func (l *postingLog) write(ctx context.Context, w *transaction) error {
	if !l.spilled {
		return w.writePostings(ctx, l.held)
	}
	if err := l.spill(); err != nil {
		return err
	}
	some, ids := postingChanges{}, 0
	for next, err := range l.sorter.All() {
		if err != nil {
			return err
		}
		if some[next.Posting] == nil && (len(some) >= writtenAtOnce || ids >= mostIDs) {
			if err := w.writePostings(ctx, some); err != nil {
				return err
			}
			some, ids = postingChanges{}, 0
		}
		c := some.of(next.Posting)
		c.add, c.drop = append(c.add, next.add...), append(c.drop, next.drop...)
		ids += len(next.add) + len(next.drop)
	}
	return w.writePostings(ctx, some)
}
