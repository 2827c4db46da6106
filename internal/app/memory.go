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

// The room that a program has before it collects more often: a server, which
// stays, takes less than a command.
const (
	ServerRoom  = 88 << 20
	CommandRoom = 256 << 20
)

// liveHeap is what was reachable at the last collection.
const liveHeap = "/gc/heap/live:bytes"

// share is how much of the machine's memory, or of its cgroup's, the heap may take
// before it is collected at any cost: the rest is for what is not on the heap, such
// as SQLite.
const share = 0.8

// BoundMemory keeps the memory of a program close to what it holds, until ctx ends,
// and below what the cgroup or the machine has. Main lets the heap grow to three times
// of what is reachable, which is much where that is much: beyond room it grows by half
// of that. If GOGC or GOMEMLIMIT is set, it does nothing.
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

// available returns how much memory the heap may take, given the cgroup or else the
// machine; math.MaxInt64 if neither says so.
func available() int64 {
	from := memlimit.ApplyRatio(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem), share)
	if most, err := from(); err == nil && most > 0 && most < math.MaxInt64 {
		return int64(most)
	}
	return math.MaxInt64
}

// memoryLimit is the limit for a heap of which so much is reachable, given the room
// and the most there is.
func memoryLimit(room int64, live uint64, most int64) int64 {
	live = min(live, math.MaxInt64/2)
	return min(most, max(room, int64(live+live/2)))
}
