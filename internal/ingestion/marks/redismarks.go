package marks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redis/rueidis"
)

// batch is how many marks are sent or fetched at once: ten thousand take a few round
// trips, and no command blocks Redis for long.
const batch = 4000

// redisMarks implements Marks in Redis: one hash per source. Updates are not atomic,
// since each mark is valid independently of the others.
type redisMarks struct{ r *Redis }

// Marks returns Marks that all replicas share. They last as long as Redis keeps them.
func (r *Redis) Marks() Marks { return redisMarks{r} }

// marksKey returns the key of a source's marks.
func (r *Redis) marksKey(source string) string { return r.prefix + "marks:" + source }

// Load implements Marks.
func (m redisMarks) Load(ctx context.Context, source string) (map[string]string, error) {
	marks := map[string]string{}
	err := m.r.scan(ctx, func(b rueidis.Builder, cursor uint64) rueidis.Completed {
		return b.Hscan().Key(m.r.marksKey(source)).Cursor(cursor).Count(batch).Build()
	}, func(found []string) error {
		for pair := range slices.Chunk(found, 2) {
			marks[pair[0]] = pair[1]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot load marks of %q: %w", source, m.r.failed("read from", err))
	}
	return marks, nil
}

// Save implements Marks. If it fails, some marks may have been set or dropped.
func (m redisMarks) Save(ctx context.Context, source string, set map[string]string, drop []string) error {
	key := m.r.marksKey(source)
	// Drop first: an object with a missing mark is processed again, one with a wrong mark
	// is not.
	for keys := range slices.Chunk(drop, batch) {
		if err := m.send(ctx, source, func(b rueidis.Builder) rueidis.Completed {
			return b.Hdel().Key(key).Field(keys...).Build()
		}); err != nil {
			return err
		}
	}
	for keys := range slices.Chunk(slices.Collect(maps.Keys(set)), batch) {
		if err := m.send(ctx, source, func(b rueidis.Builder) rueidis.Completed {
			pairs := b.Hset().Key(key).FieldValue()
			for _, k := range keys {
				pairs = pairs.FieldValue(k, set[k])
			}
			return pairs.Build()
		}); err != nil {
			return err
		}
	}
	return nil
}

// send sends one command for the marks of a source.
func (m redisMarks) send(ctx context.Context, source string, build func(rueidis.Builder) rueidis.Completed) error {
	_, err := m.r.ask(ctx, build)
	if err != nil {
		return fmt.Errorf("cannot save marks of %q: %w", source, m.r.failed("write to", err))
	}
	return nil
}

// Forget implements Marks. It scans all keys of the database instead of maintaining a
// list of sources, which might get lost and leave orphaned marks.
func (m redisMarks) Forget(ctx context.Context, keep []string) error {
	kept := make(map[string]bool, len(keep))
	for _, source := range keep {
		kept[m.r.marksKey(source)] = true
	}
	err := m.r.scan(ctx, func(b rueidis.Builder, cursor uint64) rueidis.Completed {
		return b.Scan().Cursor(cursor).Match(literally(m.r.marksKey("")) + "*").Count(batch).Build()
	}, func(found []string) error {
		found = slices.DeleteFunc(found, func(key string) bool { return kept[key] })
		if len(found) == 0 {
			return nil
		}
		_, err := m.r.ask(ctx, func(b rueidis.Builder) rueidis.Completed { return b.Unlink().Key(found...).Build() })
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot remove marks: %w", m.r.failed("write to", err))
	}
	return nil
}

// scan iterates over the results of a command, a batch at a time. It may return an
// element twice.
func (r *Redis) scan(ctx context.Context, next func(rueidis.Builder, uint64) rueidis.Completed, each func([]string) error) error {
	for cursor := uint64(0); ; {
		answer, err := r.ask(ctx, func(b rueidis.Builder) rueidis.Completed { return next(b, cursor) })
		if err != nil {
			return err
		}
		entry, err := answer.AsScanEntry()
		if err != nil {
			return err
		}
		if err := each(entry.Elements); err != nil {
			return err
		}
		if cursor = entry.Cursor; cursor == 0 {
			return nil
		}
	}
}

// literally returns a pattern that matches only text itself.
func literally(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
