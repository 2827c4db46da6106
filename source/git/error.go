package git

import (
	"context"
	"errors"
	"fmt"

	"example.dev/ingestor/internal/git/remote"
)

// Error is a repository that cannot be read, and why.
type Error struct {
	// Repository is its address as it was given, without credentials.
	Repository string
	Err        error
	// Hint is the way out; empty if there is none to name.
	Hint string
}

// Error returns the message.
func (e *Error) Error() string {
	return fmt.Sprintf("cannot read repository %q: %v", e.Repository, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrong returns what is wrong, and the way out.
func wrong(hint, format string, args ...any) error { return remote.Wrong(hint, format, args...) }

// fail makes an Error of err, or one of each if it is several, without secrets.
func (s *Source) fail(ctx context.Context, err error, c remote.Credentials) error {
	if ctx.Err() != nil {
		// Whatever broke, it broke because of this.
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
