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
	errTime   = &fault{msg: "cannot finish rendering: it takes too long", hint: "is there an endless loop?"}
	errMemory = &fault{msg: "cannot finish rendering: it takes too much memory", hint: "is there an endless loop that collects something?"}
)

const (
	// grace is how long a machine that was interrupted may take to stop.
	grace = time.Second
	// firstLook is when a render is looked at first, and lookEvery how often from
	// then on. One of ordinary length is over before the first look.
	firstLook = 20 * time.Millisecond
	lookEvery = 5 * time.Millisecond
)

// watch ends a render whose time is over, whose context is done, or which
// takes too much memory.
type watch struct {
	vm     *sobek.Runtime
	limits Limits
	// lost says that the machine did not stop when it was told to, and why it
	// was told.
	lost chan error

	// base is the memory of the process when the watch began.
	base uint64

	mu     sync.Mutex
	why    error
	over   bool
	inside int
	// every is how often it is looked at, and looks how often it was. doubt is
	// how much memory the process must have for a look to find out what of it
	// is held.
	every  time.Duration
	looks  int
	doubt  uint64
	looker *time.Timer
	waiter *time.Timer
}

func newWatch(vm *sobek.Runtime, limits Limits) *watch {
	return &watch{vm: vm, limits: limits, lost: make(chan error, 1)}
}

// start begins the watch. The function it returns ends it.
func (w *watch) start(ctx context.Context) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.base = heapBytes()
	w.doubt = w.base + uint64(w.limits.Memory)
	w.every = min(lookEvery, max(time.Millisecond, w.limits.Time/4))
	// The first look stands for several.
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

// stop tells the machine to stop, and gives it some time to do so.
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

// giveUp says that the machine is lost, unless it waits for a Func: that is
// not the template's doing, and whoever gave the Func must not find it running
// after the render.
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

// enter says that a Func is about to be called. It reports false if the render
// was stopped: the Func must not be called then.
func (w *watch) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.why != nil {
		return false
	}
	w.inside++
	return true
}

// leave says that a Func has returned.
func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inside--
}

// look looks at the time and the memory that a render takes. Time is counted in
// looks: on a machine that is busy with other things neither the render nor the
// looks get on, and that is not the template's fault. Nothing can tell what
// memory one render holds, but one that runs for long while the process grows
// by so much is not one to wait for.
func (w *watch) look() {
	w.mu.Lock()
	w.looks++
	late, doubt := time.Duration(w.looks)*w.every >= w.limits.Time, w.doubt
	w.mu.Unlock()
	switch {
	case late:
		w.stop(errTime)
	case heapBytes() > doubt:
		// What nobody holds any more does not count. To find that out is hard
		// work, and is not done again for little.
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

// heapBytes returns how many bytes the objects in memory take.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
