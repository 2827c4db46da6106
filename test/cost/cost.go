// Package cost measures what hostile input takes, for tests that bound it.
package cost

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// Cost is processor time, and by how much the heap grew meanwhile.
type Cost struct {
	CPU    time.Duration
	Memory uint64
}

func (c Cost) String() string {
	return fmt.Sprintf("%v and %d MB", c.CPU.Round(time.Millisecond), c.Memory>>20)
}

// attempts is how often something is tried that took too much: other work on the
// machine makes everything slow, but seldom three times in a row.
const attempts = 3

// Within fails a test if something takes more than a limit, each time it is
// tried. The limit is that of a quiet machine: on one that is slow at the moment
// more processor time is allowed. It returns the last attempt.
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
	t.Errorf("it takes %v, want at most %v; the machine takes %.1f times as long as a quiet one", took, limit, slowness())
	return took
}

// Of measures something once.
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

// quiet is what the work of slowness takes on a quiet machine.
const quiet = 25 * time.Millisecond

// slowness is how many times as long as on a quiet machine something takes now,
// at least once.
func slowness() float64 {
	from := processorTime()
	kept := map[string]int{}
	for i := range 100_000 {
		kept[fmt.Sprint(i)] = i
	}
	runtime.KeepAlive(kept)
	return max(1, float64(processorTime()-from)/float64(quiet))
}

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails only for a wrong argument
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heapBytes is how much memory the values of the process take.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
