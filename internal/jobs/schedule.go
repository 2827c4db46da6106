package jobs

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

// schedule is a job that is made every while.
type schedule struct {
	work  work
	every time.Duration
	now   func() time.Time
}

// Next returns when the job is due after it was due at last. What was missed
// because the process stood still is not made up for. Both times carry the
// steady clock of the process, so that nothing happens when somebody sets the
// other one.
func (s schedule) Next(last time.Time) time.Time {
	next := last.Add(s.every)
	if now := s.now(); next.Before(now) {
		return now.Add(s.every)
	}
	return next
}

// periodic is the schedule for River, which knows who of the replicas makes
// jobs, and when. It does not make them itself: it would not try again if the
// database were away just then, and would have them wait until a time by the
// clock of this machine.
func (s schedule) periodic(d *due) *river.PeriodicJob {
	return river.NewPeriodicJob(s, func() (river.JobArgs, *river.InsertOpts) {
		d.put(s.work)
		return nil, nil
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// due are the jobs that schedules have asked for and that are not in the queue
// yet.
type due struct {
	mu     sync.Mutex
	jobs   map[string]work
	filled chan struct{}
}

func newDue() *due { return &due{jobs: map[string]work{}, filled: make(chan struct{}, 1)} }

func (d *due) put(works ...work) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range works {
		d.jobs[w.name()] = w
	}
	select {
	case d.filled <- struct{}{}:
	default:
	}
}

func (d *due) take() []work {
	d.mu.Lock()
	defer d.mu.Unlock()
	var works []work
	for _, w := range d.jobs {
		works = append(works, w)
	}
	clear(d.jobs)
	slices.SortFunc(works, func(a, b work) int { return strings.Compare(a.name(), b.name()) })
	return works
}

// enqueue puts what is due into the queue, until ctx ends.
func (q *Queue) enqueue(ctx context.Context) {
	const pause = time.Second
	quiet := newOnce(q.log, q.opts.Now)
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.due.filled:
		}
		works := q.due.take()
		for i, w := range works {
			if _, err := q.engine.insert(ctx, w, insertOpts(w, q.lane(w.Task))); err != nil {
				if ctx.Err() != nil {
					return
				}
				quiet.warn("cannot queue scheduled tasks, trying again", "waiting", len(works)-i, "err", err)
				q.due.put(works[i:]...)
				wait(ctx, pause)
				break
			}
		}
	}
}

// wait waits, unless ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
