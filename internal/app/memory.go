package app

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Heap sizes below which the memory limit does not force extra collections: a
// long-running server gets less than a command.
const (
	ServerRoom  = 88 << 20
	CommandRoom = 256 << 20
)

// liveHeap is the metric of the bytes that were reachable at the last collection.
const liveHeap = "/gc/heap/live:bytes"

// share is the part of the memory of the machine, or of its cgroup, that is the
// upper bound of the heap's memory limit: the rest is for memory outside the heap,
// such as SQLite's.
const share = 0.8

// BoundMemory adjusts the memory limit of the garbage collector, until ctx ends,
// so that memory use stays close to the live heap and below the memory of the
// cgroup or the machine. Main lets the heap grow to three times the live heap,
// which is too much for a large heap: beyond room, it grows only to one and a half
// times. If GOGC or GOMEMLIMIT is set, BoundMemory does nothing.
func BoundMemory(ctx context.Context, room int64) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	sample := []metrics.Sample{{Name: liveHeap}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		// A cgroup's limit may be changed while the program runs.
		debug.SetMemoryLimit(memoryLimit(room, sample[0].Value.Uint64(), available()))
		select {
		case <-ctx.Done():
			debug.SetMemoryLimit(math.MaxInt64)
			return
		case <-tick.C:
		}
	}
}

// available returns how much memory the heap may take, given the cgroup or
// otherwise the machine; math.MaxInt64 if neither is known.
func available() int64 {
	from := memlimit.ApplyRatio(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem), share)
	if most, err := from(); err == nil && most > 0 && most < math.MaxInt64 {
		return int64(most)
	}
	return math.MaxInt64
}

// memoryLimit returns the limit for a live heap of this size, given the room and
// the maximum.
func memoryLimit(room int64, live uint64, most int64) int64 {
	live = min(live, math.MaxInt64/2)
	return min(most, max(room, int64(live+live/2)))
}
