package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
)

// session is a signed-in user, as stored in the browser's cookie.
type session struct {
	// ID identifies the session. Tokens issued from it have the same id, so that a
	// logout ends both.
	ID string `json:"id"`
	// Subject is the issuer's id of the user, Ref the portal's reference.
	Subject   string   `json:"subject"`
	Ref       string   `json:"ref"`
	Ownership []string `json:"ownership"`
	Profile   profile  `json:"profile"`
	// Email is the email address of the profile unless the issuer marks it as
	// unverified, and Spelled is the issuer's spelling of the user and the groups.
	Email   string   `json:"email,omitempty"`
	Spelled spelling `json:"names,omitempty"`
	// Refresh is the issuer's refresh token, empty if it gave none.
	Refresh string `json:"refresh,omitempty"`
	// Began is when the user signed in, and Until when the issuer must be asked again.
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
}

// keep stores a session in the browser.
func (a *Auth) keep(w http.ResponseWriter, r *http.Request, s session) error {
	err := a.users.sessions.write(w, r, s)
	if errors.Is(err, errTooLong) {
		return &problem{page: pageGroups, err: rest.NotAllowed("You are in too many groups for a session: configure the issuer to list fewer in the claim %q", a.users.issuer.settings.GroupsClaim)}
	}
	return err
}

// fromPage checks that a request comes from a page that may make it: forms and links
// of other sites cannot set the header.
func (a *Auth) fromPage(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.parameters(w, r); err != nil {
		return err
	}
	if r.Header.Get("X-Requested-With") != "XMLHttpRequest" {
		return rest.Unauthenticated("Invalid X-Requested-With header")
	}
	_, err := rest.ReadBody(r)
	return err
}

// refresh issues a token to a signed-in user.
func (a *Auth) refresh(w http.ResponseWriter, r *http.Request) error {
	if err := a.fromPage(w, r); err != nil {
		return err
	}
	var s session
	if !a.users.sessions.read(r, &s) {
		return rest.Unauthenticated("Missing session cookie")
	}
	next, err := a.proceed(r.Context(), s)
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusUnauthorized {
		a.users.sessions.clear(w, r)
	}
	if err != nil {
		return err
	}
	if !next.Until.Equal(s.Until) {
		if err := a.keep(w, r, next); err != nil {
			return err
		}
	}
	who, err := a.join(r.Context(), identity{
		ref: next.Ref, ownership: next.Ownership, session: next.ID,
		name: next.Profile.DisplayName, email: next.Email, spelled: next.Spelled,
	})
	if err != nil {
		return err
	}
	return a.welcome(w, r, who, next.Profile)
}

// proceed returns a session from which tokens can be issued: the given one, or a
// renewed one if the issuer must be asked again. A session that has ended is a fault
// with status 401.
func (a *Auth) proceed(ctx context.Context, s session) (session, error) {
	now := a.now()
	if s.ID == "" {
		return session{}, over(errors.New("session has no id and cannot be revoked"))
	}
	if !now.Before(s.Began.Add(sessionLasts)) {
		return session{}, over(errors.New("session has expired"))
	}
	if err := a.checkSession(ctx, s.ID); err != nil {
		return session{}, ended(err)
	}
	if now.Before(s.Until) {
		return s, nil
	}
	next, err := a.users.renew(ctx, s, now)
	if err != nil {
		return session{}, err
	}
	// The issuer may be slow, and the user may have logged out meanwhile.
	if err := a.checkSession(ctx, s.ID); err != nil {
		return session{}, ended(err)
	}
	return next, nil
}

// logout ends a session. If that cannot be stored, the browser keeps its cookie, so
// that the request can be retried.
func (a *Auth) logout(w http.ResponseWriter, r *http.Request) error {
	if err := a.fromPage(w, r); err != nil {
		return err
	}
	a.recordLogout(r)
	var s session
	if a.users.sessions.read(r, &s) {
		if err := a.revoke(r.Context(), s); err != nil {
			return err
		}
	}
	a.users.sessions.clear(w, r)
	w.WriteHeader(http.StatusOK)
	return nil
}

// over returns the fault for a session that has ended.
func over(why error) error {
	f := rest.Unauthenticated("Your session has ended: sign in again")
	f.Err = why
	return f
}

// renewals caches sessions that were just renewed. A refresh token may be valid only
// once, and a browser with several open pages sends the same one several times.
type renewals struct {
	flight *singleflight.Group
	recent *memory[session]
}

const (
	renewalLasts = time.Minute
	mostRenewals = 1000
)

func newRenewals() renewals {
	return renewals{flight: &singleflight.Group{}, recent: newMemory[session](mostRenewals)}
}

// renew asks the issuer whether the user is still signed in.
func (u *users) renew(ctx context.Context, s session, now time.Time) (session, error) {
	if s.Refresh == "" {
		return session{}, over(errors.New("issuer returned no refresh token"))
	}
	// An issuer may give two sessions the same refresh token.
	key := sha256.Sum256([]byte(s.ID + " " + s.Refresh))
	done := u.renewals.flight.DoChan(string(key[:]), func() (any, error) {
		if next, ok := u.renewals.recent.get(key, now); ok {
			return next, nil
		}
		mark := u.renewals.recent.mark()
		next, err := u.ask(context.WithoutCancel(ctx), s)
		if err == nil {
			u.renewals.recent.put(key, next, now.Add(renewalLasts), now, mark)
		}
		return next, err
	})
	select {
	case <-ctx.Done():
		return session{}, away(ctx.Err())
	case r := <-done:
		if r.Err != nil {
			return session{}, r.Err
		}
		return r.Val.(session), nil
	}
}

func (u *users) ask(ctx context.Context, s session) (session, error) {
	f, err := u.issuer.discover(ctx)
	if err != nil {
		return session{}, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, u.issuer.client), keyring.Timeout)
	defer cancel()
	got, err := f.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: s.Refresh}).Token()
	if err != nil {
		return session{}, ended(u.refused(err))
	}
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		// Without an ID token, the issuer only confirms the session.
		s.Until = u.issuer.now().Add(lifetimeOf(got))
		if got.RefreshToken != "" {
			s.Refresh = got.RefreshToken
		}
		return s, nil
	}
	id, err := u.issuer.verify(ctx, f, raw, u.issuer.settings.ClientID)
	if err != nil {
		return session{}, ended(notSignedIn(err))
	}
	if id.Subject != s.Subject {
		return session{}, over(errors.New("refreshed ID token is for another user"))
	}
	next, err := u.session(ctx, f, got, id, s)
	if err != nil {
		return session{}, ended(err)
	}
	return next, nil
}

// ended returns the fault for a session that has ended, unless a retry may succeed.
func ended(err error) error {
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusServiceUnavailable {
		return err
	}
	return over(cause(err))
}

// lifetimeOf returns how long the issuer's response is valid.
func lifetimeOf(t *oauth2.Token) time.Duration {
	const least, most = time.Minute, time.Hour
	return min(max(time.Duration(t.ExpiresIn)*time.Second, least), most)
}
