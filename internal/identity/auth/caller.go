// Package auth authenticates callers: guests, users of an OpenID Connect issuer, and
// services with a static token. It issues and verifies the portal's tokens.
//
// It is one package because sign-in, session, cookie and token are one security boundary,
// and a reviewer has to see all of it.
package auth

import who "example.dev/ingestor/internal/identity"

// Caller is who makes a request.
type Caller = who.Caller

// Kind is the kind of a caller.
type Kind = who.Kind

// Kinds of caller.
const (
	Anonymous = who.Anonymous
	Guest     = who.Guest
	User      = who.User
	Service   = who.Service
)

// With stores a caller in a context, and From returns it.
var (
	With = who.With
	From = who.From
)
