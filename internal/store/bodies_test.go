package store

import (
	"fmt"
	"testing"
)

// TestQueryIsOfOneMoment has a replica write whole states, in each of which all
// entities say the same number, while another reads pages: a page never holds
// two of them, nor one that was remembered and is past.
func TestQueryIsOfOneMoment(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		const states, entities = 40, 20
		reader, writer := open(), open()
		write := func(state int) {
			c := Change{Provider: "p", Full: true}
			for i := range entities {
				// Every third state comes back, so that what is remembered of
				// it is used again.
				c.Put = append(c.Put, component(t, fmt.Sprint("c", i), fmt.Sprintf(`"n":%d`, state%3)))
			}
			push(t, writer, c)
		}
		read := func() string {
			page, err := reader.Query(t.Context(), Query{Filter: In("kind", "component"), Limit: entities})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) != entities {
				t.Fatalf("a page of %d entities", len(page.Items))
			}
			first := ""
			for _, e := range page.Items {
				n := decodeBody(t, e.JSON).Get("spec", "n").Text
				if first == "" {
					first = n
				}
				if n != first {
					t.Fatalf("a page has state %s and state %s", first, n)
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
			t.Errorf("the last state is %s, want %s", got, want)
		}
	})
}

// TestFillNotices has an entity change between being found and being read.
func TestFillNotices(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		push(t, s, Change{Provider: "p", Put: []Document{component(t, "a", `"n":1`), component(t, "b", `"n":1`)}})
		page, err := s.Query(t.Context(), Query{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		other := open()
		push(t, other, Change{Provider: "p", Put: []Document{component(t, "a", `"n":2`)}})
		items := []Entity{{Ref: page.Items[0].Ref, ETag: page.Items[0].ETag}, {Ref: page.Items[1].Ref, ETag: page.Items[1].ETag}}
		if same, err := other.fill(t.Context(), other.rows, items); err != nil || same {
			t.Errorf("a store that never read it: same %t, error %v, want another one", same, err)
		}
		if same, err := s.fill(t.Context(), s.rows, items); err != nil || !same {
			t.Errorf("a store that remembers it: same %t, error %v, want the same", same, err)
		}
	})
}
