package task

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"example.dev/ingestor/internal/jobs"
)

// Limits are how much of the portal one caller can use at once.
type Limits struct {
	// OpenTasks is how many tasks of one caller may wait and run, on all
	// replicas together. Zero is no limit.
	OpenTasks int
	// RunningTasks is how many tasks of one caller run at once here; the others
	// wait without a worker. Zero is no limit.
	RunningTasks int
}

const (
	// tryLater is how long a client waits that has too much.
	tryLater = 10 * time.Second
	// nextTurn is how long the first task that waits for others of its caller is
	// postponed, and each that follows it longer by turnsApart, up to lastTurn:
	// they are called when it is their turn, unless something goes wrong.
	nextTurn, turnsApart, lastTurn = 2 * time.Second, 500 * time.Millisecond, 30 * time.Second
	// mostDryWaiting is how many Templates wait to be tried out for one caller.
	mostDryWaiting = 2
)

// runsFor returns the caller that a task is run for, empty if it is not limited.
func (t *Tasks) runsFor(ctx context.Context, id string) (string, error) {
	if t.opts.Limits.RunningTasks <= 0 {
		return "", nil
	}
	return t.opts.Store.TaskSubject(ctx, id)
}

// admit refuses another task of a caller who has too many. What it returns is to
// be called once the task is stored: until then no other is counted.
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
		err = overLimit("cannot create a task: %s has %d tasks that wait or run, and scaffolder.limits.openTasks is %d; wait until some are over, or cancel some", name, n, most)
	}
	if err != nil {
		mu.Unlock()
		return nil, err
	}
	return mu.Unlock, nil
}

// admittingSeed spreads callers over locks.
var admittingSeed = maphash.MakeSeed()

// slots are the tasks that run here, by caller, and those that wait for them.
type slots struct {
	most int

	mu      sync.Mutex
	running map[string]int
	waiting map[string][]string
}

func newSlots(most int) *slots {
	return &slots{most: most, running: map[string]int{}, waiting: map[string][]string{}}
}

// take takes a slot for a task of a caller. If there is none, the error has the
// queue try again later.
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

// drop removes the task at a place from those that wait, if there is one.
func (s *slots) drop(caller string, at int) {
	waits := s.waiting[caller]
	if at >= len(waits) {
		return
	}
	if s.waiting[caller] = append(waits[:at:at], waits[at+1:]...); len(waits) == 1 {
		delete(s.waiting, caller)
	}
}

// free gives a slot back, and returns the task whose turn it is, empty if none
// waits here.
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

// turns let each caller try out one Template at a time.
type turns struct {
	mu sync.Mutex
	// all has, by caller, a channel that holds a value while one is tried out,
	// and how many know it.
	all map[string]*turn
}

type turn struct {
	busy  chan struct{}
	users int
}

// take waits for the turn of a caller. What it returns gives it back.
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
	return overLimit("cannot try out the Template: another is being tried out for you; wait until it ends")
}
