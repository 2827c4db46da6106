package engine

import (
	"maps"
	"time"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

// stampLayout is the time format of entities.
const stampLayout = "2006-01-02T15:04:05.000Z"

func timestamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// MarkStale marks an entity as stale, in its own vocabulary: what could not be read, and
// since when. If what is empty, it removes the marks. The annotations are replaced, not
// modified, because another entity may share them.
func MarkStale(e *entity.Entity, what string, since time.Time) {
	v := words.Of(e.APIVersion)
	stale, at := v.Out(words.Key, words.AnnotationStale), v.Out(words.Key, words.AnnotationStaleSince)
	a := maps.Clone(e.Metadata.Annotations)
	if a == nil {
		a = map[string]string{}
	}
	delete(a, stale)
	delete(a, at)
	if what != "" {
		a[stale] = what
		a[at] = timestamp(since)
	}
	e.Metadata.Annotations = a
}
