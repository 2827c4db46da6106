package task

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/test/postgres"
)

// TestOutage kills PostgreSQL during a step. Events and outputs of the step are
// written once, after the outage.
func TestOutage(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	at := place{client: db.Postgres, dir: t.TempDir(), url: server.Database(t)}
	began, proceed := make(chan string), make(chan struct{})
	w := start(t, at, Options{Actions: []action.Action{newAction("test:wait", func(_ context.Context, c *action.Call) error {
		began <- c.Step
		<-proceed
		c.Logf("meanwhile")
		return nil
	})}})
	id := w.create(order(t, twoWaits, `{}`))
	await(t, "the step", began)
	w.eventually("the events are written", func() bool { return len(w.events(id)) == 2 })
	server.Kill()
	proceed <- struct{}{}
	w.eventually("the failed write is logged", func() bool { return strings.Contains(w.log.text(), "task write failed, retrying") })
	time.Sleep(time.Second) // This is the outage.
	server.Restart(t)
	await(t, "the other step", began)
	proceed <- struct{}{}
	if got := w.waitForEnd(id); got.Status != taskstore.TaskCompleted || got.Run != 1 {
		t.Errorf("task is %s in run %d, want completed in run 1", got.Status, got.Run)
	}
	want := []string{"log|||Starting up task with 2 steps", "log|one|processing|Beginning step First", "log|one||meanwhile",
		"log|one|completed|Finished step First", "log|two|processing|Beginning step Second", "log|two||meanwhile",
		"log|two|completed|Finished step Second", "completion|||Run completed with status: completed"}
	if diff := cmp.Diff(want, w.events(id)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if said := w.log.text(); strings.Contains(said, server.Password) || strings.Count(said, "\n") > 60 {
		t.Errorf("log contains the password or too many lines: %s", said)
	}
}

// TestMetrics counts tasks and steps.
func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	w := start(t, onSQLite(t), Options{Registry: registry, Actions: []action.Action{echoAction()}})
	w.waitForEnd(w.create(order(t, `{steps: [{action: test:say, input: {text: x}}, {action: test:say, if: false}, {action: test:none}]}`, `{}`)))
	w.waitForEnd(w.create(order(t, `{steps: []}`, `{}`)))
	count := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				out[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		return out
	}
	w.eventually("nothing runs", func() bool { return count()["scaffolder_tasks_running"] == 0 })
	want := map[string]float64{"scaffolder_tasks_running": 0, "scaffolder_tasks_total completed": 1, "scaffolder_tasks_total failed": 1,
		"scaffolder_steps_total test:say completed": 1, "scaffolder_steps_total test:say skipped": 1, "scaffolder_steps_total unknown failed": 1,
		"scaffolder_step_duration_seconds test:say": 2, "scaffolder_step_duration_seconds unknown": 1}
	if diff := cmp.Diff(want, count()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.stop()
	if left := count(); len(left) != 0 {
		t.Errorf("metrics at the end are %v, want none", left)
	}
}
