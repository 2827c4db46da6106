package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store/write"
)

// TestListIsOfOneMoment has another replica add an entity that sorts first while
// a list is read: digest, entities and end of the list are those of the earlier
// state.
func TestListIsOfOneMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s, other := open(), open()
		put(t, s, component(t, "b"), component(t, "c"), component(t, "d"))
		q := Query{Limit: 2}
		before := digest(t, s, q)
		var got []string
		err := s.List(t.Context(), q, func(l *Listing) error {
			push(t, other, write.Change{Provider: "q", Put: []write.Document{component(t, "a")}})
			if diff := cmp.Diff(before, l.Digest); diff != "" {
				t.Errorf("digest differs: %s", diff)
			}
			got = append(got, "end "+l.Last.Ref)
			return l.Each(func(e *Entity) error {
				got = append(got, e.Ref)
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"end component:default/c", "component:default/b", "component:default/c"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestListEnds(t *testing.T) {
	cases := map[string]struct {
		reason string
		q      Query
		want   string
	}{
		"More":   {reason: "A full page ends at its last entity.", q: Query{Limit: 2}, want: "component:default/c1"},
		"Sorted": {reason: "The end follows the sort order.", q: Query{Limit: 1, Offset: 1, Order: []Order{{Field: "spec.n", Desc: true}}}, want: "component:default/c2"},
		"Full":   {reason: "A page that ends with the last entity has no end.", q: Query{Limit: 4}},
		"Short":  {reason: "A page with room left has no end.", q: Query{Limit: 9}},
		"All":    {reason: "A list without a limit has no end.", q: Query{Limit: NoLimit}},
		"Beyond": {reason: "A page beyond the last entity has no end.", q: Query{Limit: 2, Offset: 7}},
		"None":   {reason: "An empty page has no end.", q: Query{}},
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []write.Document
		for i := range 4 {
			docs = append(docs, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"n":%d`, i)))
		}
		put(t, s, docs...)
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				err := s.List(t.Context(), tc.q, func(l *Listing) error {
					got := ""
					if l.Last != nil {
						got = l.Last.Ref
					}
					if got != tc.want {
						t.Errorf("%s: page ends at %q, want %q", tc.reason, got, tc.want)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}
