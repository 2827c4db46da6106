// Package cost measures the cost of hostile input, for tests that limit it.
package cost

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// Cost is CPU time and heap growth.
type Cost struct {
	CPU    time.Duration
	Memory uint64
}

func (c Cost) String() string {
	return fmt.Sprintf("%v and %d MB", c.CPU.Round(time.Millisecond), c.Memory>>20)
}

// attempts is the number of measurements before a failure: other load makes
// everything slow, but seldom three times in a row.
const attempts = 3

// Within fails a test if a function exceeds a limit at every attempt. The limit
// is for an idle machine; on a slow or busy one more CPU time is allowed. It
// returns the cost of the last attempt.
func Within(t testing.TB, limit Cost, do func()) Cost {
	t.Helper()
	var took Cost
	for range attempts {
		took = Of(do)
		if took.Memory > limit.Memory {
			continue
		}
		if took.CPU <= limit.CPU || took.CPU <= time.Duration(float64(limit.CPU)*slowness()) {
			return took
		}
	}
	t.Errorf("function took %v, want at most %v; the machine is %.1f times slower than an idle one", took, limit, slowness())
	return took
}

// Of measures a function once.
func Of(do func()) Cost {
	runtime.GC()
	base := heapBytes()
	top := base
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				top = max(top, heapBytes())
			}
		}
	}()
	from := processorTime()
	do()
	took := processorTime() - from
	close(stop)
	<-stopped
	return Cost{took, top - base}
}

// quiet is the time that the work of slowness takes on an idle machine.
const quiet = 25 * time.Millisecond

// slowness returns how many times slower than an idle machine this one is now,
// at least 1.
func slowness() float64 {
	from := processorTime()
	kept := map[string]int{}
	for i := range 100_000 {
		kept[fmt.Sprint(i)] = i
	}
	runtime.KeepAlive(kept)
	return max(1, float64(processorTime()-from)/float64(quiet))
}

// processorTime returns the CPU time of the process.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // The call fails only for an invalid argument.
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heapBytes returns the size of the heap of the process.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
