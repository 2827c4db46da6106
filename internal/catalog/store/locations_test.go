package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/database"
)

func TestLocations(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, replica := open(), open()
		ctx := t.Context()
		var added []Location
		for i := range 3 {
			l, err := s.AddLocation(ctx, "url", fmt.Sprintf("https://example.dev/%d", i))
			if err != nil {
				t.Fatal(err)
			}
			added = append(added, l)
		}
		if _, err := replica.AddLocation(ctx, "url", "https://example.dev/1"); !errors.Is(err, db.ErrExists) {
			t.Errorf("adding a location twice returned %v, want db.ErrExists", err)
		}
		if _, err := s.AddLocation(ctx, "file", "https://example.dev/1"); err != nil {
			t.Errorf("adding the target with another type returned %v", err)
		}
		if _, err := s.UpdateLocation(ctx, added[0].ID, "url", "https://example.dev/1"); !errors.Is(err, db.ErrExists) {
			t.Errorf("changing a location to an existing one returned %v, want db.ErrExists", err)
		}
		if _, err := s.UpdateLocation(ctx, "none", "url", "x"); !isNotFound(err) {
			t.Errorf("changing an unknown location returned %v, want not found", err)
		}
		if err := s.NoteLocation(ctx, added[0].ID, "it is broken", time.UnixMilli(5)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UpdateLocation(ctx, added[0].ID, "url", "https://example.dev/new"); err != nil {
			t.Fatal(err)
		}
		added[0].Target = "https://example.dev/new"
		got, err := replica.Location(ctx, added[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(added[0], got); diff != "" {
			t.Error(diff)
		}
		all, err := replica.Locations(ctx)
		if err != nil || len(all) != 4 {
			t.Fatalf("%d locations are listed, want 4 (%v)", len(all), err)
		}
		if !slices.IsSortedFunc(all, func(a, b Location) int { return strings.Compare(a.ID, b.ID) }) {
			t.Error("locations are not sorted")
		}
		if _, err := s.Location(ctx, "none"); !isNotFound(err) {
			t.Errorf("reading an unknown location returned %v, want not found", err)
		}
		if err := s.RemoveLocation(ctx, "none"); !isNotFound(err) {
			t.Errorf("removing an unknown location returned %v, want not found", err)
		}
	})
}

func TestRemoveLocationRemovesEntities(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		l, err := s.AddLocation(t.Context(), "url", "https://example.dev/x")
		if err != nil {
			t.Fatal(err)
		}
		push(t, s, write.Change{Provider: LocationProvider(l.ID), Full: true, Put: []write.Document{component(t, "a", `"owner":"g"`)}})
		push(t, s, write.Change{Provider: "other", Full: true, Put: []write.Document{group(t, "g")}})
		if err := s.RemoveLocation(t.Context(), l.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), "component:default/a"); !isNotFound(err) {
			t.Errorf("reading the entity returned %v, want not found", err)
		}
		if links := linksOf(t, s, "group:default/g"); len(links) > 0 {
			t.Errorf("group still has the relations %v", links)
		}
		if _, err := s.Location(t.Context(), l.ID); !isNotFound(err) {
			t.Errorf("reading the location returned %v, want not found", err)
		}
	})
}

func TestNoteLocation(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		ctx := t.Context()
		l, err := s.AddLocation(ctx, "url", "x")
		if err != nil {
			t.Fatal(err)
		}
		start := time.UnixMilli(1_000_000).UTC()
		note := func(problem string, after time.Duration) {
			t.Helper()
			if err := s.NoteLocation(ctx, l.ID, problem, start.Add(after)); err != nil {
				t.Fatal(err)
			}
			got, err := s.Location(ctx, l.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := Location{ID: l.ID, Type: "url", Target: "x", Error: problem, ReadAt: start.Add(after)}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		note("", 0)
		before := database.Written(t, s.DB)
		note("", time.Minute)
		note("", 2*time.Minute)
		if database.Written(t, s.DB) != before {
			t.Error("new time without another change was written")
		}
		note("it is broken", 3*time.Minute)
		if database.Written(t, s.DB) == before {
			t.Error("problem was not written")
		}
		replica := open()
		got, err := replica.Location(ctx, l.ID)
		if err != nil || got.Error != "it is broken" || !got.ReadAt.Equal(start.Add(3*time.Minute)) {
			t.Errorf("another replica reads %+v (%v)", got, err)
		}
		if err := s.NoteLocation(ctx, "none", "", start); !isNotFound(err) {
			t.Errorf("noting an unknown location returned %v, want not found", err)
		}
	})
}
