// Package identity is who asks: a person, a guest or a service. Every decision
// is made about a Caller, in a request and inside a task alike.
package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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

var kinds = []string{"nobody", "guest", "user", "service"}

// String returns the kind as configuration and logs call it.
func (k Kind) String() string { return kinds[k] }

// MarshalText writes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kinds, string(text))
	if i < 0 {
		return fmt.Errorf("cannot read the kind of caller %q", text)
	}
	*k = Kind(i)
	return nil
}

// Caller is who makes a request. A task keeps the caller it was created by as
// JSON.
type Caller struct {
	Kind Kind `json:"kind"`
	// Subject is the reference of a user or guest, such as
	// "user:default/ada", and the configured name of a service.
	Subject string `json:"subject"`
	// Ownership are the references in whose name the caller owns things:
	// themselves and their groups.
	Ownership []string `json:"ownership,omitempty"`
	// Login and Groups are the user and the groups as the issuer of the sign-in
	// spells them, which is how clusters know them. They are empty for guests
	// and services.
	Login  string   `json:"login,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Name and Email are the person's, as the issuer gave them; either may be
	// empty.
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	// Session is the id of the sign-in that the caller's token was made from,
	// empty if there was none. A task does not keep it.
	Session string `json:"-"`
}

// Key tells callers apart that limits are counted for: a kind and a subject in
// lower case.
func (c Caller) Key() string { return c.Kind.String() + " " + strings.ToLower(c.Subject) }

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
