package write

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/index"
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
	runs[loggedPosting]
	// most is how many bytes are held at most, and size how many are.
	most, size int
	held       postingChanges
}

func newPostingLog(most int) *postingLog {
	return &postingLog{most: cmp.Or(most, loggedBytes), held: postingChanges{}, runs: runs[loggedPosting]{
		compare: func(a, b loggedPosting) int { return a.Compare(b.Posting) },
		encode: func(dst []byte, p loggedPosting) []byte {
			dst = appendText(appendText(binary.AppendVarint(dst, p.Kid), p.Value), p.Original)
			return appendIDs(appendIDs(dst, p.add), p.drop)
		},
		decode: func(p *piece) loggedPosting {
			return loggedPosting{index.Posting{Kid: p.number(), Value: p.text(), Original: p.text()}, postingChange{add: p.ids(), drop: p.ids()}}
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
	err := l.add(func(yield func(loggedPosting) bool) {
		for _, p := range slices.SortedFunc(maps.Keys(l.held), index.Posting.Compare) {
			if !yield(loggedPosting{p, *l.held[p]}) {
				return
			}
		}
	})
	l.held, l.size = postingChanges{}, 0
	return err
}

// write writes all changes, in the order of the index. Each entity is written once, so that
// no part drops what another one adds.
func (l *postingLog) write(ctx context.Context, w *transaction) error {
	if len(l.all) == 0 {
		return w.writePostings(ctx, l.held)
	}
	if err := l.spill(); err != nil {
		return err
	}
	merged, err := l.merge()
	if err != nil {
		return err
	}
	some, ids := postingChanges{}, 0
	for {
		next, ok := merged.peek()
		if !ok {
			return w.writePostings(ctx, some)
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
		if err := merged.skip(); err != nil {
			return err
		}
	}
}
