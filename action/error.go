package action

import "fmt"

// Error is the reason why an action failed, with a hint. Runners of actions show
// both; an error of another type has no hint.
type Error struct {
	Err error
	// Hint says how to fix the problem; it may have several lines.
	Hint string
}

// Errorf returns an *Error with a hint and a formatted message.
func Errorf(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Denied is the error for a permission that the caller of the task does not have.
type Denied struct {
	// Message names the permission, its target, and the rule that would grant it.
	Message string
	// Cluster is the cluster that denied the permission; empty if the portal's
	// policy did.
	Cluster string
}

// Error returns the message.
func (e *Denied) Error() string { return e.Message }
