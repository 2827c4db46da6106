// Package auth says who asks: guests, users of an OpenID Connect issuer, and
// services with a token of their own. It issues the portal's tokens and checks
// them.
package auth

import who "example.dev/ingestor/internal/identity"

// Caller is who makes a request.
type Caller = who.Caller

// Kind is what a caller is.
type Kind = who.Kind

// The kinds of caller.
const (
	Nobody  = who.Nobody
	Guest   = who.Guest
	User    = who.User
	Service = who.Service
)

// With and From put a caller into a context and take it out.
var (
	With = who.With
	From = who.From
)
