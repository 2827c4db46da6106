package jobs

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/test/postgres"
)

// TestOutage kills PostgreSQL while a job runs, and restarts it later. The end
// of the job is written then, and jobs and schedules continue.
func TestOutage(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	var said text
	q := open(t, Options{Client: db.Postgres, URL: server.Database(t), Now: time.Now, Log: slog.New(slog.NewTextHandler(&said, nil))})
	began, proceed, ticks := make(chan Job, 9), make(chan error), make(chan Job, 1000)
	q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
		if j.Key == "tick" {
			ticks <- j
			return nil
		}
		began <- j
		return <-proceed
	}})
	q.Every("scan", "tick", time.Second, How{})
	run(t, q)
	await(t, "a tick", ticks)
	for _, key := range []string{"succeeds", "fails"} {
		add(t, q, "scan", key, How{Attempts: 2, RetryDelay: 10 * time.Millisecond})
		await(t, "the job", began)
	}
	server.Kill()
	proceed <- nil
	proceed <- errEveryFifth
	time.Sleep(8 * time.Second) // This is the outage.
	if _, err := q.Add(t.Context(), "scan", "b", How{}); err == nil || strings.Contains(err.Error(), server.Password) {
		t.Errorf("Add during the outage returned %v", err)
	}
	server.Restart(t)
	restarted := time.Now()
	// One of the two failed and is retried.
	if j := await(t, "the next attempt", began); j.Attempt != 2 {
		t.Errorf("next attempt is %+v, want attempt 2", j)
	}
	t.Logf("next attempt started after %s", time.Since(restarted))
	proceed <- nil
	for _, key := range []string{"succeeds", "fails"} {
		eventually(t, key+" is completed", func() bool { s, _ := state(t, q, key); return s == "completed" })
	}
	for len(ticks) > 0 {
		<-ticks
	}
	await(t, "a tick", ticks)
	t.Logf("schedules continued after %s", time.Since(restarted))
	add(t, q, "scan", "after", How{})
	await(t, "the job afterwards", began)
	proceed <- nil
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	t.Logf("log has %d lines:\n%s", len(lines), said.String())
	if len(lines) > 40 {
		t.Errorf("log has %d lines, want at most 40", len(lines))
	}
	if strings.Contains(said.String(), server.Password) {
		t.Error("log contains the password")
	}
}

// text is a buffer that is safe for concurrent use.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *text) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *text) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestQuiet checks which lines of River's log are kept.
func TestQuiet(t *testing.T) {
	t.Parallel()
	var said text
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	log := slog.New(newQuiet(slog.New(slog.NewTextHandler(&said, nil)), func() time.Time { return now }))
	log.Info("started")
	log.Error("away", "n", 1)
	log.With("a", 1).WithGroup("g").Error("away", "n", 2)
	log.Warn("slow")
	now = now.Add(sayAgain)
	log.Error("away", "n", 3)
	var got []string
	for line := range strings.Lines(said.String()) {
		_, line, _ = strings.Cut(line, " ")
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{"level=ERROR msg=away n=1", "level=WARN msg=slow", "level=ERROR msg=away n=3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("log (-want, +got):\n%s", d)
	}
}

// TestNext checks when a schedule is due.
func TestNext(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason    string
		last, now time.Time
		want      time.Time
	}{
		"OnTime":     {"The next time is counted from the last one, so delays do not add up.", noon, noon.Add(time.Second), noon.Add(time.Minute)},
		"StoodStill": {"Missed times are skipped.", noon, noon.Add(time.Hour), noon.Add(time.Hour + time.Minute)},
		"SetBack":    {"A clock that was set back changes nothing.", noon, noon.Add(-time.Hour), noon.Add(time.Minute)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := schedule{every: time.Minute, now: func() time.Time { return c.now }}
			if got := s.Next(c.last); !got.Equal(c.want) {
				t.Errorf("%s: want the next time %s, got %s", c.reason, c.want, got)
			}
		})
	}
}

// TestMetrics checks the counters of waiting and finished jobs.
func TestMetrics(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		registry := prometheus.NewRegistry()
		opts.Registry = registry
		q := open(t, opts)
		q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
			if j.Key == "fails" {
				return errEveryFifth
			}
			return nil
		}})
		add(t, q, "scan", "fails", How{})
		add(t, q, "scan", "succeeds", How{})
		add(t, q, "scan", "later", How{After: time.Hour})
		if d := cmp.Diff(map[string]float64{"jobs_queued/available/scan": 2, "jobs_queued/scheduled/scan": 1}, numbers(t, registry)); d != "" {
			t.Errorf("metrics before the run (-want, +got):\n%s", d)
		}
		if _, err := Open(t.Context(), opts); err == nil {
			t.Error("Open accepted two queues with one registry")
		}
		run(t, q)
		want := map[string]float64{"jobs_queued/scheduled/scan": 1, "jobs_runs_total/done/scan": 1, "jobs_runs_total/failed/scan": 1, "jobs_run_duration_seconds/scan": 2}
		eventually(t, "the metrics are correct", func() bool { return cmp.Equal(want, numbers(t, registry)) })
	})
}

// numbers returns the values of a registry by name and labels.
func numbers(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "/" + l.GetValue()
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return got
}
