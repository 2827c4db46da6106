// Package identity defines callers: users, guests and services. Every decision is
// made about a Caller, in a request and inside a task alike.
package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a caller.
type Kind uint8

// Kinds of caller. Anonymous is a request without credentials, on an endpoint that needs
// none.
const (
	Anonymous Kind = iota
	Guest
	User
	Service
)

var kinds = []string{"anonymous", "guest", "user", "service"}

// formerAnonymous is the name of Anonymous in data that earlier versions stored.
const formerAnonymous = "nobody"

// String returns the name of the kind in configuration and logs.
func (k Kind) String() string { return kinds[k] }

// MarshalText encodes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText decodes what MarshalText encoded.
func (k *Kind) UnmarshalText(text []byte) error {
	if string(text) == formerAnonymous {
		*k = Anonymous
		return nil
	}
	i := slices.Index(kinds, string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind of caller %q", text)
	}
	*k = Kind(i)
	return nil
}

// Caller is who makes a request. A task stores the caller it was created by as JSON.
type Caller struct {
	Kind Kind `json:"kind"`
	// Subject is the reference of a user or guest, such as
	// "user:default/ada", and the configured name of a service.
	Subject string `json:"subject"`
	// Ownership are the references with which the caller owns things: the caller and its
	// groups.
	Ownership []string `json:"ownership,omitempty"`
	// Login and Groups are the user and the groups as the sign-in issuer spells them,
	// which is how clusters know them. They are empty for guests and services.
	Login  string   `json:"login,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Name and Email are those of the user, as the issuer gave them; either may be
	// empty.
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
	// Via is the name of the Backstage that calls, for itself or for one of its users; empty
	// for everyone else.
	Via string `json:"via,omitempty"`
	// Session is the id of the sign-in session that the caller's token was issued from,
	// empty if there was none. A task does not store it.
	Session string `json:"-"`
}

// Key identifies a caller for counting limits: kind and subject in lower case.
func (c Caller) Key() string { return c.Kind.String() + " " + strings.ToLower(c.Subject) }

type callerKey struct{}

// With returns a context with a caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// From returns the caller of a context, Anonymous if it has none.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
