package store

import (
	"context"
	"errors"
	"testing"

	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/ingestion/mirror"
)

// TestFence checks that an earlier holder of a fence cannot write after a later
// one has begun.
func TestFence(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		one, two := open(), open()
		begin := func(ctx context.Context, s *Store, name string) context.Context {
			t.Helper()
			ctx, err := s.Fence(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			return ctx
		}
		n := 0
		writes := map[string]func(ctx context.Context) error{
			"Observe": func(ctx context.Context) error {
				_, err := mirror.New(one.DB).Observe(ctx, mirror.Observation{Source: "s", List: "l", Put: []mirror.Object{{Source: "s", List: "l", Key: "k", Unit: "u", Body: []byte{byte('0' + n)}}}})
				return err
			},
			"Sync": func(ctx context.Context) error {
				docs := []write.Document{component(t, "a", `"type":"`+string(byte('0'+n))+`"`)}
				_, err := one.Sync(ctx, write.Change{Provider: "p", Full: true, Put: docs})
				return err
			},
			"SetSource": func(ctx context.Context) error { return mirror.New(one.DB).SetSource(ctx, "s", []byte{byte('0' + n)}) },
			"Touch":     func(ctx context.Context) error { return mirror.New(one.DB).Touch(ctx, []string{"u"}) },
		}
		for name, write := range writes {
			t.Run(name, func(t *testing.T) {
				outer := begin(t.Context(), one, "outer")
				early := begin(outer, one, "scan a")
				other := begin(t.Context(), two, "scan b")
				for _, ctx := range []context.Context{early, other, t.Context()} {
					n++
					if err := write(ctx); err != nil {
						t.Errorf("write without a later holder returned %v", err)
					}
				}
				late := begin(t.Context(), two, "scan a")
				n++
				if err := write(early); !errors.Is(err, db.ErrSuperseded) || errors.Is(err, db.ErrUnavailable) {
					t.Errorf("write of the earlier holder returned %v, want db.ErrSuperseded", err)
				}
				for _, ctx := range []context.Context{late, outer, context.WithoutCancel(late)} {
					n++
					if err := write(ctx); err != nil {
						t.Errorf("write of the later holder returned %v", err)
					}
				}
				begin(t.Context(), two, "outer")
				n++
				if err := write(early); !errors.Is(err, db.ErrSuperseded) {
					t.Errorf("write within a superseded outer fence returned %v, want db.ErrSuperseded", err)
				}
			})
		}
	})
}
