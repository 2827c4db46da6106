package store

import (
	"cmp"
	"context"
	"fmt"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/db"
)

// sparseLimit is up to how many rows of a condition are counted. A condition with more
// rows is dense: scanning in order until enough rows match is cheaper than collecting
// and sorting them.
const sparseLimit = 2048

// maxUnion is how many alternatives are looked up at once. SQLite allows 500 statements
// in a UNION.
const maxUnion = 100

func (s *Store) sparseLimit() int { return cmp.Or(s.maxSparse, sparseLimit) }

// estimateCover returns a condition whose rows cover what passes c, and perhaps more,
// and the number of rows, at most about sparseLimit. Of conditions that must all pass
// it takes the one with the fewest rows.
func (s *Store) estimateCover(ctx context.Context, c cond, p *plan) (cond, int, error) {
	switch c.op {
	case filter.OpAny:
		sum, parts := 0, make([]cond, len(c.conds))
		for i, sub := range c.conds {
			part, n, err := s.estimateCover(ctx, sub, p)
			if sum += n; err != nil || sum >= s.sparseLimit() {
				return c, s.sparseLimit(), err
			}
			parts[i] = part
		}
		cover := anyOf(parts...)
		if len(cover.conds) > maxUnion {
			return c, s.sparseLimit(), nil
		}
		return cover, sum, nil
	case filter.OpAll:
		best, least := c, s.sparseLimit()+1
		for _, sub := range c.conds {
			if !sub.isIndexed() || least == 0 {
				continue
			}
			part, n, err := s.estimateCover(ctx, sub, p)
			if err != nil {
				return c, 0, err
			}
			if n < least {
				best, least = part, n
			}
		}
		return best, least, nil
	}
	n, err := s.estimateRows(ctx, c, p)
	return c, n, err
}

// estimateRows returns how many rows there are for c within the bounds of p, at most
// sparseLimit.
func (s *Store) estimateRows(ctx context.Context, c cond, p *plan) (int, error) {
	key := cacheKeyOf("rows "+p.lo, c)
	if n, ok := s.cache.Estimate(s.Now(), key); ok {
		return n, nil
	}
	w := s.newSQL(false)
	text := fmt.Sprintf("SELECT (SELECT n FROM revision), (SELECT count(*) FROM (%s LIMIT %d) g)", w.writeRefs(c, p), s.sparseLimit())
	revision, n := int64(0), 0
	err := db.Each(ctx, s.DB.Query, text, w.args, func(rows *db.Rows) error { return rows.Scan(&revision, &n) })
	if err == nil {
		s.cache.PutEstimate(key, cache.Estimate{N: n, Revision: revision, At: s.Now()})
	}
	return n, err
}

// estimateMatches returns how many entities pass c, for which p is the plan. If exact
// is false, there may be fewer, and also more if n has reached sparseLimit.
func (s *Store) estimateMatches(ctx context.Context, c cond, p *plan) (n int, exact bool, err error) {
	if n, ok := s.cache.Estimate(s.Now(), cacheKeyOf("count", c)); ok {
		return n, true, nil
	}
	switch {
	case p.sparse:
		n = p.rows
	case p.first.op == filter.OpTrue && p.lo == "":
		n = s.sparseLimit()
	default:
		n, err = s.estimateRows(ctx, p.first, p)
	}
	return n, false, err
}

// countAbout returns about how many entities pass c, for which p is the plan. The
// number is exact, if not up to date, where it is not below sparseLimit.
func (s *Store) countAbout(ctx context.Context, c cond, p *plan) (int, error) {
	n, exact, err := s.estimateMatches(ctx, c, p)
	if err != nil || exact || n < s.sparseLimit() {
		return n, err
	}
	return s.count(ctx, c)
}
