package engine_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/engine"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/words"
)

func TestMarkStale(t *testing.T) {
	since := time.Date(2026, 1, 2, 4, 4, 5, 6e6, time.FixedZone("", 3600))
	for _, v := range vocabularies {
		t.Run(v.String(), func(t *testing.T) {
			for _, e := range transform(t, engine.CLI, engine.Options{}, surrounded(t, v)).Entities {
				before, shared := maps.Clone(e.Metadata.Annotations), *e
				engine.MarkStale(e, "compositions of prod", since)
				valid(t, []*entity.Entity{e})
				want := maps.Clone(before)
				want[in(v, "portal.io/stale")] = "compositions of prod"
				want[in(v, "portal.io/stale-since")] = "2026-01-02T03:04:05.006Z"
				if diff := cmp.Diff(want, e.Metadata.Annotations); diff != "" {
					t.Errorf("marks of %s (-want +got):\n%s", e.Key(), diff)
				}
				if diff := cmp.Diff(before, shared.Metadata.Annotations); diff != "" {
					t.Errorf("copy of %s was marked too (-want +got):\n%s", e.Key(), diff)
				}
				if entity.Hash(e) == entity.Hash(&shared) {
					t.Errorf("hash of %s did not change with the stale mark, so the mark would not be written", e.Key())
				}
				engine.MarkStale(e, "", time.Time{})
				if diff := cmp.Diff(before, e.Metadata.Annotations); diff != "" {
					t.Errorf("marks of %s were not removed (-want +got):\n%s", e.Key(), diff)
				}
			}
		})
	}
	bare := &entity.Entity{APIVersion: words.EntityVersion, Kind: entity.KindResource}
	engine.MarkStale(bare, "x", since)
	if bare.Metadata.Annotations[words.AnnotationStale] != "x" {
		t.Errorf("annotations of an entity that had none: %v", bare.Metadata.Annotations)
	}
}
