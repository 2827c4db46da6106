package service_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"example.dev/ingestor/test/apiserver"
	"example.dev/ingestor/test/redis"
)

// prod is the source of a cluster of that name in variant A.
const prod = "composerIngestor/prod"

// waitForMarks waits until a scan finds that nothing has changed.
func (s *service) waitForMarks(source string) {
	s.t.Helper()
	s.until("marks are used", func() error {
		if r := s.scan(source); r.Changed != 0 {
			return fmt.Errorf("%d units changed, want 0", r.Changed)
		}
		return nil
	})
}

// TestRedisAway stops Redis, which stores the marks of change detection and the
// results of transforms. It checks that the service builds every unit again,
// keeps working, and logs one warning.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	r, database := redis.StartWith(t, redis.Options{Durable: true}), inFile(t)
	c := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one"), definition("betas", "one")}})
	with := setup{redis: r.URL(0), database: database, sections: composer(sections{"changeDetection": sections{"storage": "redis"}}, cluster("prod", c))}
	s := start(t, with)
	want := entities("alphas", "betas")
	s.waitForRefs("", slices.Clone(want)...)
	s.waitForMarks(prod)
	before := s.waitUntilStable()

	away := map[string]struct{ do, undo func() }{
		"it is gone":         {r.Kill, func() { r.Restart(t) }},
		"it does not answer": {r.Pause, r.Resume},
	}
	for what, x := range away {
		const complaint = "read of change detection marks failed"
		said := s.warnings(complaint)
		x.do()
		for range 3 {
			wroteNothing(t, what, s.scan(prod), 2)
		}
		c.Apply(t, definition("gammas", "one"))
		s.waitForRefs("", append(entities("gammas"), want...)...)
		c.Delete(t, definition("gammas", "one"))
		s.waitForRefs("", slices.Clone(want)...)
		s.wantHealth("healthy", map[string]string{"prod": "connected"})
		if n := s.warnings(complaint) - said; n != 1 {
			t.Errorf("%s: warning was logged %d times, want once", what, n)
		}
		if n := s.warnings("write of change detection marks failed"); n > 0 {
			t.Errorf("%s: it is said %d times that nothing can be remembered, which goes without saying", what, n)
		}
		x.undo()
		s.waitForMarks(prod)
		s.checkUnchanged(before, want...)
	}

	// The marks survive a restart of the service.
	s.stop()
	stopped := time.Now()
	s = start(t, with)
	wroteNothing(t, "after a restart", s.ran(prod, stopped), 0)
	s.checkUnchanged(before, want...)
	s.stop()
	changeAndRevert(t, c, r)

	// Redis is down when the service starts.
	r.Kill()
	s = start(t, with)
	c.Apply(t, definition("gammas", "one"))
	s.waitForRefs("", append(entities("gammas"), want...)...)
	s.wantHealth("healthy", map[string]string{"prod": "connected"})
}

// changeAndRevert changes a definition while Redis is down, and changes it back
// after Redis is up: the mark in Redis then matches the definition but not the
// catalog.
func changeAndRevert(t *testing.T, c *apiserver.Server, r *redis.Server) {
	var later atomic.Int64
	titled(t, c, "alphas", "There")
	s := start(t, setup{
		redis: r.URL(1), now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
		sections: composer(sections{"watch": false, "changeDetection": sections{"storage": "redis", "method": "hash"}}, cluster("prod", c)),
	})
	s.ran(prod, time.Time{})
	s.waitForMarks(prod)
	r.Kill()
	titled(t, c, "alphas", "Elsewhere")
	s.showsTitle("alphas", "Elsewhere", 2)
	r.Restart(t)
	// Redis is not used for a moment after an outage.
	later.Store(int64(time.Minute))
	titled(t, c, "alphas", "There")
	s.showsTitle("alphas", "There", 1)
}
