package step

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/telemetry"
	"example.dev/ingestor/test/collector"
)

// TestTrace checks the spans of steps.
func TestTrace(t *testing.T) {
	t.Parallel()
	c := collector.Start(t)
	tel, err := telemetry.New(t.Context(), telemetry.Options{
		Config:   config.Telemetry{Endpoint: c.URL, Traces: true, SampleRatio: 1},
		Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	actions := []action.Action{
		{ID: "test:works", Aliases: []string{"alias:works"}, Run: func(ctx context.Context, _ *action.Call) error {
			_, span := tel.Tracer().Start(ctx, "inside")
			span.End()
			return nil
		}},
		{ID: "test:fails", Run: func(context.Context, *action.Call) error { return errors.New("password s3cr3t is wrong") }},
		{ID: "test:stops", Run: func(ctx context.Context, _ *action.Call) error { <-ctx.Done(); return ctx.Err() }},
	}
	r, err := NewRunner(actions, nil, time.Now, slog.New(slog.DiscardHandler), tel.Tracer())
	if err != nil {
		t.Fatal(err)
	}
	of := func(id, action string, more ...tree.Field) *tree.Node {
		return tree.Obj(append([]tree.Field{tree.F("id", tree.Str(id)), tree.F("action", tree.Str(action))}, more...)...)
	}
	steps := tree.Arr(
		of("a", "alias:works", tree.F("input", tree.Obj(tree.F("token", tree.Str("s3cr3t"))))),
		of("b", "test:works", tree.F("if", tree.Boolean(false))),
		of("c", "test:stops"), of("c", "test:fails"), of("d", "test:works"),
	)
	task := &Task{ID: "task-1", Spec: tree.Obj(tree.F("steps", steps)), Log: func(Event) {}, Authorize: anyone}
	s := &State{}
	r.Step(t.Context(), task, s)
	r.Step(t.Context(), task, s)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if events := r.Step(ctx, task, s); events != nil || s.Next != 2 {
		t.Errorf("events of a step that was interrupted are %v, next is %d", events, s.Next)
	}
	s.Next++
	r.Step(t.Context(), task, s)
	r.Step(t.Context(), task, s)
	tel.Shutdown(t.Context())

	type span struct {
		name, id, outcome string
		failed            bool
	}
	var got []span
	byName := map[string]collector.Span{}
	for _, s := range c.Spans() {
		byName[s.Name+s.Attributes["scaffolder.step"]] = s
		if s.Name == "inside" {
			continue
		}
		a := s.Attributes
		got = append(got, span{s.Name, a["scaffolder.step"], a["scaffolder.outcome"], s.Failed})
		if a["scaffolder.task"] != "task-1" || a["scaffolder.dry_run"] != "false" || "step "+a["scaffolder.action"] != s.Name || s.Description != "" {
			t.Errorf("span is %+v", s)
		}
	}
	// The last step does not run, because one before it failed.
	want := []span{
		{"step test:works", "a", Completed, false}, {"step test:works", "b", Skipped, false},
		{"step test:stops", "c", Cancelled, false}, {"step test:fails", "c", Failed, true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if inside, a := byName["inside"], byName["step test:worksa"]; inside.Parent != a.ID || inside.TraceID != a.TraceID {
		t.Errorf("span of the action %+v is not part of that of its step %+v", inside, a)
	}
	for _, r := range c.Requests() {
		if bytes.Contains(r.Body, []byte("s3cr3t")) {
			t.Error("an export has the input or the error of a step")
		}
	}
}
