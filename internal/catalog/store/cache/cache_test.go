package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestComputeOnce sends the same request many times concurrently, at several revisions.
func TestComputeOnce(t *testing.T) {
	c := New(time.Now)
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

// TestLateReader checks that a slow reader, who still reads an earlier revision, does not drop
// the answers of the present one, and that all readers of a restored database do.
func TestLateReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(time.Now)
		has := func(revision int64) bool {
			v, ok := c.Get(revision, Key{1})
			if ok && v != revision {
				t.Fatalf("answer at revision %d is %v", revision, v)
			}
			return ok
		}
		c.Put(5, Key{1}, int64(5), 1)
		c.Put(4, Key{1}, int64(4), 1)
		if has(4) || !has(5) {
			t.Fatal("a late reader dropped the answers of the present revision")
		}
		time.Sleep(slowest)
		if has(4) {
			t.Fatal("a restored database has answers of before")
		}
		c.Put(4, Key{1}, int64(4), 1)
		if !has(4) || has(5) {
			t.Fatal("a restored database gets answers of before")
		}
	})
}
