package store

import (
	"context"

	"example.dev/ingestor/entity/filter"
)

// count returns how many entities pass a condition.
func (s *Store) count(ctx context.Context, c cond) (int, error) {
	if c.op == filter.OpFalse {
		return 0, nil
	}
	sel, err := s.selectNow(ctx, c)
	if err != nil {
		return 0, err
	}
	return sel.count(), nil
}
