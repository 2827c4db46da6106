package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.dev/ingestor/internal/db"
)

// TestTakenOverWhileStored takes a job over while River waits for its row to store the
// result. River then gets the row as it was before, which it must not take for a defect.
func TestTakenOverWhileStored(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan Job, 10), make(chan struct{})
	q := open(t, Options{Client: db.Postgres, URL: shared.Database(t), Now: time.Now})
	q.Handle(Task{Name: "scan", Run: func(_ context.Context, j Job) error {
		began <- j
		if j.Key == "slow" {
			<-proceed
			return errors.New("no answer")
		}
		return nil
	}})
	run(t, q)
	add(t, q, "scan", "slow", How{Attempts: 2, RetryDelay: time.Hour})
	j := await(t, "the job", began)
	other, err := q.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Rollback() }()
	if _, err := other.ExecContext(t.Context(), "UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE id = $1", j.ID); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	eventually(t, "River waits for the row", func() bool {
		var waits int
		err := q.db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", sessions+q.id).Scan(&waits)
		return err == nil && waits > 0
	})
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	add(t, q, "scan", "next", How{})
	await(t, "the next job", began)
	eventually(t, "the next job is completed", func() bool { s, _ := state(t, q, "next"); return s == "completed" })
	if s, _ := state(t, q, "slow"); s != "discarded" {
		t.Errorf("the job that was taken over is %s, want discarded", s)
	}
}
