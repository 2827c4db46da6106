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

// shiftedNow returns the current time as if the system clock had been set by a
// duration: the wall clock differs, the monotonic clock does not. The
// wall-clock seconds are above the lowest 30 bits of the first word of a Time;
// every exported way to change them drops the monotonic reading.
func shiftedNow(by time.Duration) time.Time {
	now := time.Now()
	*(*uint64)(unsafe.Pointer(&now)) += uint64(int64(by/time.Second)) << 30
	return now
}

// TestClusterClock sets the clock one hour forward and then two hours back. It
// checks that scans continue, changes arrive, and no entity is stale since a
// time in the future.
func TestClusterClock(t *testing.T) {
	t.Parallel()
	c := apiserver.Start(t, apiserver.Options{XRCRDs: true, Apply: []string{definition("alphas", "one"), definition("betas", "one")}})
	way := newLine(t, c)
	var set atomic.Int64
	now := func() time.Time { return shiftedNow(time.Duration(set.Load())) }
	s := start(t, setup{now: now, sections: composer(sections{
		"watch": false, "processing": sections{"retryAttempts": 0}, "schedule": sections{"frequency": "1s", "timeout": "30s"},
	}, way.cluster("prod"))})
	s.waitForRefs("", entities("alphas", "betas")...)
	s.wantHealth("healthy", nil)
	before := s.contents()
	// tried waits for two scans by the current clock.
	tried := func() {
		t.Helper()
		for range 2 {
			since := now()
			s.until("a scan by the new clock", func() error {
				if at := s.sourceHealth(prod).LastAttempt; !at.After(since) || at.After(now().Add(time.Second)) {
					return fmt.Errorf("clock shows %v and the last attempt was at %v", now(), at)
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
		s.until("a change in the form", func() error {
			if form := s.spec(template("betas")); !strings.Contains(form, field) {
				return fmt.Errorf("form is %s", form)
			}
			return nil
		})
		if diff := cmp.Diff(before[template("alphas")], s.contents()[template("alphas")]); diff != "" {
			t.Errorf("entity changed while the clock was off by %v:\n%s", at, diff)
		}
		// A run is recorded after it has changed the catalog.
		s.until("a run at the time of the new clock", func() error {
			runs, err := s.runs(prod)
			if err == nil && !slices.ContainsFunc(runs, func(r ingest.Run) bool { return r.Started.Sub(now().Round(0)).Abs() < time.Minute }) {
				err = fmt.Errorf("clock is off by %v, and none of %d runs started at that time", at, len(runs))
			}
			return err
		})
	}

	// An outage begins after the clock was set back, so the last successful
	// read is in the future.
	set.Store(int64(time.Hour))
	tried()
	set.Store(0)
	began := now()
	way.cut()
	s.wantHealth("unhealthy", map[string]string{"prod": "unreachable"})
	s.stale("prod/definitions", began.Add(-time.Minute), entities("alphas", "betas")...)
	way.reconnect()
	s.wantHealth("healthy", nil)
	s.stale("", began)
	s.waitForRefs("", entities("alphas", "betas")...)
}
