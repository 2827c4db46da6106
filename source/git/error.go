package git

import (
	"context"
	"errors"
	"fmt"

	"example.dev/ingestor/internal/git/remote"
)

// Error is returned for a repository that cannot be read.
type Error struct {
	// Repository is the given address, without credentials.
	Repository string
	Err        error
	// Hint says how to solve the problem; empty if there is no hint.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot read repository %q: %v", e.Repository, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrong returns an error with a hint.
func wrong(hint, format string, args ...any) error { return remote.Wrong(hint, format, args...) }

// fail converts err, or each of several joined errors, to an Error, without secrets.
func (s *Source) fail(ctx context.Context, err error, c remote.Credentials) error {
	if ctx.Err() != nil {
		// The end of the context is the cause of any other error.
		err = context.Cause(ctx)
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, s.fail(ctx, e, c))
		}
		return errors.Join(all...)
	}
	p := c.Clean(remote.Explain(err))
	return &Error{Repository: s.at.Shown, Err: p.Err, Hint: p.Hint}
}
