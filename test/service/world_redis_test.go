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

// remembers waits until a scan finds that nothing changed.
func (s *service) remembers(source string) {
	s.t.Helper()
	s.until("marks are used", func() error {
		if r := s.scan(source); r.Changed != 0 {
			return fmt.Errorf("%d units changed", r.Changed)
		}
		return nil
	})
}

// TestRedisAway takes Redis away, which has the marks of change detection and
// what was made of units: the service looks at everything again, goes on as it
// did, and complains once.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	r, database := redis.StartWith(t, redis.Options{Durable: true}), inFile(t)
	c := apiserver.Start(t, apiserver.Options{Apply: []string{definition("alphas", "one"), definition("betas", "one")}})
	with := setup{redis: r.URL(0), database: database, sections: composer(sections{"changeDetection": sections{"storage": "redis"}}, cluster("prod", c))}
	s := start(t, with)
	want := entities("alphas", "betas")
	s.wants("", slices.Clone(want)...)
	s.remembers(prod)
	before := s.rests()

	away := map[string]struct{ do, undo func() }{
		"it is gone":         {r.Kill, func() { r.Restart(t) }},
		"it does not answer": {r.Pause, r.Resume},
	}
	for what, x := range away {
		const complaint = "change detection has lost its memory"
		said := s.warnings(complaint)
		x.do()
		for range 3 {
			wroteNothing(t, what, s.scan(prod), 2)
		}
		c.Apply(t, definition("gammas", "one"))
		s.wants("", append(entities("gammas"), want...)...)
		c.Delete(t, definition("gammas", "one"))
		s.wants("", slices.Clone(want)...)
		s.fares("healthy", map[string]string{"prod": "connected"})
		if n := s.warnings(complaint) - said; n != 1 {
			t.Errorf("%s: it is said %d times that the memory is lost", what, n)
		}
		if n := s.warnings("cannot remember what was seen"); n > 0 {
			t.Errorf("%s: it is said %d times that nothing can be remembered, which goes without saying", what, n)
		}
		x.undo()
		s.remembers(prod)
		s.unmoved(before, want...)
	}

	// It remembers over a restart of the service.
	s.stop()
	stopped := time.Now()
	s = start(t, with)
	wroteNothing(t, "after a restart", s.ran(prod, stopped), 0)
	s.unmoved(before, want...)
	s.stop()
	thereAndBack(t, c, r)

	// It is away when the service starts.
	r.Kill()
	s = start(t, with)
	c.Apply(t, definition("gammas", "one"))
	s.wants("", append(entities("gammas"), want...)...)
	s.fares("healthy", map[string]string{"prod": "connected"})
}

// thereAndBack changes a definition while Redis is away, and changes it back
// when it is there again: what Redis remembers of the time before is true of the
// definition, and not of the catalog.
func thereAndBack(t *testing.T, c *apiserver.Server, r *redis.Server) {
	var later atomic.Int64
	titled(t, c, "alphas", "There")
	s := start(t, setup{
		redis: r.URL(1), now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
		sections: composer(sections{"watch": false, "changeDetection": sections{"storage": "redis", "method": "hash"}}, cluster("prod", c)),
	})
	s.ran(prod, time.Time{})
	s.remembers(prod)
	r.Kill()
	titled(t, c, "alphas", "Elsewhere")
	s.showsTitle("alphas", "Elsewhere", 2)
	r.Restart(t)
	// Redis is not asked for a moment after it was away.
	later.Store(int64(time.Minute))
	titled(t, c, "alphas", "There")
	s.showsTitle("alphas", "There", 1)
}
