package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/column"
	"example.dev/ingestor/internal/db"
)

// maxCached is the maximum weight of the cached answers: a number weighs 1, a list as
// much as it has items. maxGuessed is the maximum number of cached guesses, and guessed
// is how long a guess is used regardless of the revision.
const (
	maxCached  = 50_000
	maxGuessed = 10_000
	guessed    = 2 * time.Second
)

// cached caches counts for one revision, and guesses a little longer.
type cached struct {
	mu       sync.Mutex
	revision int64
	weight   int
	answers  map[question]any
	guesses  map[question]guess
	// sparseLimit, unless it is zero, overrides the constant.
	sparseLimit int
}

// guess is a count that was right at a revision and time.
type guess struct {
	n        int
	revision int64
	at       time.Time
}

// question is the cache key of an answer: a hash of what is counted and of the
// condition.
type question [sha256.Size]byte

// ask returns the question for what is counted and for which condition.
func ask(what string, c cond) question {
	b := make([]byte, 0, 256)
	b = append(append(b, what...), 0)
	return sha256.Sum256(c.appendKey(b))
}

// appendKey appends a text that is the same for equal conditions, and different for all
// others.
func (c *cond) appendKey(b []byte) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, byte(c.op))
	b = binary.AppendVarint(b, c.kid)
	b = binary.AppendUvarint(b, uint64(len(c.kids)))
	for _, kid := range c.kids {
		b = binary.AppendVarint(b, kid)
	}
	b = binary.AppendUvarint(b, uint64(len(c.values)))
	for _, v := range c.values {
		text(v)
	}
	b = binary.AppendUvarint(b, uint64(len(c.conds)))
	for _, sub := range c.conds {
		b = sub.appendKey(b)
	}
	return b
}

// at drops all answers if the revision differs from theirs.
func (k *cached) at(revision int64) {
	if k.revision == revision && k.answers != nil {
		return
	}
	k.revision, k.weight, k.answers = revision, 0, map[question]any{}
}

func (k *cached) get(revision int64, q question) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at(revision)
	v, ok := k.answers[q]
	return v, ok
}

// last returns a guess that is recent enough: from the last seen revision, or not older
// than guessed.
func (k *cached) last(now time.Time, q question) (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	g, ok := k.guesses[q]
	return g.n, ok && (g.revision == k.revision || now.Sub(g.at) < guessed)
}

// guess stores a count for last.
func (k *cached) guess(q question, g guess) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.guesses == nil || len(k.guesses) >= maxGuessed {
		k.guesses = map[question]guess{}
	}
	k.guesses[q] = g
}

// forget drops all answers and guesses.
func (k *cached) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers, k.guesses = nil, nil
}

func (k *cached) put(revision int64, q question, v any, weight int) {
	if weight > maxCached/2 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if revision < k.revision {
		// Another goroutine has seen a later revision.
		return
	}
	k.at(revision)
	if k.weight += weight; k.weight > maxCached {
		k.weight, k.answers = weight, map[question]any{}
	}
	k.answers[q] = v
}

// count returns how many entities pass the condition.
func (s *Store) count(ctx context.Context, c cond) (int, error) {
	if c.op == filter.OpFalse {
		return 0, nil
	}
	revision, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil {
		return 0, err
	}
	return s.countAt(ctx, c, revision)
}

// countAt counts at a known revision or a later one.
func (s *Store) countAt(ctx context.Context, c cond, revision int64) (int, error) {
	q := ask("count", c)
	n, err := s.answer(ctx, revision, q, func(ctx context.Context) (any, int, int64, error) {
		n, at, err := s.countNow(ctx, c, revision)
		if err == nil {
			s.cached.guess(q, guess{n, at, s.Now()})
		}
		return n, 1, at, err
	})
	if err != nil {
		return 0, err
	}
	return n.(int), nil
}

// answer returns the cached answer at a revision, or what compute returns: the value,
// its weight and the revision at which it holds. Concurrent callers share one
// computation.
func (s *Store) answer(
	ctx context.Context, revision int64, q question, compute func(context.Context) (v any, weight int, at int64, err error),
) (any, error) {
	if v, ok := s.cached.get(revision, q); ok {
		return v, nil
	}
	return s.flights.do(ctx, flightKey{revision, q}, func(ctx context.Context) (any, error) {
		// The previous flight may have cached the answer in between.
		if v, ok := s.cached.get(revision, q); ok {
			return v, nil
		}
		s.flights.computed.Add(1)
		v, weight, at, err := compute(ctx)
		if err == nil {
			s.cached.put(at, q, v, weight)
		}
		return v, err
	})
}

// countNow counts at a revision or a later one, which it returns. It uses columns if
// they are loaded or if there is much to count.
func (s *Store) countNow(ctx context.Context, c cond, revision int64) (n int, at int64, err error) {
	kids, ok := columnKeys(nil, c)
	if ok {
		if ok, err = s.inColumns(ctx, c, kids); err != nil {
			return 0, 0, err
		}
	}
	if ok {
		ok, err = s.columns.With(ctx, revision, kids, func(v column.View) { n, at = passing(v, c).Count(), v.Revision() })
		if ok || err != nil {
			return n, at, err
		}
	}
	p, err := s.planFilter(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	w := s.newSQL(!p.sparse)
	text := "SELECT (SELECT n FROM revision), count(*) " + w.writeFrom(&p)
	err = db.Each(ctx, s.DB.Query, text, w.args, func(rows *db.Rows) error { return rows.Scan(&at, &n) })
	return n, at, err
}
