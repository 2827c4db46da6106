package store

import (
	"context"
	"sync"

	"example.dev/ingestor/internal/catalog/store/cache"
	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/catalog/store/texts"
	"example.dev/ingestor/internal/catalog/store/vocabulary"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
)

// Store is the catalog's storage. All methods may be called concurrently.
type Store struct {
	*db.DB
	*write.Writer
	// bodies caches the JSON of entities.
	bodies bodies
	// keys caches the numbers of keys.
	keys *index.Keys
	// tried is when locations were last read, where the database has only an older time: a
	// time alone is not worth a write.
	tried sync.Map
	// These are for reading.
	cache *cache.Cache
	texts *texts.Texts
	// turns is how many reads are in progress that take several statements.
	turns chan struct{}
	// vocabulary has the words that are similar to a word of a search.
	vocabulary *vocabulary.Vocabulary
	// maxLoaded, unless it is zero, is set by tests in place of the constant.
	maxLoaded int
	// leastAsked, unless it is zero, is set by tests: how many rows are read before the values
	// of a field are, instead of as many as there are entities.
	leastAsked int
}

// New returns the catalog's storage in a database.
func New(d *db.DB, opts Options) *Store {
	keys := &index.Keys{}
	return &Store{
		turns: make(chan struct{}, turnsPerConnection*d.Read.Stats().MaxOpenConnections),
		DB:    d, Writer: write.New(d, keys, opts.UIDRetention), keys: keys, bodies: newBodies(), cache: cache.New(d.Now), texts: texts.New(d, texts.MaxBytes),
		vocabulary: vocabulary.New(d, vocabulary.MaxWords),
	}
}

// turnsPerConnection is how many reads are in progress for each connection: some wait for what
// others compute.
const turnsPerConnection = 2

// turn waits until a read that takes several statements may begin, and returns what ends it.
// Without turns, hundreds of reads at a time would each take so long that the catalog changes
// meanwhile, and would begin again.
func (s *Store) turn(ctx context.Context) (end func(), err error) {
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Ping returns an error if the database does not answer.
func (s *Store) Ping(ctx context.Context) error {
	err := s.Present()
	if err == nil {
		_, err = changelog.Revision(ctx, s.DB.Query)
	}
	return db.Fail("reach the database", err)
}

// Revision returns a number that every change of entities increases, in all replicas.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	n, err := changelog.Revision(ctx, s.DB.Query)
	return n, db.Fail("read the revision", err)
}
