package jobs

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

// schedule is a job that is created periodically.
type schedule struct {
	work  work
	every time.Duration
	now   func() time.Time
}

// Next returns when the job is due after last. Runs that were missed because the
// process was suspended are not made up for. Both times have a monotonic clock reading,
// so that setting the wall clock has no effect.
func (s schedule) Next(last time.Time) time.Time {
	next := last.Add(s.every)
	if now := s.now(); next.Before(now) {
		return now.Add(s.every)
	}
	return next
}

// periodic returns the schedule for River, which knows which replica creates jobs, and
// when. River does not insert them itself: it would not retry if the database were
// unavailable at that moment, and would schedule them by the clock of this machine.
func (s schedule) periodic(d *due) *river.PeriodicJob {
	return river.NewPeriodicJob(s, func() (river.JobArgs, *river.InsertOpts) {
		d.put(s.work)
		return nil, nil
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// due are the jobs that schedules have requested and that are not in the queue yet.
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

// enqueue queues jobs that are due, until ctx ends.
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

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
