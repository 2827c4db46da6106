package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/secret"
)

// Requester is the caller a task acts for, and what is known of its Template. It is
// stored with the task, so that a step gets the same decision that the request that
// created the task would have got.
type Requester struct {
	Caller identity.Caller `json:"caller"`
	// Template is the reference of the Template, Owners are its owners, and Origin is
	// where it was read from.
	Template string   `json:"template"`
	Owners   []string `json:"owners,omitempty"`
	Origin   string   `json:"origin"`
	// Repositories are the repositories that the Template itself names, as
	// host/owner/name in lower case.
	Repositories []string `json:"repositories,omitempty"`
}

// Authorize returns nil if the requester has a permission for what a step with that
// action does, and otherwise an error that says what is missing.
type Authorize func(ctx context.Context, by Requester, actionID, permission string, t action.Target) error

// stored returns the requester as the store keeps it.
func (r Requester) stored() (taskstore.TaskCaller, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return taskstore.TaskCaller{}, fmt.Errorf("cannot encode caller of the task: %w", err)
	}
	return taskstore.TaskCaller{Caller: data, Subject: r.Caller.Key()}, nil
}

// sameCaller reports whether two callers are the same. Tasks stored by older versions
// do not name the service that created them.
func sameCaller(a, b identity.Caller) bool {
	return strings.EqualFold(a.Key(), b.Key()) || a.Kind == identity.Service && a.Subject == "" && b.Kind == identity.Service ||
		a.Kind == identity.User && b.Kind == identity.Guest && strings.EqualFold(a.Subject, b.Subject)
}

// RequesterOf returns the requester a stored task acts for. Older versions did not
// store it: their tasks act for the user named as creator, without any groups.
func RequesterOf(t *taskstore.Task) (Requester, error) {
	var r Requester
	if len(t.Caller) > 0 {
		if err := json.Unmarshal(t.Caller, &r); err != nil {
			return r, errors.New("cannot parse caller of the task")
		}
		return r, nil
	}
	r.Template = t.Template
	r.Caller = identity.Caller{Kind: identity.Service}
	if t.CreatedBy != "" {
		r.Caller = identity.Caller{Kind: identity.User, Subject: t.CreatedBy, Ownership: []string{t.CreatedBy}}
	}
	return r, nil
}

// Actor returns the requester in the form that actions use.
func (r Requester) Actor() action.Caller {
	c, ref := r.Caller, r.Caller.Subject
	if c.Kind == identity.Service {
		ref = "service:" + ref
	}
	return action.Caller{
		Ref: ref, Login: c.Login, Groups: c.Groups, Name: c.Name, Email: c.Email,
		Service: c.Kind == identity.Service, Guest: c.Kind == identity.Guest,
	}
}

// actFor makes a task act for a requester.
func (t *Tasks) actFor(of *step.Task, by Requester) {
	of.Caller, of.Template = by.Actor(), by.Template
	of.Authorize = func(ctx context.Context, actionID, permission string, target action.Target) error {
		return t.opts.Authorize(ctx, by, actionID, permission, target)
	}
}

// checkWithin is the timeout for checking the permissions of a new task: what is not
// decided by then is decided when the task runs.
const checkWithin = 5 * time.Second

// checkPermissions returns an *action.Denied if the task would be denied.
func (t *Tasks) checkPermissions(ctx context.Context, spec *tree.Node, by Requester, secrets map[string]secret.Text) error {
	ctx, cancel := context.WithTimeout(identity.With(ctx, by.Caller), checkWithin)
	defer cancel()
	of := &step.Task{Spec: spec, Secrets: secrets, Log: func(step.Event) {}}
	t.actFor(of, by)
	return t.runner.Check(ctx, of)
}

// retrying returns the caller that a retried task acts for.
func (t *Tasks) retrying(ctx context.Context, id string, now Requester, secrets map[string]secret.Text) (taskstore.TaskCaller, error) {
	found, err := t.opts.Store.TaskBrief(ctx, id)
	if err != nil || found == nil {
		return taskstore.TaskCaller{}, err
	}
	by, err := RequesterOf(found)
	if err != nil {
		return taskstore.TaskCaller{}, err
	}
	if !sameCaller(by.Caller, now.Caller) {
		// The creator of the task reads its events, and would see what the steps read with
		// the permissions of another caller.
		return taskstore.TaskCaller{}, &action.Denied{Message: "cannot retry task " + id + ": only the caller who created it can; create a task with the same values"}
	}
	if len(found.Caller) == 0 {
		by = now
	}
	by.Caller = now.Caller
	spec, err := (wire.Decoder{}).Decode(found.Spec)
	if err != nil {
		return taskstore.TaskCaller{}, err
	}
	if err := t.checkPermissions(ctx, spec, by, secrets); err != nil {
		return taskstore.TaskCaller{}, err
	}
	return by.stored()
}
