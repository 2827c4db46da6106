package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
)

// KeyStore is where replicas share their public keys and a secret. It must be safe
// for concurrent use; *Storage is one.
type KeyStore interface {
	keyring.Store
	// Secret returns the secret with that name, which is created on first use.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// Options configure New.
type Options struct {
	Config config.Auth
	// External are the services that may call with a static token.
	External []config.ExternalAccess
	// BaseURL is the external URL of the backend, and AppURL that of the portal's pages;
	// empty means BaseURL.
	BaseURL, AppURL string
	// Title is the name of the portal on its pages; empty means Portal.
	Title string
	// Keys and Sessions are required.
	Keys     KeyStore
	Sessions SessionStore
	// Membership returns the references of the groups that a user is a member of in the
	// catalog; nil means that only tokens define groups.
	Membership func(ctx context.Context, user string) ([]string, error)
	// Now is the clock.
	Now func() time.Time
	// Log receives problems with keys and with issuers that do not respond; nil discards
	// them.
	Log *slog.Logger
	// Rotation is how long a key signs; zero means DefaultRotation.
	Rotation time.Duration
	// Audit writes to the audit log; nil means that there is none.
	Audit func(ctx context.Context, e AuditEvent)
}

// Defaults.
const (
	DefaultLifetime = time.Hour
	DefaultRotation = 2 * time.Hour
)

const (
	// maxToken is the maximum length of a token that is examined.
	maxToken = 32 << 10
	// tendEvery is how often Run maintains the keys, and remember how long a verified
	// token is cached. Together they are how long a withdrawn key is still accepted;
	// remember alone is how long another replica accepts tokens of a revoked session.
	tendEvery = 30 * time.Second
	remember  = 30 * time.Second
	// mostSeen is how many tokens are cached.
	mostSeen = 20_000
)

// Auth authenticates callers by their tokens, and issues tokens to users who sign in.
// It is safe for concurrent use.
type Auth struct {
	log *slog.Logger
	now func() time.Time
	// base is the URL of the endpoints, and the issuer of the portal's tokens.
	base     string
	lifetime time.Duration
	// home is the URL of the portal's pages, and title its name.
	home, title string
	// guests says whether guests are allowed, and guest is their identity.
	guests   bool
	guest    identity
	services services
	ring     *keyring.Ring
	seen     *memory[Caller]
	sessions SessionStore
	// sessionsDropped is when expired sessions were last removed from the store.
	sessionsDropped time.Time
	// users is nil if no issuer is configured.
	users      *users
	backstages []*backstage
	membership func(ctx context.Context, user string) ([]string, error)
	audit      func(ctx context.Context, e AuditEvent)
}

// New returns an Auth that has published its first key. Run maintains it.
func New(ctx context.Context, opts Options) (*Auth, error) {
	opts.Rotation = cmp.Or(opts.Rotation, DefaultRotation)
	opts.BaseURL = strings.TrimRight(opts.BaseURL, "/")
	opts.AppURL = cmp.Or(opts.AppURL, opts.BaseURL)
	a := &Auth{
		log: opts.Log, now: opts.Now, base: opts.BaseURL + "/api/auth", lifetime: cmp.Or(opts.Config.TokenLifetime, DefaultLifetime),
		guests: opts.Config.Guest.Enabled, seen: newMemory[Caller](mostSeen), sessions: opts.Sessions, membership: opts.Membership,
		audit: opts.Audit, home: opts.AppURL, title: opts.Title,
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if u, err := url.Parse(opts.BaseURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("cannot use backend.baseUrl %q: not an http or https URL", opts.BaseURL)
	}
	var err error
	if a.services, err = newServices(opts.External); err != nil {
		return nil, err
	}
	if a.guest, err = newGuest(opts.Config.Guest); err != nil {
		return nil, err
	}
	if opts.Config.OIDC.Enabled {
		if a.users, err = newUsers(ctx, opts, a.base); err != nil {
			return nil, err
		}
	}
	if a.backstages, err = newBackstages(opts.Config.Backstages, opts.Now); err != nil {
		return nil, err
	}
	a.ring, err = keyring.New(ctx, opts.Keys, tokenType, opts.Now, opts.Rotation, a.lifetime)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Run maintains keys and sessions until ctx ends: it creates a new key when the old
// one is due for rotation or was withdrawn, and removes expired keys and expired
// revoked sessions.
func (a *Auth) Run(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	// A repeated failure is logged once.
	keysFail, issuerFails := false, false
	for {
		err := a.ring.Tend(ctx)
		if err == nil {
			err = a.dropSessions(ctx)
		}
		keysFail = a.tell(ctx, "signing key and session maintenance failed", "signing key and session maintenance resumed", err, keysFail)
		if a.users != nil {
			issuerFails = a.tell(ctx, "sign-in issuer not available", "sign-in issuer available again", a.users.issuer.tend(ctx), issuerFails)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell logs an error when it first occurs, and when it is over.
func (a *Auth) tell(ctx context.Context, failed, recovered string, err error, before bool) bool {
	switch {
	case ctx.Err() != nil:
	case err != nil && !before:
		a.log.WarnContext(ctx, failed, "error", err)
	case err == nil && before:
		a.log.InfoContext(ctx, recovered)
	}
	return err != nil
}

// Authenticate returns the caller of a request, or the *rest.Fault that says why the
// caller is not known. The lists in the Caller are shared with other requests and
// must not be modified.
func (a *Auth) Authenticate(r *http.Request) (Caller, error) {
	c, err := a.authenticate(r)
	if err == nil {
		c, err = withOwnership(c, r.Header)
	}
	if err != nil {
		a.recordToken(r.Context(), err)
	}
	return c, err
}

func (a *Auth) authenticate(r *http.Request) (Caller, error) {
	raw, err := bearer(r)
	if err != nil {
		return Caller{}, err
	}
	sum := sha256.Sum256([]byte(raw))
	if c, ok := a.services.find(sum); ok {
		return c, nil
	}
	now := a.now()
	if c, ok := a.seen.get(sum, now); ok {
		return c, nil
	}
	// A session may be revoked while its token is verified.
	mark := a.seen.mark()
	c, until, err := a.verify(r.Context(), raw)
	if err != nil {
		return Caller{}, err
	}
	if last := now.Add(remember); last.Before(until) {
		until = last
	}
	a.seen.put(sum, c, until, now, mark)
	return c, nil
}

// Guest returns the guest caller, and whether guests are allowed.
func (a *Auth) Guest() (Caller, bool) {
	return Caller{Kind: Guest, Subject: a.guest.ref, Ownership: a.guest.ownership}, a.guests
}

// bearer returns the token of a request.
func bearer(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", rest.Unauthenticated("Missing credentials")
	}
	if len(values) > 1 {
		return "", rest.BadToken("More than one Authorization header")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", rest.Unauthenticated("Missing credentials")
	}
	if len(token) > maxToken || strings.ContainsAny(token, " \t") {
		return "", rest.BadToken("Illegal token")
	}
	return token, nil
}

// verify returns the caller of a token, and when the token expires.
func (a *Auth) verify(ctx context.Context, raw string) (Caller, time.Time, error) {
	claimed, ok := peek(raw)
	from := claimed.issuer
	switch {
	case !ok:
		return Caller{}, time.Time{}, rest.BadToken("Illegal token")
	case claimed.typ == backstagePlugin:
		return a.verifyBackstage(ctx, raw, claimed.subject)
	case a.users != nil && from == a.users.issuer.settings.Issuer && from != a.base:
		who, until, err := a.users.issuer.verifyBearer(ctx, raw)
		if err == nil {
			who, err = a.join(ctx, who)
		}
		if err != nil {
			return Caller{}, time.Time{}, err
		}
		return who.caller(), until, nil
	}
	return a.verifyOwn(ctx, raw)
}

// unverified returns the fault for a token that cannot be verified.
func unverified(why error) error {
	f := rest.BadToken("Failed user token verification")
	f.Err = why
	return f
}
