package store

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
	"example.dev/ingestor/test/database"
)

func TestSyncAll(t *testing.T) {
	const a, b, c = "component:default/a", "component:default/b", "component:default/c"
	docs := func(names ...string) (docs []write.Document) {
		for _, name := range names {
			docs = append(docs, component(t, name, fmt.Sprintf(`"type":%q`, name)))
		}
		return docs
	}
	before := []write.Change{{Provider: "p", Full: true, Put: docs("a", "b")}, {Provider: "q", Full: true, Put: docs("c")}}
	cases := map[string]struct {
		reason  string
		changes []write.Change
		want    []write.Result
		owners  []string
	}{
		"None": {reason: "A call without changes changes nothing.", owners: []string{a + "|p", b + "|p", c + "|q"}},
		"Same": {
			reason: "Unchanged entities are not written.", changes: before,
			want: []write.Result{{Unchanged: 2}, {Unchanged: 1}}, owners: []string{a + "|p", b + "|p", c + "|q"},
		},
		"Mixed": {
			reason: "Each change has its own result, in order.",
			changes: []write.Change{
				{Provider: "q", Full: true, Put: docs("d")},
				{Provider: "p", Full: true, Put: []write.Document{docs("a")[0], component(t, "b")}},
			},
			want: []write.Result{{Added: 1, Removed: 1}, {Unchanged: 1, Updated: 1}}, owners: []string{a + "|p", b + "|p", "component:default/d|q"},
		},
		"GivenUpBefore": {
			reason:  "An entity that an earlier change removes can be added by a later one.",
			changes: []write.Change{{Provider: "p", Full: true, Put: docs("a")}, {Provider: "q", Put: docs("b")}},
			want:    []write.Result{{Unchanged: 1, Removed: 1}, {Added: 1}}, owners: []string{a + "|p", b + "|q", c + "|q"},
		},
		"GivenUpBehind": {
			reason:  "An entity that a later change removes can be added by an earlier one.",
			changes: []write.Change{{Provider: "q", Put: docs("b")}, {Provider: "p", Remove: []string{"Component:default/B"}}},
			want:    []write.Result{{Added: 1}, {Removed: 1}}, owners: []string{a + "|p", b + "|q", c + "|q"},
		},
		"Swapped": {
			reason:  "Two providers can exchange entities.",
			changes: []write.Change{{Provider: "p", Full: true, Put: docs("c")}, {Provider: "q", Full: true, Put: docs("a", "b")}},
			want:    []write.Result{{Added: 1, Removed: 2}, {Added: 2, Removed: 1}}, owners: []string{a + "|q", b + "|q", c + "|p"},
		},
		"Kept": {
			reason:  "An entity that its owner puts in the same call stays with it.",
			changes: []write.Change{{Provider: "q", Put: docs("b")}, {Provider: "p", Full: true, Put: docs("b"), Remove: []string{b}}},
			want:    []write.Result{{Refused: []write.Refusal{{Index: 0, Ref: b, Owner: "p"}}}, {Unchanged: 1, Removed: 1}}, owners: []string{b + "|p", c + "|q"},
		},
		"Withheld": {
			reason:  "A full change removes all entities that are neither put nor kept.",
			changes: []write.Change{{Provider: "p", Full: true, Keep: []string{"Component:default/B", "component:default/none"}}},
			want:    []write.Result{{Removed: 1}}, owners: []string{b + "|p", c + "|q"},
		},
		"WithheldFromOthers": {
			reason:  "An entity that its owner keeps cannot be taken, and another provider's entity cannot be kept.",
			changes: []write.Change{{Provider: "p", Full: true, Keep: []string{b, c}}, {Provider: "q", Full: true, Put: docs("b")}},
			want:    []write.Result{{Removed: 1}, {Removed: 1, Refused: []write.Refusal{{Index: 0, Ref: b, Owner: "p"}}}}, owners: []string{b + "|p"},
		},
		"First": {
			reason:  "The first of two providers that add a new entity owns it.",
			changes: []write.Change{{Provider: "r", Put: docs("d")}, {Provider: "q", Put: docs("e", "d")}},
			want:    []write.Result{{Added: 1}, {Added: 1, Refused: []write.Refusal{{Index: 1, Ref: "component:default/d", Owner: "r"}}}},
			owners:  []string{a + "|p", b + "|p", c + "|q", "component:default/d|r", "component:default/e|q"},
		},
		"FirstOfGivenUp": {
			reason:  "The first of two providers that take a removed entity owns it.",
			changes: []write.Change{{Provider: "r", Put: docs("a")}, {Provider: "q", Put: docs("a")}, {Provider: "p", Full: true}},
			want:    []write.Result{{Added: 1}, {Refused: []write.Refusal{{Index: 0, Ref: a, Owner: "r"}}}, {Removed: 2}}, owners: []string{a + "|r", c + "|q"},
		},
		"Twice": {
			reason:  "Several full changes of one provider are merged.",
			changes: []write.Change{{Provider: "p", Full: true, Put: docs("a")}, {Provider: "p", Full: true, Put: docs("b")}},
			want:    []write.Result{{Unchanged: 1}, {Unchanged: 1}}, owners: []string{a + "|p", b + "|p", c + "|q"},
		},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				for _, provider := range []string{"p", "q", "r"} {
					push(t, s, write.Change{Provider: provider, Full: true})
				}
				if _, err := s.SyncAll(t.Context(), before); err != nil {
					t.Fatal(err)
				}
				got, err := s.SyncAll(t.Context(), tc.changes)
				if err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(tc.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(write.Result{}, "Refs")); diff != "" {
					t.Errorf("%s: results differ: %s", tc.reason, diff)
				}
				var owners []string
				if err := database.Each(t.Context(), s.Read, "SELECT ref, provider FROM entities ORDER BY ref", nil, database.Into(&owners)); err != nil {
					t.Fatal(err)
				}
				if diff := gocmp.Diff(tc.owners, owners); diff != "" {
					t.Errorf("%s: owners differ: %s", tc.reason, diff)
				}
			})
		}
	})
}

// TestSyncAllKeepsUID checks that an entity keeps its uid when its provider
// changes.
func TestSyncAllKeepsUID(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a")}})
		before, err := s.Get(t.Context(), "component:default/a")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.SyncAll(t.Context(), []write.Change{{Provider: "p", Full: true}, {Provider: "q", Put: []write.Document{component(t, "a")}}})
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.Get(t.Context(), "component:default/a")
		if err != nil {
			t.Fatal(err)
		}
		before.Provider = "q"
		if diff := gocmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSyncAllIsOneMoment reads while many providers are written in one call.
func TestSyncAllIsOneMoment(t *testing.T) {
	const providers, states = 40, 12
	onBoth(t, func(t *testing.T, open func() *Store) {
		reader, writer := open(), open()
		write := func(n int) error {
			var changes []write.Change
			for i := range providers {
				changes = append(changes, write.Change{
					Provider: fmt.Sprint("definition:", i), Full: true,
					Put: []write.Document{component(t, fmt.Sprint("c", i), fmt.Sprintf(`"n":%d`, n)), component(t, fmt.Sprint("d", i, "-", n))},
				})
			}
			results, err := writer.SyncAll(t.Context(), changes)
			if err == nil && len(results) != providers {
				err = fmt.Errorf("call returned %d results", len(results))
			}
			return err
		}
		if err := write(0); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			var err error
			for n := 1; n <= states && err == nil; n++ {
				err = write(n)
			}
			done <- err
		}()
		for reading := true; reading; {
			facets, err := reader.Facets(t.Context(), []string{"spec.n"}, filter.In("kind", "component"), Text{})
			if err != nil {
				t.Fatal(err)
			}
			if f := facets["spec.n"]; len(f) != 1 || f[0].Count != providers {
				t.Fatalf("facets mix two states: %v", f)
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				reading = false
			case <-time.After(time.Millisecond):
			}
		}
	})
}
