package ingest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.dev/ingestor/internal/ingestion/health"
	"example.dev/ingestor/internal/ingestion/object"
)

// TestConclude checks the state of a source through failures and recoveries.
func TestConclude(t *testing.T) {
	t.Parallel()
	b := newHarness(t, []string{"files", "others"}, nil)
	steps := []struct {
		reason string
		fails  error
		text   string
		want   string
		// status is that of the service, which has another source that was not read.
		status string
		// stale reports whether the source and its entities are marked as stale.
		stale  bool
		fields string
	}{
		{"A source that could never be read is failed and has no entities.", errors.New("away"), "", "failed", health.Degraded, false, ""},
		{"A source that can be read is connected.", nil, definition("a", "one"), health.Connected, health.Starting, false, "one"},
		{"The entities of a source that cannot be read stay and are stale.", errors.New("away"), "", "failed", health.Degraded, true, "one"},
		{"The entities also stay after another failure.", errors.New("gone"), "", "failed", health.Degraded, true, "one"},
		{"Documents that are read before a failure are fresh.", errors.New("half"), definition("a", "two"), health.Partial, health.Degraded, false, "two"},
		{"A source that recovers is connected.", nil, definition("a", "three"), health.Connected, health.Starting, false, "three"},
	}
	var since time.Time
	for _, step := range steps {
		files := b.sources["files"]
		files.set("a", step.text)
		files.fail(step.fails)
		if _, err := b.read(t, "files"); (err != nil) != (step.fails != nil) {
			t.Fatalf("%s: scan returned the error %v", step.reason, err)
		}
		h, err := b.Health(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := h.Sources[0]
		if s.State != step.want || h.Status != step.status || h.Sources[1].State != health.Waiting {
			t.Errorf("%s\nhealth is %+v", step.reason, h)
		}
		if step.fails == nil {
			since = *b.clock.Load()
		}
		if !s.LastSuccess.Equal(since) || s.LastAttempt != *b.clock.Load() {
			t.Errorf("%s\nlast attempt is %v, success %v; want %v, %v", step.reason, s.LastAttempt, s.LastSuccess, *b.clock.Load(), since)
		}
		if step.fails != nil && !strings.Contains(s.LastError, step.fails.Error()) {
			t.Errorf("%s\nerror is %q", step.reason, s.LastError)
		}
		text := b.catalog.entries()["Template a.example.org"]
		if !strings.Contains(text, step.fields) || (text == "") != (step.fields == "") {
			t.Errorf("%s\nTemplate is %s", step.reason, text)
		}
		if marked := strings.Contains(text, `stale-since":"`+since.Format("2006-01-02T15:04:05.000Z")); marked != step.stale {
			t.Errorf("%s\nTemplate is marked as stale since %v: %v, want %v: %s", step.reason, since, marked, step.stale, text)
		}
		if step.stale && !s.Stale[object.ListFolder].Equal(since) {
			t.Errorf("%s\nstale since %v, want %v", step.reason, s.Stale, since)
		}
	}
}
