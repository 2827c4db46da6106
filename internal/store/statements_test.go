package store

import (
	"fmt"
	"sync"
	"testing"
)

// TestManyStatements reads in many ways at once: more statements than are kept,
// some of which are in use when their place is taken.
func TestManyStatements(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Store) {
		s := open()
		var docs []Document
		for i := range 20 {
			docs = append(docs, small(t, "API", fmt.Sprintf("n%02d", i), ""))
		}
		put(t, s, docs...)
		var readers sync.WaitGroup
		for reader := range 8 {
			readers.Go(func() {
				for i := range 2 * keptStatements {
					limit := 1 + (i*7+reader*31)%(2*keptStatements)
					page, err := s.Query(t.Context(), Query{Filter: In("kind", "api"), Limit: limit})
					if err != nil || len(page.Items) != min(limit, len(docs)) {
						t.Errorf("limit %d: %d items, %v", limit, len(page.Items), err)
						return
					}
				}
			})
		}
		readers.Wait()
		if n := len(s.statements.byText); n > keptStatements || n != s.statements.recent.Len() {
			t.Errorf("%d statements are kept, %d in order", n, s.statements.recent.Len())
		}
	})
}
