package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"math"
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
	// annotate stores the output of a job, and returns the job.
	annotate(ctx context.Context, id int64, output string) (*rivertype.JobRow, error)
	// list returns the jobs in one of the states, at most mostListed.
	list(ctx context.Context, states ...rivertype.JobState) ([]*rivertype.JobRow, error)
	// takeOver discards a job, and replaces it with a new one. It returns nil if the job
	// has ended in the meantime.
	takeOver(ctx context.Context, id int64) (*work, error)
	// leader returns the elected leader, or nil. resign ends its term, and triggers an
	// election.
	leader(ctx context.Context) (*riverdriver.Leader, error)
	resign(ctx context.Context, leader *riverdriver.Leader) error
	// versions returns the version of the tables, zero if there are none, and the one that
	// River supports.
	versions(ctx context.Context) (there, known int, err error)
	migrate(ctx context.Context, config *rivermigrate.Config) error
}

// mostListed is how many jobs River returns at once.
const mostListed = 10_000

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
		_, err = e.client.InsertTx(ctx, e.driver.UnwrapTx(exec), next, insertOpts(row.Queue))
		return row.Queue, err
	})
}

func (e *riverEngine[T]) annotate(ctx context.Context, id int64, output string) (*rivertype.JobRow, error) {
	return e.client.JobUpdate(ctx, id, &river.JobUpdateParams{Output: output})
}

func (e *riverEngine[T]) list(ctx context.Context, states ...rivertype.JobState) ([]*rivertype.JobRow, error) {
	res, err := e.client.JobList(ctx, river.NewJobListParams().States(states...).First(mostListed))
	if err != nil {
		return nil, err
	}
	return res.Jobs, nil
}

func (e *riverEngine[T]) takeOver(ctx context.Context, id int64) (*work, error) {
	var taken *work
	err := e.inside(ctx, func(exec riverdriver.ExecutorTx) (lane string, err error) {
		row, err := exec.JobGetByID(ctx, &riverdriver.JobGetByIDParams{ID: id})
		if errors.Is(err, rivertype.ErrNotFound) {
			return "", nil
		}
		if err != nil || row.State != rivertype.JobStateRunning {
			return "", err
		}
		var w work
		if err := json.Unmarshal(row.EncodedArgs, &w); err != nil {
			return "", err
		}
		taken = &w
		// The row is not used again: the process that ran it may only be slow, and must not
		// finish the new job when it comes back. If another replica takes the job over at the
		// same time, the new job is a duplicate of the other's, and is not stored.
		_, err = setState(ctx, exec, riverdriver.JobSetStateDiscarded(id, e.now(), attemptError(row, e.now(), errLost), nil))
		if err != nil {
			return "", err
		}
		w.Tried += row.Attempt - 1
		w.Lost++
		if w.Lost > mostLost {
			return "", nil
		}
		_, err = e.client.InsertTx(ctx, e.driver.UnwrapTx(exec), w, insertOpts(row.Queue))
		return row.Queue, err
	})
	return taken, err
}

func (e *riverEngine[T]) leader(ctx context.Context) (*riverdriver.Leader, error) {
	l, err := e.driver.GetExecutor().LeaderGetElectedLeader(ctx, &riverdriver.LeaderGetElectedLeaderParams{})
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

func (e *riverEngine[T]) resign(ctx context.Context, leader *riverdriver.Leader) error {
	_, err := e.driver.GetExecutor().LeaderResign(ctx, &riverdriver.LeaderResignParams{
		LeaderID: leader.LeaderID, ElectedAt: leader.ElectedAt, LeadershipTopic: leadership,
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

// mostAttempts is the maximum number of attempts in River. The actual one is that of
// the task's current settings, see Work.
const mostAttempts = math.MaxInt16

// insertOpts returns how River stores a job. A job that has not ended prevents a new
// one of the same task and key; one that has ended does not.
func insertOpts(lane string) *river.InsertOpts {
	return &river.InsertOpts{
		Queue:       lane,
		MaxAttempts: mostAttempts,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
			rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
}

// mark is stored as the output of a running job to request another run. It is valid
// only for the attempt it was made in, since the next attempt sees everything that was
// there when the mark was made. A postponed job has the same attempt number again, so
// that the mark includes the number of snoozes too.
type mark struct {
	Attempt int  `json:"attempt"`
	Snoozes int  `json:"snoozes"`
	Work    work `json:"work"`
}

// snoozes returns how often a job was postponed, which River counts.
func snoozes(row *rivertype.JobRow) int {
	var m struct {
		Snoozes int `json:"snoozes"`
	}
	_ = json.Unmarshal(row.Metadata, &m) // Unreadable metadata counts as none.
	return m.Snoozes
}

// again returns the job that was requested while row ran. The mark is a JSON text
// within JSON: SQLite drops null values when it merges metadata.
func again(row *rivertype.JobRow) (work, bool) {
	var text string
	var m mark
	if json.Unmarshal(row.Output(), &text) != nil || json.Unmarshal([]byte(text), &m) != nil {
		return work{}, false
	}
	return m.Work, m.Attempt == row.Attempt && m.Snoozes == snoozes(row)
}

func attemptError(row *rivertype.JobRow, at time.Time, why error) []byte {
	text, err := json.Marshal(rivertype.AttemptError{At: at.UTC(), Attempt: row.Attempt, Error: why.Error()})
	if err != nil {
		return []byte("{}") // Marshaling strings and numbers cannot fail.
	}
	return text
}
