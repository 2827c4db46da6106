package step

import (
	"context"
	"errors"
	"strings"

	"example.dev/ingestor/action"
	"example.dev/ingestor/document/tree"
)

// Check returns an *action.Denied if the task would be denied for lack of a
// permission, as far as that can be known before it runs: from the actions of its
// steps, and from inputs that depend only on the form values. It changes nothing.
func (r *Runner) Check(ctx context.Context, t *Task) error {
	for i, at := range t.Steps() {
		c := &call{r: r, t: t, s: &State{Next: i}, at: at, id: at.Get("id").Scalar(), action: r.byName[at.Get("action").Str()]}
		if c.action == nil || !c.certain() {
			continue
		}
		err := c.allowed(ctx)
		if err == nil {
			err = c.check(ctx)
		}
		if e, ok := errors.AsType[*action.Denied](err); ok {
			return e
		}
	}
	return nil
}

// certain reports whether the step will run, whatever the steps before it do.
func (c *call) certain() bool {
	condition := c.at.Get("if")
	if condition.IsNull() {
		return true
	}
	if mentionsSteps(condition) || minds(condition) || !c.at.Get("each").IsNull() {
		return false
	}
	ok, err := c.wanted(c.scope(false))
	return ok && err == nil
}

// check asks the action whether it would be denied. It is skipped for an input that
// is not known yet.
func (c *call) check(ctx context.Context) error {
	if c.action.Check == nil || !c.at.Get("each").IsNull() || mentionsSteps(c.at.Get("input")) {
		return nil
	}
	scope := c.scope(true)
	input, err := c.input(scope)
	if err != nil {
		return err
	}
	if err := check(c.action.ID, c.action.Input, input); err != nil {
		return err
	}
	return c.action.Check(ctx, c.with(input, scope, ""))
}

// mentionsSteps reports whether a string in n may depend on the output of a step.
func mentionsSteps(n *tree.Node) bool {
	if n.IsString() {
		return strings.Contains(n.Text, "steps")
	}
	for _, item := range n.List() {
		if mentionsSteps(item) {
			return true
		}
	}
	if n.IsMap() {
		for _, f := range n.Fields {
			if mentionsSteps(f.Value) {
				return true
			}
		}
	}
	return false
}
