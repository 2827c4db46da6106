package git

import (
	"context"
	"errors"
	"fmt"

	"example.dev/ingestor/internal/git/remote"
)

// Error is a repository that cannot be written to, and why.
type Error struct {
	// Repository is its address as it was given, without credentials.
	Repository string
	Err        error
	// Hint is the way out; empty if there is none to name.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot write to repository %q: %v", e.Repository, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// disapproval is an error of Options.Approve, which is the caller's own.
type disapproval struct{ error }

// fail makes an Error of err, without secrets.
func (s *Sink) fail(ctx context.Context, err error, c remote.Credentials) error {
	if no, ok := errors.AsType[disapproval](err); ok {
		return no.error
	}
	if late, ok := errors.AsType[outOfTime](err); ok {
		err = late.error
	} else if ctx.Err() != nil {
		// Whatever broke, it broke because of this.
		err = context.Cause(ctx)
	}
	p := c.Clean(remote.Explain(err))
	return &Error{Repository: s.at.Shown, Err: p.Err, Hint: p.Hint}
}
