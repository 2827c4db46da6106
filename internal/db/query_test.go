package db

import (
	"fmt"
	"sync"
	"testing"
)

// TestManyStatements runs many queries concurrently: more than are kept prepared, some
// of which are in use when they are evicted.
func TestManyStatements(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *DB) {
		d := open()
		var readers sync.WaitGroup
		for reader := range 8 {
			readers.Go(func() {
				for i := range 2 * keptStatements {
					want := 1 + (i*7+reader*31)%(2*keptStatements)
					got, err := d.Texts(t.Context(), fmt.Sprintf("SELECT '%d' WHERE %[1]d > $1", want), 0)
					if err != nil || len(got) != 1 || got[0] != fmt.Sprint(want) {
						t.Errorf("query %d returned %v, %v", want, got, err)
						return
					}
				}
			})
		}
		readers.Wait()
		if n := len(d.statements.byText); n > keptStatements || n != d.statements.recent.Len() {
			t.Errorf("%d statements are cached, %d in order", n, d.statements.recent.Len())
		}
	})
}
