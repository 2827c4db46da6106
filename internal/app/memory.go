package app

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The room that a program has before it collects more often: a server, which
// stays, takes less than a command.
const (
	ServerRoom  = 88 << 20
	CommandRoom = 256 << 20
)

// liveHeap is what was reachable at the last collection.
const liveHeap = "/gc/heap/live:bytes"

// BoundMemory keeps the memory of a program close to what it holds, until ctx ends.
// Main lets the heap grow to three times of what is reachable, which is much where
// that is much: beyond room it grows by half of that. Whoever sets GOGC or
// GOMEMLIMIT decides instead.
func BoundMemory(ctx context.Context, room int64) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	sample := []metrics.Sample{{Name: liveHeap}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		debug.SetMemoryLimit(memoryLimit(room, sample[0].Value.Uint64()))
		select {
		case <-ctx.Done():
			debug.SetMemoryLimit(math.MaxInt64)
			return
		case <-tick.C:
		}
	}
}

// memoryLimit is the limit for a heap of which so much is reachable, given the room.
func memoryLimit(room int64, live uint64) int64 {
	live = min(live, math.MaxInt64/2)
	return max(room, int64(live+live/2))
}
