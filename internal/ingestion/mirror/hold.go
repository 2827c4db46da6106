package mirror

import (
	"context"

	"example.dev/ingestor/internal/db"
)

// Units whose objects became stale or fresh are held: they are dirty, but not returned by
// Units until Release, because an outage concerns many sources one after the other, and a
// definition may be in all of them. A unit that becomes dirty for another reason is no
// longer held. held is added to the place of held units in the queue, so that replicas of
// an earlier release process them last.
const held int64 = 1 << 48

// Held are the units that are held.
type Held struct {
	Units int
	// Stamp differs whenever another unit was held.
	Stamp int64
}

// Held returns how many units are held.
func (s *Mirror) Held(ctx context.Context) (h Held, err error) {
	err = s.Read.QueryRowContext(ctx, "SELECT count(*), coalesce(max(stamp), 0) FROM dirty WHERE since >= $1", held).Scan(&h.Units, &h.Stamp)
	return h, db.Fail("count held units", err)
}

// Release ends the holding of all units that are held.
func (s *Mirror) Release(ctx context.Context) error {
	return db.Fail("release held units", s.change(ctx, func(w *writer) error {
		_, err := w.ExecContext(ctx, "UPDATE dirty SET since = since - $1 WHERE since >= $1", held)
		return err
	}))
}

// holdLists marks the units dirty that an object in one of the lists of a source belongs
// to, directly or by its kind, and holds them.
func (w *writer) holdLists(ctx context.Context, source string, lists []string) error {
	if len(lists) == 0 {
		return nil
	}
	t := newTouched()
	const query = "SELECT DISTINCT unit, of_kind FROM objects WHERE gone = 0 AND source = $1 AND list IN "
	if err := w.s.SelectIn(ctx, w.Ask, query, storable(lists), t.take, source); err != nil {
		return err
	}
	_, err := w.touch(ctx, t, placeHeld)
	return err
}
