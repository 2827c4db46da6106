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
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/scaffolder/step"
	"example.dev/ingestor/internal/scaffolder/taskstore"
	"example.dev/ingestor/internal/secret"
)

// Requester is who a task acts for, and what is known of its Template. It is
// stored with the task, so that what a step decides is what the request that
// created the task would have been told.
type Requester struct {
	Caller identity.Caller `json:"caller"`
	// Template is the reference of the Template, Owners are its owners, and
	// Origin is where it comes from.
	Template string   `json:"template"`
	Owners   []string `json:"owners,omitempty"`
	Origin   string   `json:"origin"`
	// Repositories are those that the Template itself names, as host/owner/name
	// in lower case.
	Repositories []string `json:"repositories,omitempty"`
}

// Authorize returns nil if the requester has a permission for what the step
// with that action does, and else the error that says what is missing.
type Authorize func(ctx context.Context, by Requester, actionID, permission string, t action.Target) error

// stored returns the requester as the store keeps it.
func (r Requester) stored() (taskstore.TaskCaller, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return taskstore.TaskCaller{}, fmt.Errorf("cannot store the caller of a task: %w", err)
	}
	return taskstore.TaskCaller{Caller: data, Subject: r.Caller.Key()}, nil
}

// sameCaller reports whether two callers are the same. Tasks of older programs do
// not know which service created them.
func sameCaller(a, b identity.Caller) bool {
	return strings.EqualFold(a.Key(), b.Key()) || a.Kind == identity.Service && a.Subject == "" && b.Kind == identity.Service ||
		a.Kind == identity.User && b.Kind == identity.Guest && strings.EqualFold(a.Subject, b.Subject)
}

// RequesterOf returns who a stored task acts for. Programs before this one did
// not store it: their tasks act for whoever is named as their creator, without
// any group.
func RequesterOf(t *taskstore.Task) (Requester, error) {
	var r Requester
	if len(t.Caller) > 0 {
		if err := json.Unmarshal(t.Caller, &r); err != nil {
			return r, errors.New("cannot read the caller of the task")
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

// Actor returns the requester as actions know it.
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

// actFor has a task act for a requester.
func (t *Tasks) actFor(of *step.Task, by Requester) {
	of.Caller, of.Template = by.Actor(), by.Template
	of.Authorize = func(ctx context.Context, actionID, permission string, target action.Target) error {
		return t.opts.Authorize(ctx, by, actionID, permission, target)
	}
}

// checkWithin is how long the permissions of a new task may be looked into: what
// is not known by then is found out when it runs.
const checkWithin = 5 * time.Second

// checkPermissions returns the *action.Denied for a task that would be refused.
func (t *Tasks) checkPermissions(ctx context.Context, spec *tree.Node, by Requester, secrets map[string]secret.Text) error {
	ctx, cancel := context.WithTimeout(identity.With(ctx, by.Caller), checkWithin)
	defer cancel()
	of := &step.Task{Spec: spec, Secrets: secrets, Log: func(step.Event) {}}
	t.actFor(of, by)
	return t.runner.Check(ctx, of)
}

// retrying returns who a task that is run again acts for.
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
		// What the steps read with the rights of another would be told to the
		// creator of the task, who reads its events.
		return taskstore.TaskCaller{}, &action.Denied{Message: "Cannot retry task " + id + ": only the caller who created it can; create a task with the same values"}
	}
	if len(found.Caller) == 0 {
		by = now
	}
	by.Caller = now.Caller
	spec, err := (tree.Wire{}).Decode(found.Spec)
	if err != nil {
		return taskstore.TaskCaller{}, err
	}
	if err := t.checkPermissions(ctx, spec, by, secrets); err != nil {
		return taskstore.TaskCaller{}, err
	}
	return by.stored()
}
