// Package task is what a Template was asked to do and how it is done: a task is
// rows in the store, a run of it a job of the queue. Whoever takes a task over
// begins behind the last step that ended.
//
//	Create ─► store, queue ─► begin ─► step by step ─► end
//	                            │          │ events, and after each step the state
//	                            beat       └─► Follow
//
// A run that another has taken over writes nothing any more: the store refuses
// it.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"example.dev/ingestor/action"
	"example.dev/ingestor/internal/jobs"
	"example.dev/ingestor/internal/scaffolder/seal"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/scaffolder/validation"
	"example.dev/ingestor/internal/scaffolder/workspace"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// job is the name of the queue's task that runs ours.
const job = "task"

const (
	defaultWorkers = 10
	defaultTimeout = 24 * time.Hour
	// tries and tryAgain are how often the queue tries to begin a task while
	// the database is away; after that it is found by a sweep.
	tries    = 5
	tryAgain = 2 * time.Second
	// grace is how much longer the queue waits than we do.
	grace = time.Minute
)

// Options are what tasks need.
type Options struct {
	Store *taskstore.Store
	Queue *jobs.Queue
	// Actions are what steps can do.
	Actions []action.Action
	// Authorize decides what a step may do for whom.
	Authorize Authorize
	// Env is the language of their inputs; nil is the default.
	Env *expression.Env
	// Key encrypts secrets and what steps have made so far. With nil there can
	// be no secrets.
	Key []byte
	// Dir is the folder for workspaces. It is made.
	Dir string
	// Workers is how many tasks run at once here, ten if it is zero.
	Workers int
	// Limits are those of each caller.
	Limits Limits
	// Timeout is for a whole task, a day if it is zero. Keep is how long tasks
	// are kept that are over, for ever if it is zero.
	Timeout, Keep time.Duration
	Now           func() time.Time
	// Log is told what is wrong with the program; nil is nobody.
	Log *slog.Logger
	// Registry has the numbers, unless it is nil.
	Registry prometheus.Registerer
	// Audit is told what the audit log records.
	Audit Audit

	// beat is how often who runs a task says so. Tests are impatient.
	beat, sweep, idle time.Duration
}

// Tasks are all tasks, and runs some of them. All methods may be called at once.
type Tasks struct {
	opts    Options
	log     *slog.Logger
	runner  *step.Runner
	key     *seal.Key
	root    *workspace.Root
	metrics *metrics
	hub     *hub
	// drying has room for those who try Templates out.
	drying chan struct{}
	// turns and slots are what each caller uses, and admitting are locks for
	// callers whose tasks are counted.
	turns     turns
	slots     *slots
	admitting [64]sync.Mutex

	mu sync.Mutex
	// running are the runs of this process.
	running map[string]*run
}

// Invalid says that values do not fit the form.
type Invalid struct{ Problems []validation.Problem }

// Error says what is wrong first.
func (e *Invalid) Error() string {
	if len(e.Problems) == 0 {
		return "the values do not fit the form"
	}
	return "the values do not fit the form: " + e.Problems[0].Stack
}

// Refused says why a Template is not run.
type Refused struct {
	// Reason is for whoever asked.
	Reason string
	// Wait, unless it is zero, says that whoever asked has too much already, and
	// when to try again.
	Wait time.Duration
}

// Error returns the reason.
func (e *Refused) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &Refused{Reason: fmt.Sprintf(format, args...)} }

// overLimit refuses what may be asked for again later.
func overLimit(format string, args ...any) error {
	return &Refused{Reason: fmt.Sprintf(format, args...), Wait: tryLater}
}

// New returns the tasks of a store, and makes them known to the queue, which
// does not run yet.
func New(opts Options) (*Tasks, error) {
	if opts.Workers <= 0 {
		opts.Workers = defaultWorkers
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Authorize == nil {
		return nil, errors.New("cannot run tasks: there is no policy to decide what steps may do")
	}
	opts.impatience()
	t := &Tasks{opts: opts, log: opts.Log, running: map[string]*run{}, drying: make(chan struct{}, mostDry), slots: newSlots(opts.Limits.RunningTasks)}
	var err error
	if t.runner, err = step.NewRunner(opts.Actions, opts.Env, opts.Now, opts.Log); err != nil {
		return nil, err
	}
	if t.key, err = seal.New(opts.Key); err != nil {
		return nil, err
	}
	if t.root, err = workspace.Open(opts.Dir); err != nil {
		return nil, err
	}
	if t.metrics, err = newMetrics(opts.Registry); err != nil {
		return nil, errors.Join(err, t.root.Close())
	}
	t.hub = newHub(opts.Store, t.isRunning)
	opts.Queue.Handle(jobs.Task{Name: job, Workers: opts.Workers, Run: t.run, How: func(string) (jobs.How, bool) { return t.how(), true }})
	return t, nil
}

// Close removes the folder for the workspaces. Nothing runs any more.
func (t *Tasks) Close() error {
	t.metrics.unregister(t.opts.Registry)
	return t.root.Close()
}

// Ready returns an error if tasks cannot run here, because there can be no
// workspaces.
func (t *Tasks) Ready() error { return t.root.Ready(t.opts.Now()) }

// Actions returns what steps can do, by id.
func (t *Tasks) Actions() []action.Action { return t.runner.Actions() }

// Create makes a task, which runs soon. The error is Invalid if the values do
// not fit, and Refused if the Template cannot be run, or whoever asks has too
// many tasks.
func (t *Tasks) Create(ctx context.Context, o Order) (id string, err error) {
	spec, err := o.spec(ctx)
	if err != nil {
		return "", err
	}
	if err := t.checkPermissions(ctx, spec.node, o.By, o.Secrets); err != nil {
		return "", err
	}
	by, err := o.By.stored()
	if err != nil {
		return "", err
	}
	made := &taskstore.Task{
		ID: uuid.NewString(), Spec: spec.json, CreatedBy: strings.ToLower(o.User), Template: spec.template,
		Caller: by.Caller, Subject: by.Subject,
	}
	if made.Secrets, err = t.sealSecrets(made.ID, o.Secrets); err != nil {
		return "", err
	}
	admitted, err := t.admit(ctx, made.Subject)
	if err != nil {
		return "", err
	}
	err = t.opts.Store.AddTask(ctx, made)
	admitted()
	if err != nil {
		return "", err
	}
	t.enqueue(ctx, made.ID, false)
	return made.ID, nil
}

// enqueue asks for a run, in a hurry if the task may wait for a later try. If it
// fails, or the process ends before it, a sweep finds the task.
func (t *Tasks) enqueue(ctx context.Context, id string, hurry bool) {
	how := t.how()
	how.Hurry = hurry
	_, err := t.opts.Queue.Add(context.WithoutCancel(ctx), job, id, how)
	if err != nil {
		t.log.Warn("cannot queue a task, trying again later", "task", id, "err", err)
	}
}

// how is how the job of a task is done. One that is given up is queued again by the
// sweep of any replica.
func (t *Tasks) how() jobs.How {
	return jobs.How{Timeout: t.opts.Timeout + grace, Attempts: tries, RetryDelay: tryAgain, Requeued: true}
}

// sealSecrets returns secrets as they are stored, nil if there are none.
func (t *Tasks) sealSecrets(id string, secrets map[string]secret.Text) ([]byte, error) {
	if len(secrets) == 0 {
		return nil, nil
	}
	if err := fewSecrets(secrets); err != nil {
		return nil, err
	}
	if t.key == nil {
		return nil, refuse("Secrets cannot be kept: the portal has no key to encrypt them with; set scaffolder.secretKey")
	}
	open := map[string]string{}
	for name, s := range secrets {
		open[name] = s.Reveal()
	}
	data, err := json.Marshal(open)
	if err != nil {
		return nil, fmt.Errorf("cannot encrypt the secrets of task %s: %w", id, err)
	}
	return t.key.Seal(data, id+"/secrets"), nil
}

// fewSecrets refuses more secrets than can be looked for in all that a task
// says.
func fewSecrets(secrets map[string]secret.Text) error {
	const most, mostBytes = 100, 64 << 10
	size := 0
	for name, s := range secrets {
		size += len(name) + len(s.Reveal())
	}
	if len(secrets) > most || size > mostBytes {
		return refuse("There are too many secrets: a task may have %d, of %d KiB together", most, mostBytes>>10)
	}
	return nil
}

// openSecrets is the reverse of sealSecrets.
func (t *Tasks) openSecrets(stored *taskstore.Task) (map[string]secret.Text, error) {
	if len(stored.Secrets) == 0 {
		return nil, nil
	}
	if !seal.IsSealed(stored.Secrets) {
		return nil, errors.New("they are not encrypted")
	}
	data, err := t.key.Open(stored.Secrets, stored.ID+"/secrets")
	if err != nil {
		return nil, err
	}
	var open map[string]string
	if err := json.Unmarshal(data, &open); err != nil {
		return nil, errors.New("they are no JSON")
	}
	secrets := map[string]secret.Text{}
	for name, s := range open {
		secrets[name] = secret.Text(s)
	}
	return secrets, nil
}

// Cancel asks for the end of a task and returns it, nil if there is none. One
// that runs ends soon after.
func (t *Tasks) Cancel(ctx context.Context, id string) (*taskstore.Task, error) {
	found, ended, err := t.opts.Store.CancelTask(ctx, id)
	if err != nil || found == nil {
		return nil, err
	}
	if ended {
		t.opts.Audit.ended(inTask(found, ""), taskstore.TaskCancelled)
	}
	if r := t.runs(id); r != nil {
		r.stop(errCancelled)
	}
	t.hub.wake(id)
	return found, nil
}

// Retry lets a task that failed or was cancelled go on, behind the last step
// that ended well, and reports whether it was one. The caller of now is the one
// who created it, with the groups they are in now; for another, or if they may not
// do what it does, the error is an *action.Denied. What is known of the Template is
// what was known when the task was created; now is for tasks of programs that did
// not store it. Its secrets are gone and have to be given again.
func (t *Tasks) Retry(ctx context.Context, id string, now Requester, secrets map[string]secret.Text) (bool, error) {
	by, err := t.retrying(ctx, id, now, secrets)
	if err != nil {
		return false, err
	}
	kept, err := t.sealSecrets(id, secrets)
	if err != nil {
		return false, err
	}
	e := taskstore.TaskEvent{Type: taskstore.EventRecovered, Body: body(step.Event{Message: "The task is run again"},
		field{"recoverStrategy", json.RawMessage(`"none"`)})}
	admitted, err := t.admit(ctx, by.Subject)
	if err != nil {
		return false, err
	}
	ok, err := t.opts.Store.RetryTask(ctx, id, by, kept, e)
	admitted()
	if err != nil || !ok {
		return false, err
	}
	t.hub.wake(id)
	t.enqueue(ctx, id, true)
	return true, nil
}

// Events returns what happened in a task after an event, all of it.
func (t *Tasks) Events(ctx context.Context, id string, after int64) ([]taskstore.TaskEvent, error) {
	var all []taskstore.TaskEvent
	for {
		page, err := t.opts.Store.TaskEvents(ctx, id, after, pageSize)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		after = page[len(page)-1].N
	}
}

// runs returns the run of a task in this process, or nil.
func (t *Tasks) runs(id string) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[id]
}

func (t *Tasks) isRunning(id string) bool { return t.runs(id) != nil }
