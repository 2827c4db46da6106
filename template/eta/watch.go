package eta

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/grafana/sobek"
)

// errTime and errMemory end a render.
var (
	errTime   = &fault{msg: "cannot render: timeout exceeded", hint: "check for an infinite loop"}
	errMemory = &fault{msg: "cannot render: memory limit exceeded", hint: "check for an infinite loop that collects values"}
)

const (
	// grace is how long an interrupted machine may take to stop.
	grace = time.Second
	// firstLook is the delay of the first check of a render, and lookEvery the interval
	// after it. A render of ordinary length ends before the first check.
	firstLook = 20 * time.Millisecond
	lookEvery = 5 * time.Millisecond
)

// watch ends a render whose time is over, whose context is done, or which takes too much
// memory.
type watch struct {
	vm     *sobek.Runtime
	limits Limits
	// lost receives the reason for the interrupt if the machine did not stop when it was
	// interrupted.
	lost chan error

	// base is the memory of the process when the watch began.
	base uint64

	mu     sync.Mutex
	why    error
	over   bool
	inside int
	// every is the interval of the checks, and looks their number so far. doubt is the
	// memory of the process above which a check runs the garbage collector to find out how
	// much is in use.
	every  time.Duration
	looks  int
	doubt  uint64
	looker *time.Timer
	waiter *time.Timer
}

func newWatch(vm *sobek.Runtime, limits Limits) *watch {
	return &watch{vm: vm, limits: limits, lost: make(chan error, 1)}
}

// start begins the watch. The returned function ends it.
func (w *watch) start(ctx context.Context) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = heapBytes()
	w.doubt = w.base + uint64(w.limits.Memory)
	w.every = min(lookEvery, max(time.Millisecond, w.limits.Time/4))
	// The first check counts as several.
	first := max(1, min(firstLook, w.limits.Time/4)/w.every)
	w.looks = int(first) - 1
	w.looker = time.AfterFunc(first*w.every, w.look)
	cancel := func() bool { return true }
	if ctx.Done() != nil {
		cancel = context.AfterFunc(ctx, func() { w.stop(ctx.Err()) })
	}
	return func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		w.looker.Stop()
		if w.waiter != nil {
			w.waiter.Stop()
		}
	}
}

// stop interrupts the machine, and gives it some time to stop.
func (w *watch) stop(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.why != nil {
		return
	}
	w.why = why
	w.vm.Interrupt(why)
	w.waiter = time.AfterFunc(grace, w.giveUp)
}

// giveUp reports that the machine is lost, unless it waits for a Func: that is not the
// template's fault, and the Func must not be running after the render.
func (w *watch) giveUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if w.inside > 0 {
		w.waiter.Reset(grace)
		return
	}
	w.lost <- w.why
}

// enter records that a Func is about to be called. It returns false if the render was
// stopped: the Func must not be called then.
func (w *watch) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.why != nil {
		return false
	}
	w.inside++
	return true
}

// leave records that a Func has returned.
func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
}

// look checks the time and the memory of a render. Time is counted in checks: on a busy
// machine neither the render nor the checks make progress, and that is not the
// template's fault. The memory of a single render cannot be measured, but a long render
// during which the process grows that much is not worth waiting for.
func (w *watch) look() {
	w.mu.Lock()
	w.looks++
	late, doubt := time.Duration(w.looks)*w.every >= w.limits.Time, w.doubt
	w.mu.Unlock()
	switch {
	case late:
		w.stop(errTime)
	case heapBytes() > doubt:
		// Garbage does not count. Collecting it is expensive, so it is not repeated for a
		// small growth.
		runtime.GC()
		held, most := heapBytes(), w.base+uint64(w.limits.Memory)
		if held > most {
			w.stop(errMemory)
		}
		doubt = max(most, held+uint64(w.limits.Memory)/2)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubt = doubt
	if !w.over && w.why == nil {
		w.looker.Reset(w.every)
	}
}

// heapBytes returns the size of the objects on the heap in bytes.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
