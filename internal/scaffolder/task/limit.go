package task

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/jobs"
)

// Limits are how much of the portal one caller may use at once.
type Limits struct {
	// OpenTasks is how many tasks of one caller may wait or run, across all replicas.
	// Zero is no limit.
	OpenTasks int
	// RunningTasks is how many tasks of one caller run concurrently in this process; the
	// others wait without occupying a worker. Zero is no limit.
	RunningTasks int
}

const (
	// tryLater is how long a client that is over a limit should wait before it retries.
	tryLater = 10 * time.Second
	// nextTurn is how long the first task that waits for other tasks of its caller is
	// postponed; each one after it is postponed by turnsApart more, up to lastTurn.
	// Normally they are queued as soon as a slot is free; the delay is the fallback.
	nextTurn, turnsApart, lastTurn = 2 * time.Second, 500 * time.Millisecond, 30 * time.Second
	// mostDryWaiting is how many dry runs may wait for one caller.
	mostDryWaiting = 2
)

// runsFor returns the caller a task runs for, empty if callers are not limited.
func (t *Tasks) runsFor(ctx context.Context, id string) (string, error) {
	if t.opts.Limits.RunningTasks <= 0 {
		return "", nil
	}
	return t.opts.Store.TaskSubject(ctx, id)
}

// admit refuses a further task of a caller that has too many. The caller of admit
// must call done once the task is stored: until then a lock keeps other tasks of the
// caller from being counted.
func (t *Tasks) admit(ctx context.Context, subject string) (done func(), err error) {
	most := t.opts.Limits.OpenTasks
	if most <= 0 {
		return func() {}, nil
	}
	mu := &t.admitting[maphash.String(admittingSeed, subject)%uint64(len(t.admitting))]
	mu.Lock()
	n, err := t.opts.Store.CountOpenTasks(ctx, subject)
	if err == nil && n >= most {
		_, name, _ := strings.Cut(subject, " ")
		err = overLimit("cannot create a task: %s has %d open tasks, and scaffolder.limits.openTasks is %d; wait until some end, or cancel some", name, n, most)
	}
	if err != nil {
		mu.Unlock()
		return nil, err
	}
	return mu.Unlock, nil
}

// admittingSeed is the hash seed that distributes callers over the locks.
var admittingSeed = maphash.MakeSeed()

// slots counts the tasks that run in this process, by caller, and keeps those that
// wait for a slot.
type slots struct {
	most int

	mu      sync.Mutex
	running map[string]int
	waiting map[string][]string
}

func newSlots(most int) *slots {
	return &slots{most: most, running: map[string]int{}, waiting: map[string][]string{}}
}

// take takes a slot for a task of a caller. If none is free, the error makes the
// queue retry later.
func (s *slots) take(caller, id string) error {
	if caller == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, waits := 0, s.waiting[caller]
	for at < len(waits) && waits[at] != id {
		at++
	}
	if s.running[caller] < s.most {
		s.running[caller]++
		s.drop(caller, at)
		return nil
	}
	if at == len(waits) {
		s.waiting[caller] = append(waits, id)
	}
	return jobs.Later(min(nextTurn+time.Duration(at)*turnsApart, lastTurn))
}

// drop removes the waiting task at an index, if there is one.
func (s *slots) drop(caller string, at int) {
	waits := s.waiting[caller]
	if at >= len(waits) {
		return
	}
	if s.waiting[caller] = append(waits[:at:at], waits[at+1:]...); len(waits) == 1 {
		delete(s.waiting, caller)
	}
}

// free releases a slot and returns the task that is next, empty if none waits in this
// process.
func (s *slots) free(caller string) (next string) {
	if caller == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[caller]--; s.running[caller] <= 0 {
		delete(s.running, caller)
	}
	if waits := s.waiting[caller]; len(waits) > 0 {
		next = waits[0]
		s.drop(caller, 0)
	}
	return next
}

// turns let each caller dry-run one Template at a time.
type turns struct {
	mu sync.Mutex
	// all has, by caller, a channel that holds a value during a dry run, and the number
	// of its users.
	all map[string]*turn
}

type turn struct {
	busy  chan struct{}
	users int
}

// take waits until no other dry run of the caller runs. done ends the turn.
func (s *turns) take(ctx context.Context, caller string) (done func(), err error) {
	s.mu.Lock()
	if s.all == nil {
		s.all = map[string]*turn{}
	}
	own := s.all[caller]
	if own == nil {
		own = &turn{busy: make(chan struct{}, 1)}
		s.all[caller] = own
	}
	if own.users > mostDryWaiting {
		s.mu.Unlock()
		return nil, tooManyDry()
	}
	own.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.all, caller)
		}
	}
	enough := time.NewTimer(dryWait)
	defer enough.Stop()
	select {
	case own.busy <- struct{}{}:
		return func() { <-own.busy; leave() }, nil
	case <-enough.C:
		err = tooManyDry()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	leave()
	return nil, err
}

func tooManyDry() error {
	return overLimit("cannot dry-run the Template: another dry run of yours is in progress; wait until it ends")
}
