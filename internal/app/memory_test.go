package app

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

func TestMemoryLimit(t *testing.T) {
	const mb = 1 << 20
	for name, c := range map[string]struct {
		live, other uint64
		most        int64
		want        int64
	}{
		"A small heap has the room.":                 {10 * mb, 10 * mb, math.MaxInt64, 88 * mb},
		"A large one grows by half.":                 {200 * mb, 0, math.MaxInt64, 300 * mb},
		"Stacks do not take the place of the heap.":  {40 * mb, 60 * mb, math.MaxInt64, 120 * mb},
		"The cgroup has the last word.":              {200 * mb, 20 * mb, 256 * mb, 256 * mb},
		"Even where it has less than the room.":      {10 * mb, 10 * mb, 64 * mb, 64 * mb},
		"And where more than that is reachable.":     {300 * mb, 0, 256 * mb, 256 * mb},
		"What cannot be is bounded like everything.": {math.MaxUint64, math.MaxUint64, math.MaxInt64, 5764607523034234877},
	} {
		if got := memoryLimit(88*mb, c.live, c.other, c.most); got != c.want {
			t.Errorf("%s Limit is %d, want %d", name, got, c.want)
		}
	}
	if got := available(); got <= 0 || got > math.MaxInt64/2 {
		t.Errorf("available memory is %d", got)
	}
}

// garbage is what a test allocates.
var garbage []byte

// TestOtherMemory checks that a program does not collect garbage all the time while
// memory that collections cannot free is larger than its heap may grow.
func TestOtherMemory(t *testing.T) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		t.Skip("the environment sets the limit")
	}
	const room, live = 16 << 20, 40 << 20
	for name, c := range map[string]struct {
		metric string
		take   func() (free func())
	}{
		"Stacks": {"/memory/classes/heap/stacks:bytes", func() func() {
			end := make(chan struct{})
			var waiting sync.WaitGroup
			for range 8000 {
				waiting.Go(func() {
					var stack [4 << 10]byte
					<-end
					runtime.KeepAlive(&stack)
				})
			}
			return func() { close(end); waiting.Wait() }
		}},
		"Gaps": {"/memory/classes/heap/unused:bytes", func() func() {
			var kept [][]byte
			for i := range 200_000 {
				if b := make([]byte, 512); i%16 == 0 {
					kept = append(kept, b)
				} else {
					garbage = b
				}
			}
			return func() { runtime.KeepAlive(kept) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ballast := make([]byte, live)
			defer runtime.KeepAlive(ballast)
			free := c.take()
			defer free()
			sample := []metrics.Sample{{Name: c.metric}, {Name: "/gc/cycles/total:gc-cycles"}}
			runtime.GC()
			ctx, cancel := context.WithCancel(t.Context())
			var bound sync.WaitGroup
			bound.Go(func() { BoundMemory(ctx, room) })
			defer bound.Wait()
			defer cancel()
			// The limit is adjusted every second.
			time.Sleep(1500 * time.Millisecond)
			metrics.Read(sample)
			if other := sample[0].Value.Uint64(); other < live/2 {
				t.Fatalf("%s is %d, want more than the heap may grow", c.metric, other)
			}
			before := sample[1].Value.Uint64()
			for range 400 {
				garbage = make([]byte, 64<<10)
				time.Sleep(time.Millisecond)
			}
			metrics.Read(sample)
			if n := sample[1].Value.Uint64() - before; n > 5 {
				t.Errorf("%d collections for %d bytes of garbage, want a few", n, 400*len(garbage))
			}
		})
	}
}
