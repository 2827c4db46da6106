// Package task runs Templates as tasks: a task is rows in the store, and each of its
// runs is a job of the queue. A run that takes over a task resumes it after the last
// step that ended.
//
//	Create ─► store, queue ─► begin ─► step by step ─► end
//	                            │          │ events, and after each step the state
//	                            beat       └─► Follow
//
// A run whose task was taken over by another run can no longer write: the store
// rejects its writes.
//
// It is one package because the files are the transitions of one state machine, and the
// rows and jobs that it must keep consistent.
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
	"go.opentelemetry.io/otel/trace"

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

// job is the name under which tasks are registered with the queue.
const job = "task"

const (
	defaultWorkers = 10
	defaultTimeout = 24 * time.Hour
	// tries and tryAgain are the attempts and the retry delay with which the queue
	// begins a task while the database is unavailable; after that the sweep finds the
	// task.
	tries    = 5
	tryAgain = 2 * time.Second
	// grace is how much longer the queue's timeout is than the task's.
	grace = time.Minute
)

// Options configure New.
type Options struct {
	Store *taskstore.Store
	Queue *jobs.Queue
	// Actions are the actions that steps can use.
	Actions []action.Action
	// Authorize decides what a step may do for a requester.
	Authorize Authorize
	// Env is the environment of the expressions in step inputs; nil is the default.
	Env *expression.Env
	// Key encrypts secrets and the state of tasks. If it is nil, tasks cannot have
	// secrets.
	Key []byte
	// Dir is the folder for workspaces. It is created if it does not exist.
	Dir string
	// Workers is how many tasks this process runs concurrently, ten if it is zero.
	Workers int
	// Limits are the limits of each caller.
	Limits Limits
	// Timeout is the timeout of a whole task, a day if it is zero. Keep is how long
	// tasks that are over are kept, forever if it is zero.
	Timeout, Keep time.Duration
	Now           func() time.Time
	// Log receives the program's own problems; nil discards them.
	Log *slog.Logger
	// Registry receives the metrics, unless it is nil.
	Registry prometheus.Registerer
	// Tracer, if not nil, makes a span of every step.
	Tracer trace.Tracer
	// Audit receives the task events that the audit log records.
	Audit Audit

	// beat is the interval of heartbeats. Only tests set these three.
	beat, sweep, idle time.Duration
}

// Tasks manages all tasks, and runs some of them. All methods may be called
// concurrently.
type Tasks struct {
	opts    Options
	log     *slog.Logger
	runner  *step.Runner
	key     *seal.Key
	root    *workspace.Root
	metrics *metrics
	hub     *hub
	// drying is a semaphore for dry runs.
	drying chan struct{}
	// turns and slots count what each caller uses, and admitting are locks that are held
	// while the tasks of a caller are counted.
	turns     turns
	slots     *slots
	admitting [64]sync.Mutex

	mu sync.Mutex
	// running are the runs of this process, by task id, and requeued when the sweep queued
	// an idle task.
	running  map[string]*run
	requeued map[string]time.Time
}

// Invalid is the error for values that do not fit the form.
type Invalid struct{ Problems []validation.Problem }

// Error returns the message with the first problem.
func (e *Invalid) Error() string {
	if len(e.Problems) == 0 {
		return "form values are invalid"
	}
	return "form values are invalid: " + e.Problems[0].Stack
}

// Refused is the error for a Template that is not run.
type Refused struct {
	// Reason is shown to the caller.
	Reason string
	// Wait, unless it is zero, says that the caller is over a limit, and how long to
	// wait before a retry.
	Wait time.Duration
}

// Error returns the reason.
func (e *Refused) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &Refused{Reason: fmt.Sprintf(format, args...)} }

// overLimit returns a Refused that can be retried later.
func overLimit(format string, args ...any) error {
	return &Refused{Reason: fmt.Sprintf(format, args...), Wait: tryLater}
}

// New returns the tasks of a store, and registers them with the queue, which must not
// be running yet.
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
		return nil, errors.New("cannot run tasks: no policy for the permissions of steps")
	}
	opts.setDefaults()
	t := &Tasks{opts: opts, log: opts.Log, running: map[string]*run{}, requeued: map[string]time.Time{}, drying: make(chan struct{}, mostDry), slots: newSlots(opts.Limits.RunningTasks)}
	var err error
	if t.runner, err = step.NewRunner(opts.Actions, opts.Env, opts.Now, opts.Log, opts.Tracer); err != nil {
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
	t.register(opts.Queue)
	return t, nil
}

// Close removes the folder for the workspaces. No task may be running.
func (t *Tasks) Close() error {
	t.metrics.unregister(t.opts.Registry)
	return t.root.Close()
}

// Ready returns an error if tasks cannot run in this process because workspaces
// cannot be created.
func (t *Tasks) Ready() error { return t.root.Ready(t.opts.Now()) }

// Actions returns the actions that steps can use, by id.
func (t *Tasks) Actions() []action.Action { return t.runner.Actions() }

// Create creates and queues a task. The error is Invalid if the values do not fit the
// form, and Refused if the Template cannot be run or the caller has too many tasks.
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

// enqueue queues a run, with hurry at once even if the task is queued for a later
// retry. If it fails, or the process ends before it, a sweep finds the task.
func (t *Tasks) enqueue(ctx context.Context, id string, hurry bool) {
	how := t.how()
	how.Hurry = hurry
	_, err := t.opts.Queue.Add(context.WithoutCancel(ctx), job, id, how)
	if err != nil {
		t.log.Warn("task enqueue failed, retrying later", "task", id, "error", err)
	}
}

// how returns the job options of a task. A job that the queue gives up is queued
// again by the sweep of any replica.
func (t *Tasks) how() jobs.How {
	return jobs.How{Timeout: t.opts.Timeout + grace, Attempts: tries, RetryDelay: tryAgain, Requeued: true}
}

// sealSecrets returns the encrypted secrets, nil if there are none.
func (t *Tasks) sealSecrets(id string, secrets map[string]secret.Text) ([]byte, error) {
	if len(secrets) == 0 {
		return nil, nil
	}
	if err := fewSecrets(secrets); err != nil {
		return nil, err
	}
	if t.key == nil {
		return nil, refuse("cannot store secrets: no encryption key; set scaffolder.secretKey")
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

// fewSecrets refuses more secrets than can be searched for in the output of a task.
func fewSecrets(secrets map[string]secret.Text) error {
	const most, mostBytes = 100, 64 << 10
	size := 0
	for name, s := range secrets {
		size += len(name) + len(s.Reveal())
	}
	if len(secrets) > most || size > mostBytes {
		return refuse("too many secrets: a task may have %d, with %d KiB in total", most, mostBytes>>10)
	}
	return nil
}

// openSecrets is the reverse of sealSecrets.
func (t *Tasks) openSecrets(stored *taskstore.Task) (map[string]secret.Text, error) {
	if len(stored.Secrets) == 0 {
		return nil, nil
	}
	if !seal.IsSealed(stored.Secrets) {
		return nil, errors.New("data is not encrypted")
	}
	data, err := t.key.Open(stored.Secrets, stored.ID+"/secrets")
	if err != nil {
		return nil, err
	}
	var open map[string]string
	if err := json.Unmarshal(data, &open); err != nil {
		return nil, errors.New("data is not JSON")
	}
	secrets := map[string]secret.Text{}
	for name, s := range open {
		secrets[name] = secret.Text(s)
	}
	return secrets, nil
}

// Cancel requests the cancellation of a task and returns the task, nil if there is
// none. A running task ends soon after.
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

// Retry resumes a task that failed or was cancelled, after the last step that
// succeeded, and reports whether the task was in such a state. The caller in now must
// be the one that created the task, with its current groups; for another caller, or
// if the caller may not do what the task does, the error is an *action.Denied. The
// facts about the Template are those stored when the task was created; now supplies
// them for tasks of older versions that did not store them. The secrets of the task
// are gone and must be given again.
func (t *Tasks) Retry(ctx context.Context, id string, now Requester, secrets map[string]secret.Text) (bool, error) {
	by, err := t.retrying(ctx, id, now, secrets)
	if err != nil {
		return false, err
	}
	kept, err := t.sealSecrets(id, secrets)
	if err != nil {
		return false, err
	}
	e := taskstore.TaskEvent{Type: taskstore.EventRecovered, Body: body(step.Event{Message: "The task is retried"},
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

// Events returns all events of a task after the given one.
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
