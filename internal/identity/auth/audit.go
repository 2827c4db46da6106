package auth

import (
	"context"
	"errors"
	"net/http"

	"example.dev/ingestor/internal/rest"
)

// Audit log events about callers.
const (
	EventSignIn = "auth.sign-in"
	EventLogout = "auth.logout"
	EventToken  = "auth.token"
)

// Sign-in providers.
const (
	providerGuest = "guest"
	providerOIDC  = "oidc"
)

// AuditEvent is an audit log entry about a caller: a sign-in, a logout, or a refused
// token.
type AuditEvent struct {
	// Name is one of the constants.
	Name string
	// Caller is the caller, the zero value if it is not known.
	Caller Caller
	// Provider is the sign-in provider: guest or oidc.
	Provider string
	// Err is the reason for a failure, nil if there was none.
	Err error
}

// record writes to the audit log.
func (a *Auth) record(ctx context.Context, e AuditEvent) {
	if a.audit != nil {
		a.audit(ctx, e)
	}
}

// recordGuest records that a guest received a token, or why not.
func (a *Auth) recordGuest(ctx context.Context, err error) {
	e := AuditEvent{Name: EventSignIn, Provider: providerGuest, Err: err}
	if err == nil {
		e.Caller, _ = a.Guest()
	}
	a.record(ctx, e)
}

// recordSignIn records that a user signed in, or why not.
func (a *Auth) recordSignIn(ctx context.Context, s session, err error) {
	e := AuditEvent{Name: EventSignIn, Provider: providerOIDC, Err: err}
	if s.Ref != "" {
		e.Caller = Caller{Kind: User, Subject: s.Ref}
	}
	a.record(ctx, e)
}

// recordLogout records that the user of a session logged out. Without a session,
// nothing is recorded.
func (a *Auth) recordLogout(r *http.Request) {
	var s session
	if a.audit != nil && a.users.sessions.read(r, &s) {
		a.record(r.Context(), AuditEvent{Name: EventLogout, Provider: providerOIDC, Caller: Caller{Kind: User, Subject: s.Ref}})
	}
}

// recordToken records a refused token. A request without a token is not recorded.
func (a *Auth) recordToken(ctx context.Context, err error) {
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusForbidden {
		a.record(ctx, AuditEvent{Name: EventToken, Err: cause(err)})
	}
}
