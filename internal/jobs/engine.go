package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// leadership is the topic on which River notifies replicas that a leader has resigned.
const leadership = "river_leadership"

// engine is a River client, independent of the transaction type of its database.
type engine interface {
	start(ctx context.Context) error
	// stop cancels the contexts of running jobs and waits for them, until ctx ends.
	stop(ctx context.Context) error
	schedule(p *river.PeriodicJob)
	// add creates a lane with a number of workers. It must be called before start.
	add(lane string, workers int) error
	// wake makes a replica look for jobs of a lane that are due.
	wake(ctx context.Context, lane string) error
	// insert adds a job unless one of the same task and key waits or runs, which it
	// returns then.
	insert(ctx context.Context, w work, opts *river.InsertOpts) (*rivertype.JobInsertResult, error)
	// retry makes a scheduled or retryable job available at once.
	retry(ctx context.Context, id int64) error
	// settle finishes a running job and adds the one that was requested while it ran.
	settle(ctx context.Context, row *rivertype.JobRow, params *riverdriver.JobSetStateIfRunningParams) error
	// takeOver discards a running job, which query finds, and replaces it with a new one.
	// It returns nil if there is none.
	takeOver(ctx context.Context, query string, args ...any) (*work, error)
	// resign ends the term of a leader, and triggers an election.
	resign(ctx context.Context, leader string, elected time.Time) error
	migrate(ctx context.Context, config *rivermigrate.Config) error
}

type riverEngine[T any] struct {
	driver riverdriver.Driver[T]
	client *river.Client[T]
	now    func() time.Time
	// tell notifies this process of new jobs in a lane, if the database cannot. It is nil
	// otherwise.
	tell func(ctx context.Context, lane string) error
}

func newEngine[T any](driver riverdriver.Driver[T], config *river.Config, now func() time.Time, tell func(context.Context, string) error) (*riverEngine[T], error) {
	client, err := river.NewClient(driver, config)
	if err != nil {
		return nil, err
	}
	return &riverEngine[T]{driver: driver, client: client, now: now, tell: tell}, nil
}

func (e *riverEngine[T]) add(lane string, workers int) error {
	return e.client.Queues().Add(lane, river.QueueConfig{MaxWorkers: workers})
}

func (e *riverEngine[T]) wake(ctx context.Context, lane string) error {
	if e.tell != nil {
		return e.tell(ctx, lane)
	}
	return e.driver.GetExecutor().NotifyMany(ctx, &riverdriver.NotifyManyParams{Topic: inserted, Payload: []string{payload(lane)}})
}

// changed is wake after a change for which the database sends notifications, if it can.
func (e *riverEngine[T]) changed(ctx context.Context, lane string, err error) error {
	if err == nil && e.tell != nil && lane != "" {
		return e.tell(ctx, lane)
	}
	return err
}

func (e *riverEngine[T]) start(ctx context.Context) error { return e.client.Start(ctx) }

func (e *riverEngine[T]) stop(ctx context.Context) error { return e.client.StopAndCancel(ctx) }

func (e *riverEngine[T]) schedule(p *river.PeriodicJob) { e.client.PeriodicJobs().Add(p) }

func (e *riverEngine[T]) insert(ctx context.Context, w work, opts *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	res, err := e.client.Insert(ctx, w, opts)
	return res, e.changed(ctx, opts.Queue, err)
}

func (e *riverEngine[T]) retry(ctx context.Context, id int64) error {
	row, err := e.client.JobRetry(ctx, id)
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return e.wake(ctx, row.Queue)
}

func (e *riverEngine[T]) settle(ctx context.Context, row *rivertype.JobRow, params *riverdriver.JobSetStateIfRunningParams) error {
	return e.inside(ctx, func(exec riverdriver.ExecutorTx) (lane string, err error) {
		after, err := setState(ctx, exec, params)
		if err != nil || after == nil || after.State != params.State || after.Attempt != row.Attempt {
			return "", err // The job belongs to another process now.
		}
		next, ok := again(after)
		if !ok {
			return "", nil
		}
		_, err = e.client.InsertTx(ctx, e.driver.UnwrapTx(exec), next, insertOpts(next, row.Queue))
		return row.Queue, err
	})
}

func (e *riverEngine[T]) takeOver(ctx context.Context, query string, args ...any) (*work, error) {
	var taken *work
	err := e.inside(ctx, func(exec riverdriver.ExecutorTx) (lane string, err error) {
		var id int64
		if err := exec.QueryRow(ctx, query, args...).Scan(&id); err != nil {
			if isNothing(err) {
				return "", nil
			}
			return "", err
		}
		row, err := exec.JobGetByID(ctx, &riverdriver.JobGetByIDParams{ID: id})
		if err != nil {
			return "", err
		}
		var w work
		if err := json.Unmarshal(row.EncodedArgs, &w); err != nil {
			return "", err
		}
		taken = &w
		// The row is not used again: the process that ran it may only be slow, and must not
		// finish the new job when it comes back.
		_, err = setState(ctx, exec, riverdriver.JobSetStateDiscarded(id, e.now(), attemptError(row, e.now(), errLost), nil))
		if err != nil {
			return "", err
		}
		w.Tried += row.Attempt - 1
		w.Lost++
		if w.Lost > mostLost {
			return "", nil
		}
		_, err = e.client.InsertTx(ctx, e.driver.UnwrapTx(exec), w, insertOpts(w, row.Queue))
		return row.Queue, err
	})
	return taken, err
}

func (e *riverEngine[T]) resign(ctx context.Context, leader string, elected time.Time) error {
	_, err := e.driver.GetExecutor().LeaderResign(ctx, &riverdriver.LeaderResignParams{
		LeaderID: leader, ElectedAt: elected, LeadershipTopic: leadership,
	})
	return err
}

// inside runs do in a transaction. do returns the lane that it added a job to, if it
// did.
func (e *riverEngine[T]) inside(ctx context.Context, do func(exec riverdriver.ExecutorTx) (lane string, err error)) error {
	exec, err := e.driver.GetExecutor().Begin(ctx)
	if err != nil {
		return err
	}
	lane, err := do(exec)
	if err != nil {
		_ = exec.Rollback(context.WithoutCancel(ctx)) // The transaction failed already.
		return err
	}
	return e.changed(ctx, lane, exec.Commit(ctx))
}

// setState returns the row after the update, whether it was running or not.
func setState(ctx context.Context, exec riverdriver.Executor, p *riverdriver.JobSetStateIfRunningParams) (*rivertype.JobRow, error) {
	rows, err := exec.JobSetStateIfRunningMany(ctx, &riverdriver.JobSetStateIfRunningManyParams{
		ID:              []int64{p.ID},
		Attempt:         []*int{p.Attempt},
		ErrData:         [][]byte{p.ErrData},
		FinalizedAt:     []*time.Time{p.FinalizedAt},
		MetadataDoMerge: []bool{p.MetadataDoMerge},
		MetadataUpdates: [][]byte{p.MetadataUpdates},
		ScheduledAt:     []*time.Time{p.ScheduledAt},
		State:           []rivertype.JobState{p.State},
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// insertOpts returns how River stores a job. A job that has not ended prevents a new
// one of the same task and key; one that has ended does not.
func insertOpts(w work, lane string) *river.InsertOpts {
	return &river.InsertOpts{
		Queue:       lane,
		MaxAttempts: max(w.Attempts-w.Tried, 1),
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
			rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
}

// mark is stored in the metadata of a running job to request another run. It is valid
// only for the attempt it was made in, since the next attempt sees everything that was
// there when the mark was made. A postponed job has the same attempt number again, so
// that the mark includes the number of snoozes too.
type mark struct {
	Snoozes int `json:"snoozes"`
	Again   *struct {
		Attempt int  `json:"attempt"`
		Snoozes int  `json:"snoozes"`
		Work    work `json:"work"`
	} `json:"again"`
}

// snoozes returns how often a job was postponed, which River counts.
func snoozes(row *rivertype.JobRow) int {
	var m mark
	_ = json.Unmarshal(row.Metadata, &m) // Unreadable metadata counts as none.
	return m.Snoozes
}

// again returns the job that was requested while row ran.
func again(row *rivertype.JobRow) (work, bool) {
	var m mark
	if json.Unmarshal(row.Metadata, &m) != nil || m.Again == nil || m.Again.Attempt != row.Attempt || m.Again.Snoozes != m.Snoozes {
		return work{}, false
	}
	return m.Again.Work, true
}

func attemptError(row *rivertype.JobRow, at time.Time, why error) []byte {
	text, err := json.Marshal(rivertype.AttemptError{At: at.UTC(), Attempt: row.Attempt, Error: why.Error()})
	if err != nil {
		return []byte("{}") // Marshaling strings and numbers cannot fail.
	}
	return text
}
