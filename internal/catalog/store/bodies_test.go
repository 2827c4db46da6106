package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/write"
)

// TestQueryIsOfOneMoment has a replica write states, in each of which all
// entities have the same number, while another reads pages: a page never mixes
// two states and never has a stale cached entity.
func TestQueryIsOfOneMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		const states, entities = 40, 20
		reader, writer := open(), open()
		write := func(state int) {
			c := write.Change{Provider: "p", Full: true}
			for i := range entities {
				// Every third state repeats, so that its cached entities are used again.
				c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"n":%d`, state%3)))
			}
			push(t, writer, c)
		}
		read := func() string {
			page, err := reader.Query(t.Context(), Query{Filter: filter.In("kind", "component"), Limit: entities})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) != entities {
				t.Fatalf("page has %d entities, want all", len(page.Items))
			}
			first := ""
			for _, e := range page.Items {
				n := decodeBody(t, e.JSON).Get("spec", "n").Text
				if first == "" {
					first = n
				}
				if n != first {
					t.Fatalf("page mixes state %s and state %s", first, n)
				}
			}
			return first
		}
		write(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for state := 1; state <= states; state++ {
				write(state)
			}
		}()
		for reading := true; reading; {
			read()
			select {
			case <-done:
				reading = false
			default:
			}
		}
		if got, want := read(), fmt.Sprint(states%3); got != want {
			t.Errorf("last state is %s, want %s", got, want)
		}
	})
}

// TestFillNotices changes an entity between the query that finds it and the read
// of its body.
func TestFillNotices(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		push(t, s, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"n":1`), component(t, "b", `"n":1`)}})
		page, err := s.Query(t.Context(), Query{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		other := open()
		push(t, other, write.Change{Provider: "p", Put: []write.Document{component(t, "a", `"n":2`)}})
		items := []Entity{{Ref: page.Items[0].Ref, ETag: page.Items[0].ETag}, {Ref: page.Items[1].Ref, ETag: page.Items[1].ETag}}
		if same, err := other.fill(t.Context(), other.DB.Query, items); err != nil || same {
			t.Errorf("store without a cached body: same is %t, error %v; want false", same, err)
		}
		if same, err := s.fill(t.Context(), s.DB.Query, items); err != nil || !same {
			t.Errorf("store with a cached body: same is %t, error %v; want true", same, err)
		}
	})
}

// TestManyAreOfOneMoment has a replica write states while another reads more
// entities by reference than fit in one statement.
func TestManyAreOfOneMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		const states, entities = 20, 4 * batch
		reader, writer := open(), open()
		refs := make([]string, entities)
		write := func(state int) error {
			c := write.Change{Provider: "p", Full: true}
			for i := range refs {
				refs[i] = fmt.Sprint("component:default/c", i)
				c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"n":%d`, state)))
			}
			_, err := writer.Sync(t.Context(), c)
			return err
		}
		if err := write(0); err != nil {
			t.Fatal(err)
		}
		read := append([]string{}, refs...)
		done := make(chan error, 1)
		go func() {
			var errs []error
			for state := 1; state <= states; state++ {
				errs = append(errs, write(state))
			}
			done <- errors.Join(errs...)
		}()
		for reading := true; reading; {
			found, err := reader.GetMany(t.Context(), read)
			if err != nil {
				t.Fatal(err)
			}
			first := decodeBody(t, found[0].JSON).Get("spec", "n").Text
			for _, e := range found {
				if n := decodeBody(t, e.JSON).Get("spec", "n").Text; n != first {
					t.Fatalf("result mixes state %s and state %s", first, n)
				}
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				reading = false
			default:
			}
		}
	})
}

// TestFacetsAreOfOneMoment has a replica write states, in each of which all
// fields have the same value, while another counts the values of each field.
func TestFacetsAreOfOneMoment(t *testing.T) {
	const states, fields = 60, 30
	var names []string
	for i := range fields {
		names = append(names, fmt.Sprint("spec.f", i))
	}
	state := func(n int) write.Change {
		spec := make([]string, fields)
		for i := range spec {
			spec[i] = fmt.Sprintf(`"f%d":%d`, i, n)
		}
		return write.Change{Provider: "p", Full: true, Put: []write.Document{component(t, "c", spec...)}}
	}
	onBoth(t, func(t *testing.T, open func() *Store) {
		reader, writer := open(), open()
		push(t, writer, state(0))
		done := make(chan error, 1)
		go func() {
			var errs []error
			for n := 1; n <= states; n++ {
				_, err := writer.Sync(t.Context(), state(n))
				errs = append(errs, err)
			}
			done <- errors.Join(errs...)
		}()
		for reading := true; reading; {
			facets, err := reader.Facets(t.Context(), names, filter.Filter{}, Text{})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if diff := cmp.Diff(facets[names[0]], facets[name]); diff != "" {
					t.Fatalf("facets mix two states: %s", diff)
				}
			}
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				reading = false
			default:
			}
		}
	})
}
