package store

import (
	"context"
	"crypto/sha256"
	"sync"
)

// maxCached is how much is remembered: a number weighs one, a list as much as
// it has items.
const maxCached = 50_000

// cached remembers what was counted as long as the revision stays the same.
type cached struct {
	mu       sync.Mutex
	revision int64
	weight   int
	answers  map[question]any
	// few, unless it is zero, is what the constant few is otherwise.
	few int
}

// question is a hash of what was asked.
type question [sha256.Size]byte

// ask makes a question of what is to be counted and for which condition.
func ask(what string, c cond) question {
	b := make([]byte, 0, 256)
	b = append(append(b, what...), 0)
	return sha256.Sum256(c.append(b))
}

// at forgets everything if the revision is another one.
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

// last returns the answer at the revision that was seen last, for guesses.
func (k *cached) last(q question) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.answers[q]
	return v, ok
}

func (k *cached) put(revision int64, q question, v any, weight int) {
	if weight > maxCached/2 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at(revision)
	if k.weight += weight; k.weight > maxCached {
		k.weight, k.answers = weight, map[question]any{}
	}
	k.answers[q] = v
}

// count returns how many entities pass the condition.
func (s *Store) count(ctx context.Context, c cond) (int, error) {
	if c.op == OpFalse {
		return 0, nil
	}
	revision, err := s.revision(ctx)
	if err != nil {
		return 0, err
	}
	return s.countAt(ctx, c, revision)
}

// countAt counts when the revision is known.
func (s *Store) countAt(ctx context.Context, c cond, revision int64) (int, error) {
	q := ask("count", c)
	if n, ok := s.cached.get(revision, q); ok {
		return n.(int), nil
	}
	b := statement{whole: true, find: s.finder()}
	b.add("SELECT (SELECT n FROM revision), count(*) ")
	p, err := s.plan(ctx, c)
	if err != nil {
		return 0, err
	}
	p.appendFrom(&b)
	n := 0
	err = each(ctx, s.rows, &b, func(rows *rows) error { return rows.Scan(&revision, &n) })
	if err == nil {
		s.cached.put(revision, q, n, 1)
	}
	return n, err
}

// guessAll returns about how many entities there are.
func (s *Store) guessAll(ctx context.Context) (int, error) {
	if n, ok := s.cached.last(ask("count", always)); ok {
		return n.(int), nil
	}
	return s.count(ctx, always)
}

// guess returns the number of rows that b counts up to a limit, or did lately.
func (s *Store) guess(ctx context.Context, q question, b *statement) (int, error) {
	if n, ok := s.cached.last(q); ok {
		return n.(int), nil
	}
	revision, n := int64(0), 0
	err := each(ctx, s.rows, b, func(rows *rows) error { return rows.Scan(&revision, &n) })
	if err == nil {
		s.cached.put(revision, q, n, 1)
	}
	return n, err
}
