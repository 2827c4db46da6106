package store

import (
	"context"

	"github.com/maypok86/otter/v2"

	"example.dev/ingestor/internal/db"
)

// maxBodies is how many bytes of JSON are cached.
const maxBodies = 24 << 20

// bodies caches the JSON of entities by etag. Since the etag is a hash of the JSON, an
// entry is never stale, whichever replica writes to the database.
type bodies struct{ cache *otter.Cache[string, []byte] }

func newBodies() bodies {
	return bodies{otter.Must(&otter.Options[string, []byte]{
		MaximumWeight: maxBodies,
		Weigher:       func(etag string, body []byte) uint32 { return uint32(len(etag) + len(body)) },
	})}
}

// fill sets the bodies of entities from the cache, or from the database. It returns
// false if an entity has changed since it was found, so that its body would not belong
// to the same snapshot as the others.
func (s *Store) fill(ctx context.Context, ask db.Asker, items []Entity) (bool, error) {
	var missing []string
	var at []int
	for i := range items {
		body, ok := s.bodies.cache.GetIfPresent(items[i].ETag)
		if items[i].JSON = body; !ok {
			missing, at = append(missing, items[i].Ref), append(at, i)
		}
	}
	if len(missing) == 0 {
		return true, nil
	}
	read := make(map[string][]byte, len(missing))
	err := s.readMany(ctx, ask, missing, func(e *Entity) {
		read[e.ETag] = e.JSON
		s.bodies.cache.Set(e.ETag, e.JSON)
	})
	if err != nil {
		return false, err
	}
	for _, i := range at {
		if items[i].JSON = read[items[i].ETag]; items[i].JSON == nil {
			return false, nil
		}
	}
	return true, nil
}
