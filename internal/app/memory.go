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
	ServerRoom  = 112 << 20
	CommandRoom = 256 << 20
)

// The metrics that the limit depends on: the bytes that were reachable at the last
// collection, all memory of the runtime, and the parts of it that objects take, that are
// free for them, or that were returned to the operating system.
const (
	liveHeap = "/gc/heap/live:bytes"
	total    = "/memory/classes/total:bytes"
	objects  = "/memory/classes/heap/objects:bytes"
	free     = "/memory/classes/heap/free:bytes"
	released = "/memory/classes/heap/released:bytes"
)

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
	sample := []metrics.Sample{{Name: liveHeap}, {Name: total}, {Name: objects}, {Name: free}, {Name: released}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		// A cgroup's limit may be changed while the program runs.
		other := sample[1].Value.Uint64()
		for _, not := range sample[2:] {
			other -= min(other, not.Value.Uint64())
		}
		debug.SetMemoryLimit(memoryLimit(room, sample[0].Value.Uint64(), other, available()))
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

// memoryLimit returns the limit for a live heap of this size and other memory of the
// runtime, given the room and the maximum. The limit is for both, and collections free
// only the heap: without the stacks of ten thousand goroutines, or the gaps between the
// objects that are left of a large heap, it would be exceeded all the time, and half of
// the CPU time would be spent on collections.
func memoryLimit(room int64, live, other uint64, most int64) int64 {
	live, other = min(live, math.MaxInt64/4), min(other, math.MaxInt64/4)
	return min(most, max(room, int64(live+live/2+other)))
}
