package plan

import (
	"errors"
	"fmt"

	"example.dev/ingestor/internal/plan/render"
	"example.dev/ingestor/source/cluster"
)

// Reason is the kind of failure of an Error.
type Reason string

// Reasons of failures.
const (
	// Off means that no program is configured.
	Off Reason = "off"
	// Program means that the program cannot render.
	Program Reason = "program"
	// Busy means that too many plans are made at once.
	Busy Reason = "busy"
	// Invalid means that the cluster would refuse the manifest.
	Invalid Reason = "invalid"
	// NotComposite means that the manifest is not a composite or claim at all.
	NotComposite Reason = "not a composite"
	// NoComposition means that no Composition is for the composite.
	NoComposition Reason = "no composition"
	// Mode means that the Composition has a mode that Crossplane 2 does not run.
	Mode Reason = "mode"
	// Function means that a function is not installed, not healthy, or failed.
	Function Reason = "function"
	// Certificate means that Crossplane's client certificate cannot be used.
	Certificate Reason = "certificate"
	// Forbidden means that the caller may not read what a plan needs.
	Forbidden Reason = "forbidden"
	// Failed means that Crossplane would fail, or took too long.
	Failed Reason = "failed"
)

// Error is why there is no plan.
type Error struct {
	Reason Reason
	Err    error
	// Public is the cause without addresses, paths and names of accounts; empty if Err has
	// none.
	Public string
	// Hint says how to solve the problem.
	Hint string
	// Operator is a hint with configuration keys, for operators of the portal.
	Operator string
}

// Error returns the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func refuse(reason Reason, hint, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...), Hint: hint}
}

// renderReasons are the reasons of the renderer's errors that concern more than the
// composite.
var renderReasons = map[render.Reason]Reason{
	render.Program: Program, render.Busy: Busy, render.Timeout: Failed, render.Memory: Failed, render.Failed: Failed,
	render.Unreachable: Function, render.Hung: Function, render.Crashed: Function, render.TooMuch: Function,
}

// explain converts the errors of the renderer and of clusters.
func explain(err error) error {
	if e, ok := errors.AsType[*render.Error](err); ok {
		reason := renderReasons[e.Reason]
		switch {
		case e.Reason == render.Failed:
			return &Error{Reason: reason, Err: err, Public: e.Public, Hint: e.Hint}
		case reason == Program:
			return &Error{Reason: reason, Err: err, Public: e.Public, Hint: "ask the operators of the portal", Operator: e.Hint}
		case reason == Function || reason == Failed:
			return &Error{Reason: reason, Err: err, Public: e.Public, Operator: e.Hint}
		}
		return &Error{Reason: reason, Err: err, Hint: e.Hint}
	}
	if e, ok := errors.AsType[*cluster.Error](err); ok && e.Reason == cluster.Forbidden {
		return &Error{Reason: Forbidden, Err: err, Public: "no permission to " + e.Doing + " in cluster " + e.Cluster, Hint: e.Hint}
	}
	return err
}
