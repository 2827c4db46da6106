package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// TestComputeOnce sends the same request many times concurrently, at several revisions.
func TestComputeOnce(t *testing.T) {
	var c Cache
	for revision := range int64(5) {
		var computed atomic.Int64
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				v, err := c.Compute(t.Context(), revision, Key{1}, func(context.Context) (any, int, int64, error) {
					computed.Add(1)
					return revision, 1, revision, nil
				})
				if v != revision || err != nil {
					t.Errorf("answer at revision %d is %v (%v)", revision, v, err)
				}
			})
		}
		wg.Wait()
		if n := computed.Load(); n != 1 {
			t.Errorf("the answer was computed %d times, want once", n)
		}
	}
}
