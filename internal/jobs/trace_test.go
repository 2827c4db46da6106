package jobs

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/telemetry"
	"example.dev/ingestor/test/collector"
	"example.dev/ingestor/test/process"
)

// TestTrace checks the spans of jobs.
func TestTrace(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	log := &process.Log{}
	tel, err := telemetry.New(t.Context(), telemetry.Options{
		Config:   config.Telemetry{Endpoint: c.URL, Traces: true, SampleRatio: 1},
		Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	q := open(t, Options{Client: db.SQLite, Path: filepath.Join(t.TempDir(), "jobs.db"), Now: time.Now, Tracer: tel.Tracer(), Log: tel.Log(slog.New(slog.NewJSONHandler(log, nil)))})
	ran := make(chan string, 10)
	postponed := false
	q.Handle(Task{Name: "scan", Run: func(ctx context.Context, j Job) error {
		defer func() { ran <- j.Key }()
		if !trace.SpanContextFromContext(ctx).IsValid() {
			t.Errorf("context of %s has no span", j.Key)
		}
		switch {
		case j.Key == "fails":
			return errors.New("cannot scan: " + strings.Repeat("x", 2*longestError) + "\xff")
		case j.Key == "panics":
			panic("oops")
		case j.Key == "later" && !postponed:
			postponed = true
			return Later(time.Millisecond)
		case j.Key == "stopped":
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}})
	stop := run(t, q)
	for _, key := range []string{"done", "fails", "panics", "later"} {
		add(t, q, "scan", key, How{Trigger: "manual"})
		<-ran
	}
	<-ran // later, again.
	add(t, q, "scan", "stopped", How{})
	for deadline := time.Now().Add(soonEnough); ; time.Sleep(5 * time.Millisecond) {
		q.mu.Lock()
		running := len(q.running)
		q.mu.Unlock()
		if running == 1 || time.Now().After(deadline) {
			break
		}
	}
	stop()
	tel.Shutdown(t.Context())

	got := map[string]string{}
	traces := map[string]bool{}
	for _, s := range c.Spans() {
		a := s.Attributes
		got[a["job.key"]] += a["job.result"] + " "
		traces[s.TraceID] = true
		failed := a["job.result"] == "failed"
		if s.Name != "job scan" || a["job.task"] != "scan" || a["job.attempt"] != "1" || s.Parent != "" || s.Failed != failed || (s.Description != "") != failed {
			t.Errorf("span is %+v", s)
		}
		if failed && !strings.Contains(log.String(), `"traceId":"`+s.TraceID+`"`) {
			t.Errorf("log does not have the trace of the failed job %s:\n%s", a["job.key"], log)
		}
		if len(s.Description) > longestError {
			t.Errorf("description has %d bytes", len(s.Description))
		}
		if a["job.key"] == "panics" && s.Description != "panic: oops" {
			t.Errorf("description of a panic is %q", s.Description)
		}
	}
	want := map[string]string{"done": "done ", "fails": "failed ", "panics": "failed ", "later": "postponed done ", "stopped": "stopped "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results of spans (-want +got):\n%s", diff)
	}
	if len(traces) != 6 {
		t.Errorf("%d traces, want one for each attempt", len(traces))
	}
}
