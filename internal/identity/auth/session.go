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

	"example.dev/ingestor/internal/rest"
)

// session is somebody who has signed in, as their browser keeps it.
type session struct {
	// ID tells the session from all others. Tokens that are issued from it have
	// it too, so that a logout ends both.
	ID string `json:"id"`
	// Subject is what the issuer calls them, Ref what the portal does.
	Subject   string   `json:"subject"`
	Ref       string   `json:"ref"`
	Ownership []string `json:"ownership"`
	Profile   profile  `json:"profile"`
	// Email is the address of the profile if the issuer does not doubt it, and
	// Spelled is how the issuer spells them and their groups.
	Email   string   `json:"email,omitempty"`
	Spelled spelling `json:"names,omitempty"`
	// Refresh is the issuer's refresh token, empty if it gave none.
	Refresh string `json:"refresh,omitempty"`
	// Began is when they signed in, and Until when the issuer has to be asked
	// again.
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
}

// keep gives the browser a session.
func (a *Auth) keep(w http.ResponseWriter, r *http.Request, s session) error {
	err := a.users.sessions.write(w, r, s)
	if errors.Is(err, errTooLong) {
		return rest.NotAllowed("You are in more groups than a session can hold: have the issuer list fewer in the claim %q", a.users.issuer.settings.GroupsClaim)
	}
	return err
}

// fromPage sees to it that a request comes from a page that may make it:
// another site's form or link cannot set the header.
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

// refresh gives a token to somebody who has signed in.
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

// proceed returns a session that tokens can be issued from: the one it is given,
// or what the issuer says now if it has to be asked again. A session that has
// ended is a fault of status 401.
func (a *Auth) proceed(ctx context.Context, s session) (session, error) {
	now := a.now()
	if s.ID == "" {
		return session{}, over(errors.New("the session has no id, and could not be revoked"))
	}
	if !now.Before(s.Began.Add(sessionLasts)) {
		return session{}, over(errors.New("the session is too old"))
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
	// The issuer takes its time, and a logout may have come meanwhile.
	if err := a.checkSession(ctx, s.ID); err != nil {
		return session{}, ended(err)
	}
	return next, nil
}

// logout ends a session. If that cannot be stored the browser keeps its cookie,
// so that the same request can be made again.
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

// over is a session that has ended.
func over(why error) error {
	f := rest.Unauthenticated("Your session has ended: sign in again")
	f.Err = why
	return f
}

// renewals are sessions that were renewed a moment ago. A refresh token may be
// good for one use, and a browser that has several pages open asks with the
// same one more than once.
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

// renew asks the issuer whether somebody is still who they were.
func (u *users) renew(ctx context.Context, s session, now time.Time) (session, error) {
	if s.Refresh == "" {
		return session{}, over(errors.New("the issuer gave no refresh token"))
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
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, u.issuer.client), patience)
	defer cancel()
	got, err := f.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: s.Refresh}).Token()
	if err != nil {
		return session{}, ended(u.refused(err))
	}
	raw, _ := got.Extra("id_token").(string)
	if raw == "" {
		// Without one the issuer says no more than that they are still there.
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
		return session{}, over(errors.New("the issuer speaks of somebody else"))
	}
	next, err := u.session(ctx, f, got, id, s)
	if err != nil {
		return session{}, ended(err)
	}
	return next, nil
}

// ended returns the error of a session that cannot go on, unless trying again
// may help.
func ended(err error) error {
	if f, ok := errors.AsType[*rest.Fault](err); ok && f.Status == http.StatusServiceUnavailable {
		return err
	}
	return over(cause(err))
}

// lifetimeOf returns how long the issuer's answer is good for.
func lifetimeOf(t *oauth2.Token) time.Duration {
	const least, most = time.Minute, time.Hour
	return min(max(time.Duration(t.ExpiresIn)*time.Second, least), most)
}
