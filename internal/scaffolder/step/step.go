// Package step runs the steps of a task, one after the other. It uses no database: it
// reports events to callbacks, and the progress of a task is a value.
package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/secret"
	"example.dev/ingestor/template/expression"
)

// Statuses of a step in events.
const (
	Processing = "processing"
	Completed  = "completed"
	Failed     = "failed"
	Skipped    = "skipped"
	Cancelled  = "cancelled"
)

// mostOutput is the size limit of the output of a step and of a task, as JSON;
// mostOutputs is that of all steps together.
const (
	mostOutput  = 4 << 20
	mostOutputs = 4 * mostOutput
)

// Event is something that happened. Step is the id of the step, empty if the event is
// about the whole task; Status is empty for messages of a running step.
type Event struct{ Step, Status, Message string }

// Task is a task to run.
type Task struct {
	ID string
	// Spec is the spec as clients see it.
	Spec      *tree.Node
	Secrets   map[string]secret.Text
	Workspace *action.Workspace
	DryRun    bool
	// Caller is the caller the task acts for, Template the reference of its Template,
	// and Authorize decides what a step with an action may do for the caller.
	Caller    action.Caller
	Template  string
	Authorize func(ctx context.Context, actionID, permission string, t action.Target) error
	// Beside are the files next to a Template that is dry-run.
	Beside fs.FS
	// Log receives the events of a running step, from several goroutines concurrently.
	Log func(Event)
	// Change receives the changes that a dry-run step would make; it may be nil.
	Change func(step string, c action.Change)
	// Ended receives the outcome and the duration of a step; it may be nil.
	Ended func(actionID, outcome string, took time.Duration)
	// Audit writes to the audit log what the action of a step did; it may be nil.
	Audit func(step, event string, target map[string]string, err error)
}

// PermissionExecute is the permission that a step needs to use an action.
const PermissionExecute = "scaffolder.action.execute"

// Steps returns the steps.
func (t *Task) Steps() []*tree.Node { return t.Spec.Get("steps").List() }

// base returns where the Template was read from. A Template that is dry-run states
// its own location, which cannot be trusted.
func (t *Task) base() string {
	if t.DryRun {
		return ""
	}
	return t.Spec.Get("templateInfo", "baseUrl").Str()
}

// Failure is the reason why a task failed.
type Failure struct {
	// Name is the kind of error, by the names that clients know.
	Name    string `json:"name"`
	Message string `json:"message"`
	// Hint says how to solve the problem, and may have several lines.
	Hint string `json:"-"`
}

// State is the progress of a task.
type State struct {
	// Next is the index of the next step.
	Next int
	// Outputs are the outputs of the steps that ended, by step id.
	Outputs map[string]*tree.Node
	// Failure is the reason why the task will fail, nil if no step has failed.
	Failure *Failure
}

// Fail records a failure, unless one is already recorded.
func (s *State) Fail(f *Failure) {
	if s.Failure == nil {
		s.Failure = f
	}
}

// Runner runs steps. It may be used by several goroutines concurrently.
type Runner struct {
	// byName has every action by its id and by its aliases.
	byName map[string]*action.Action
	all    []action.Action
	// env is the environment of expressions until a step fails, and failed the one after
	// that.
	env, failed *expression.Env
	now         func() time.Time
	log         *slog.Logger
	tracer      trace.Tracer
}

// NewRunner returns a Runner with actions. A nil env is the default, and a nil tracer
// makes no spans.
func NewRunner(actions []action.Action, env *expression.Env, now func() time.Time, log *slog.Logger, tracer trace.Tracer) (*Runner, error) {
	if env == nil {
		env = expression.Default()
	}
	if tracer == nil {
		tracer = noop.NewTracerProvider().Tracer("")
	}
	r := &Runner{byName: map[string]*action.Action{}, all: slices.Clone(actions), now: now, log: log, tracer: tracer,
		env: knowing(env, false), failed: knowing(env, true)}
	slices.SortFunc(r.all, func(a, b action.Action) int { return strings.Compare(a.ID, b.ID) })
	for i := range r.all {
		a := &r.all[i]
		if a.ID == "" || a.Run == nil {
			return nil, fmt.Errorf("cannot register action %q: id and function are required", a.ID)
		}
		for _, name := range append([]string{a.ID}, a.Aliases...) {
			if r.byName[name] != nil {
				return nil, fmt.Errorf("cannot register action %q: name %q is already registered", a.ID, name)
			}
			r.byName[name] = a
		}
	}
	return r, nil
}

// Actions returns the actions, sorted by id.
func (r *Runner) Actions() []action.Action { return r.all }

// Step runs the next step, and returns the events about its end, to be written
// together with the state. If ctx ended before the step did, it returns nil and
// leaves the state unchanged.
func (r *Runner) Step(ctx context.Context, t *Task, s *State) []Event {
	at := t.Steps()[s.Next]
	id, name := at.Get("id").Scalar(), at.Get("name").Scalar()
	if s.Failure != nil && !minds(at.Get("if")) {
		s.Next++
		return []Event{{id, Skipped, "Skipping step " + id + " because a previous step failed"}}
	}
	t.Log(Event{id, Processing, "Beginning step " + name})
	began := r.now()
	c := &call{r: r, t: t, s: s, at: at, id: id, action: r.byName[at.Get("action").Str()]}
	output, outcome, err := c.traced(ctx)
	if outcome == Cancelled {
		return nil
	}
	if t.Ended != nil {
		t.Ended(c.actionID(), outcome, r.now().Sub(began))
	}
	s.Next++
	switch outcome {
	case Skipped:
		return []Event{{id, Skipped, err.Error()}}
	case Failed:
		f := failure(err)
		s.Fail(f)
		out := []Event{{id, Failed, f.Message}}
		if f.Hint != "" {
			out = append(out, Event{id, "", f.Hint})
		}
		return out
	}
	if s.Outputs == nil {
		s.Outputs = map[string]*tree.Node{}
	}
	s.Outputs[id] = output
	return []Event{{id, Completed, "Finished step " + name}}
}

// call is the execution of one step.
type call struct {
	r  *Runner
	t  *Task
	s  *State
	at *tree.Node
	id string
	// action is nil if there is no action with that name.
	action *action.Action

	mu     sync.Mutex
	output *tree.Node
}

// errSkipped matches the error of a step that was skipped.
var errSkipped = errors.New("skipped")

// skipped is an error with the reason.
type skipped string

func (s skipped) Error() string        { return string(s) }
func (s skipped) Is(target error) bool { return target == errSkipped }

func (c *call) actionID() string {
	if c.action == nil {
		return "unknown"
	}
	return c.action.ID
}

// run runs a whole step.
func (c *call) run(ctx context.Context) (output *tree.Node, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	name, each := c.at.Get("action").Str(), c.at.Get("each")
	if c.at.Has("if") && each.IsNull() {
		if ok, err := c.wanted(c.scope(false)); err != nil || !ok {
			if err == nil {
				err = skipped("Skipping step " + c.id + " because its if condition was false")
			}
			return nil, err
		}
	}
	if c.action == nil {
		return nil, &strange{name: name, near: c.r.near(name)}
	}
	if err := c.allowed(ctx); err != nil {
		return nil, err
	}
	if c.t.DryRun {
		if err := c.announce(); err != nil {
			return nil, err
		}
		if !c.action.DryRun {
			c.put(example(c.action.Output))
			return nil, skipped("Skipping because " + c.action.ID + " does not support dry-run")
		}
	}
	c.output = tree.Obj()
	if each.IsNull() {
		err = c.do(ctx, c.scope(true), -1)
	} else {
		err = c.doEach(ctx, each)
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(tree.AppendJSON(nil, c.output, ""))
	if size > mostOutput {
		return nil, fmt.Errorf("cannot store outputs of step %s: larger than %d MiB", c.id, mostOutput>>20)
	}
	for id, output := range c.s.Outputs {
		if id != c.id {
			size += len(tree.AppendJSON(nil, output, ""))
		}
	}
	if size > mostOutputs {
		return nil, fmt.Errorf("cannot store outputs of step %s: outputs of all steps are larger than %d MiB", c.id, mostOutputs>>20)
	}
	return c.output, nil
}

// allowed returns an error if the step may not use its action.
func (c *call) allowed(ctx context.Context) error {
	return c.t.Authorize(ctx, c.action.ID, PermissionExecute, action.Target{Name: c.action.ID, Contained: c.action.Contained})
}

// put sets the outputs of a step that was not run.
func (c *call) put(output *tree.Node) {
	if c.s.Outputs == nil {
		c.s.Outputs = map[string]*tree.Node{}
	}
	c.s.Outputs[c.id] = output
}

// mostEach is the maximum number of items for which a step runs.
const mostEach = 10_000

// item is one of the items for which a step runs.
type item struct {
	// each holds its key and value.
	each *tree.Node
	run  bool
}

// of returns the variables of expressions for the item.
func (it item) of(c *call) expression.Scope {
	s := c.scope(true)
	s["each"] = it.each
	return s
}

// doEach runs a step for each item of a list or field of an object. The conditions of
// all items are evaluated before the first item runs.
func (c *call) doEach(ctx context.Context, each *tree.Node) error {
	over, err := expression.Evaluate(each, c.scope(true), c.env())
	if err != nil {
		return c.field("each", err)
	}
	var fields []tree.Field
	switch {
	case !over.IsMap() && !over.IsList():
		return &wrong{fmt.Sprintf("Invalid value on action %s.each parameter, it cannot be resolved to a list or an object", c.action.ID)}
	case over.Len() > mostEach:
		return &wrong{fmt.Sprintf("Invalid value on action %s.each parameter, it has %d items, at most %d are allowed", c.action.ID, over.Len(), mostEach)}
	case over.IsMap():
		fields = over.Fields
	default:
		for i, it := range over.Items {
			fields = append(fields, tree.F(fmt.Sprint(i), it))
		}
	}
	var items []item
	for _, f := range fields {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		it := item{tree.Obj(tree.F("key", tree.Str(f.Key)), tree.F("value", f.Value)), true}
		if c.at.Has("if") {
			if it.run, err = c.wanted(it.of(c)); err != nil {
				return err
			}
		}
		items = append(items, it)
	}
	for i, it := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		said := tree.AppendJSON(nil, it.each, "")
		if !it.run {
			c.logf("Skipping step each: %s", said)
			continue
		}
		c.logf("Running step each: %s", said)
		if err := c.do(ctx, it.of(c), i); err != nil {
			return err
		}
	}
	return nil
}

// do runs the action once, for an item if index is not negative.
func (c *call) do(ctx context.Context, scope expression.Scope, index int) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	input, err := c.input(scope)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("%s/%d", c.t.ID, c.s.Next)
	name := c.action.ID
	if index >= 0 {
		key, name = fmt.Sprintf("%s/%d", key, index), fmt.Sprintf("%s[%s]", name, scope["each"].Get("key").Str())
	}
	if err := check(name, c.action.Input, input); err != nil {
		return err
	}
	for _, line := range unknown(c.action, input) {
		c.logf("%s", line)
	}
	defer func() {
		if p := recover(); p != nil {
			c.r.log.Error("action panicked", "task", c.t.ID, "step", c.id, "action", c.action.ID, "stack", string(debug.Stack()))
			err = fmt.Errorf("cannot run step %s: action %s panicked: %v", c.id, c.action.ID, p)
		}
	}()
	with := c.with(input, scope, key)
	with.Output = func(name string, value *tree.Node) { c.set(name, value, index >= 0) }
	return c.action.Run(ctx, with)
}

// with returns the call of the action with an input, without outputs.
func (c *call) with(input *tree.Node, scope expression.Scope, key string) *action.Call {
	var change func(action.Change)
	if c.t.DryRun && c.t.Change != nil {
		change = func(ch action.Change) { c.t.Change(c.id, ch) }
	}
	return &action.Call{
		Input: input, Workspace: c.t.Workspace, Logf: c.logf, Secrets: c.t.Secrets, Change: change,
		User:   c.t.Spec.Get("user", "ref").Str(),
		Caller: c.t.Caller, Template: c.t.Template,
		Authorize: func(ctx context.Context, permission string, t action.Target) error {
			return c.t.Authorize(ctx, c.action.ID, permission, t)
		},
		Base:   c.t.base(),
		Beside: c.t.Beside,
		Scope:  scope, Task: c.t.ID, Step: c.id, Key: key, DryRun: c.t.DryRun,
		Audit: c.record,
	}
}

func (c *call) logf(format string, args ...any) {
	c.t.Log(Event{c.id, "", fmt.Sprintf(format, args...)})
}

func (c *call) record(event string, target map[string]string, err error) {
	if c.t.Audit != nil {
		c.t.Audit(c.id, event, target, err)
	}
}

// set sets an output. Outputs of a step that runs for several items are lists.
func (c *call) set(name string, value *tree.Node, list bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value == nil {
		return
	}
	if list {
		all := c.output.Get(name)
		if all == nil {
			all = tree.Arr()
		}
		all.Items = append(all.Items, value)
		value = all
	}
	c.output.Set(name, value)
}
