package jobs

import (
	"context"
	"maps"
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
func (s schedule) periodic(r *requests) *river.PeriodicJob {
	return river.NewPeriodicJob(s, func() (river.JobArgs, *river.InsertOpts) {
		r.put(request{work: s.work})
		return nil, nil
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// Request queues a job as Add does, but returns at once: if the database is
// unavailable, the queue retries until it has stored the job or the process ends.
// Requests of the same task and key that are not stored yet are merged. Before Run,
// requests are only collected.
func (q *Queue) Request(task, key string, how How) {
	q.requests.put(request{work: newWork(task, key, how), how: how, again: true})
}

// request is a job that is to be queued.
type request struct {
	work work
	how  How
	// again says that a running job is not sufficient.
	again bool
}

// requests are the jobs that are not in the queue yet.
type requests struct {
	mu     sync.Mutex
	byName map[string]request
	filled chan struct{}
}

func newRequests() *requests {
	return &requests{byName: map[string]request{}, filled: make(chan struct{}, 1)}
}

func (r *requests) put(more ...request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range more {
		name := req.work.name()
		if old, ok := r.byName[name]; ok {
			if old.again && !req.again {
				continue // A schedule adds nothing to a request.
			}
			req.how.Hurry = req.how.Hurry || old.how.Hurry
		}
		r.byName[name] = req
	}
	select {
	case r.filled <- struct{}{}:
	default:
	}
}

func (r *requests) take() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.byName), func(a, b request) int {
		return strings.Compare(a.work.name(), b.work.name())
	})
	clear(r.byName)
	return all
}

// enqueue queues jobs that are requested, until ctx ends.
func (q *Queue) enqueue(ctx context.Context) {
	const pause = time.Second
	quiet := newOnce(q.log, q.opts.Now)
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.requests.filled:
		}
		all := q.requests.take()
		for i, req := range all {
			if err := q.store(ctx, req); err != nil {
				if ctx.Err() != nil {
					return
				}
				quiet.warn("jobs could not be queued, retrying", "waiting", len(all)-i, "error", err)
				q.requests.put(all[i:]...)
				wait(ctx, pause)
				break
			}
		}
	}
}

func (q *Queue) store(ctx context.Context, req request) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if req.again {
		_, err := q.add(ctx, req.work, req.how)
		return err
	}
	_, err := q.engine.insert(ctx, req.work, insertOpts(q.lane(req.work.Task)))
	return err
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
