// Package auth says who asks: guests, users of an OpenID Connect issuer, and
// services with a token of their own. It issues the portal's tokens and checks
// them.
package auth

import "context"

// Kind is what a caller is.
type Kind uint8

// The kinds of caller. Nobody is a request without credentials, on an endpoint
// that needs none.
const (
	Nobody Kind = iota
	Guest
	User
	Service
)

// String returns the kind as configuration and logs call it.
func (k Kind) String() string {
	return [...]string{"nobody", "guest", "user", "service"}[k]
}

// Caller is who makes a request.
type Caller struct {
	Kind Kind
	// Subject is the reference of a user or guest, such as
	// "user:default/ada", and what a service is called.
	Subject string
	// Ownership are the references in whose name the caller owns things:
	// themselves and their groups.
	Ownership []string
}

type callerKey struct{}

// With returns a context that knows its caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From returns the caller of a context; Nobody if it has none.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
