package git

import (
	"context"
	"errors"
	"fmt"

	"example.dev/ingestor/internal/git/remote"
)

// Error is an error of writing to a repository.
type Error struct {
	// Repository is the address as given, without credentials.
	Repository string
	Err        error
	// Hint says how to fix the problem; it may be empty.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot write to repository %q: %v", e.Repository, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// disapproval wraps an error of Options.Approve, which is returned unchanged.
type disapproval struct{ error }

// fail converts err to an Error without secrets.
func (s *Sink) fail(ctx context.Context, err error, c remote.Credentials) error {
	if no, ok := errors.AsType[disapproval](err); ok {
		return no.error
	}
	if late, ok := errors.AsType[outOfTime](err); ok {
		err = late.error
	} else if ctx.Err() != nil {
		// The end of the context caused every other error.
		err = context.Cause(ctx)
	}
	p := c.Clean(remote.Explain(err))
	return &Error{Repository: s.at.Shown, Err: p.Err, Hint: p.Hint}
}
