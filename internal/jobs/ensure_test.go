package jobs

import (
	"context"
	"testing"
	"time"
)

// TestEnsure checks that only a job that neither runs nor waits is queued.
func TestEnsure(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, opts Options) {
		q := open(t, opts)
		ran, proceed := make(chan Job, 10), make(chan struct{})
		q.Handle(Task{Name: "read", Workers: 3, Run: func(_ context.Context, j Job) error {
			ran <- j
			<-proceed
			return nil
		}})
		add(t, q, "read", "waits", How{After: time.Hour})
		add(t, q, "read", "runs", How{})
		run(t, q)
		if j := await(t, "the job that runs", ran); j.Key != "runs" {
			t.Fatalf("job %+v ran, want the key runs", j)
		}
		// Requests are stored in the order of their keys.
		for _, key := range []string{"waits", "runs", "z"} {
			q.Ensure("read", key, How{Trigger: "ensured"})
		}
		if j := await(t, "the new job", ran); j.Key != "z" || j.Trigger != "ensured" {
			t.Errorf("job %+v ran, want the one that neither waited nor ran", j)
		}
		close(proceed)
		for _, key := range []string{"runs", "z"} {
			eventually(t, key+" is completed", func() bool { s, _ := state(t, q, key); return s == "completed" })
		}
		waiting, err := q.Waiting(t.Context())
		if err != nil || waiting["read"] != 1 || len(ran) != 0 {
			t.Errorf("%d jobs wait and %d more ran (%v), want 1 and none", waiting["read"], len(ran), err)
		}
	})
}
