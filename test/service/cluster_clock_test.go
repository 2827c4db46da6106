package service_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/ingestion/ingest"
	"example.dev/ingestor/test/apiserver"
)

// wound is now by a clock that was set: it shows another time, and what steadily
// counts inside goes on, as it does in a machine whose clock is set. A Time has
// its seconds above 30 bits of its first word, and they cannot be reached
// otherwise without losing the steady count.
func wound(by time.Duration) time.Time {
	now := time.Now()
	*(*uint64)(unsafe.Pointer(&now)) += uint64(int64(by/time.Second)) << 30
	return now
}

// TestClusterClock sets the clock an hour forth and two back. Scans go on, what
// changes comes, and nothing is stale since a time that is yet to come.
func TestClusterClock(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one"), definition("betas", "one")}})
	way := newLine(t, c)
	var set atomic.Int64
	now := func() time.Time { return wound(time.Duration(set.Load())) }
	s := start(t, setup{now: now, sections: composer(sections{
		"watch": false, "processing": sections{"retryAttempts": 0}, "schedule": sections{"frequency": "1s", "timeout": "30s"},
	}, way.cluster("prod"))})
	s.wants("", entities("alphas", "betas")...)
	s.fares("healthy", nil)
	before := s.contents()
	// tried waits for two scans by the clock as it is now.
	tried := func() {
		t.Helper()
		for range 2 {
			since := now()
			s.until("a scan", func() error {
				if at := s.about(prod).LastAttempt; !at.After(since) || at.After(now().Add(time.Second)) {
					return fmt.Errorf("it is %v and the last was at %v", now(), at)
				}
				return nil
			})
		}
	}
	for i, at := range []time.Duration{time.Hour, -time.Hour, 0} {
		set.Store(int64(at))
		tried()
		field := fmt.Sprint("field", i)
		c.Apply(t, definition("betas", field))
		s.until("a change", func() error {
			if form := s.spec(template("betas")); !strings.Contains(form, field) {
				return fmt.Errorf("the form is %s", form)
			}
			return nil
		})
		if diff := cmp.Diff(before[template("alphas")], s.contents()[template("alphas")]); diff != "" {
			t.Errorf("the clock is off by %v, and an entity has changed:\n%s", at, diff)
		}
		// A run is written down once it has changed the catalog.
		s.until("a run of that time", func() error {
			runs, err := s.runs(prod)
			if err == nil && !slices.ContainsFunc(runs, func(r ingest.Run) bool { return r.Started.Sub(now().Round(0)).Abs() < time.Minute }) {
				err = fmt.Errorf("the clock is off by %v, and none of %d runs is of that time", at, len(runs))
			}
			return err
		})
	}

	// An outage after the clock was set back: what was last read was read in the
	// future.
	set.Store(int64(time.Hour))
	tried()
	set.Store(0)
	began := now()
	way.cut()
	s.fares("unhealthy", map[string]string{"prod": "unreachable"})
	s.stale("prod/definitions", began.Add(-time.Minute), entities("alphas", "betas")...)
	way.mend()
	s.fares("healthy", nil)
	s.stale("", began)
	s.wants("", entities("alphas", "betas")...)
}
