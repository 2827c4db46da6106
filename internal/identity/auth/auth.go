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
	"example.dev/ingestor/internal/rest"
)

// KeyStore is where replicas find each other's public keys, and the secret
// they share. It may be used at once by many; *Storage is one.
type KeyStore interface {
	// AddKey publishes a key until it expires.
	AddKey(ctx context.Context, k Key) error
	// Keys returns the keys that have been published.
	Keys(ctx context.Context) ([]Key, error)
	// DropKeys removes the keys that have expired.
	DropKeys(ctx context.Context) error
	// Secret returns the secret of that name, which is made the first time
	// anybody asks for it.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// Options are what an Auth is made of.
type Options struct {
	Config config.Auth
	// External are the services that may call with a token of their own.
	External []config.ExternalAccess
	// BaseURL is how the backend is reached from outside, and AppURL where
	// people open the portal; empty means BaseURL.
	BaseURL, AppURL string
	// Keys and Sessions are needed.
	Keys     KeyStore
	Sessions SessionStore
	// Membership returns the groups that the catalog puts a user into, by their
	// references; nil means that only tokens say.
	Membership func(ctx context.Context, user string) ([]string, error)
	// Now is the clock.
	Now func() time.Time
	// Log is told of keys and of issuers that do not answer; nil means nobody
	// is.
	Log *slog.Logger
	// Rotation is how long a key signs; zero means DefaultRotation.
	Rotation time.Duration
	// Audit writes to the audit log; nil means that there is none.
	Audit func(ctx context.Context, e AuditEvent)
}

// The defaults.
const (
	DefaultLifetime = time.Hour
	DefaultRotation = 2 * time.Hour
)

const (
	// maxToken is the longest token that is looked at.
	maxToken = 32 << 10
	// tendEvery is how often Run looks after the keys, and remember how long a
	// token that was found good is not looked at again. Together they are how
	// long a key that was taken back is still accepted; remember alone is how
	// long another replica accepts tokens of a session that was revoked.
	tendEvery = 30 * time.Second
	remember  = 30 * time.Second
	// mostSeen is how many tokens are remembered.
	mostSeen = 20_000
)

// Auth knows callers by their tokens, and gives tokens to those who sign in.
// It may be used at once by many.
type Auth struct {
	log *slog.Logger
	now func() time.Time
	// base is the address of the endpoints, and what the portal's tokens call
	// their issuer.
	base     string
	lifetime time.Duration
	// guests says that there are any, and guest who they are.
	guests   bool
	guest    identity
	services services
	ring     *ring
	seen     *memory[Caller]
	sessions SessionStore
	// sessionsDropped is when expired sessions were last removed from the store.
	sessionsDropped time.Time
	// users is nil if nobody signs in at an issuer.
	users      *users
	membership func(ctx context.Context, user string) ([]string, error)
	audit      func(ctx context.Context, e AuditEvent)
}

// New returns an Auth that has published its first key. Run keeps it going.
func New(ctx context.Context, opts Options) (*Auth, error) {
	opts.Rotation = cmp.Or(opts.Rotation, DefaultRotation)
	opts.BaseURL = strings.TrimRight(opts.BaseURL, "/")
	opts.AppURL = cmp.Or(opts.AppURL, opts.BaseURL)
	a := &Auth{
		log: opts.Log, now: opts.Now, base: opts.BaseURL + "/api/auth", lifetime: cmp.Or(opts.Config.TokenLifetime, DefaultLifetime),
		guests: opts.Config.Guest.Enabled, seen: newMemory[Caller](mostSeen), sessions: opts.Sessions, membership: opts.Membership,
		audit: opts.Audit,
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if u, err := url.Parse(opts.BaseURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("cannot use backend.baseUrl %q: it is no address of a web server", opts.BaseURL)
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
	a.ring, err = newRing(ctx, opts.Keys, opts.Now, opts.Rotation, a.lifetime)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Run looks after keys and sessions until ctx ends: it makes a new key when it
// is time or when the old one was taken back, and removes the keys and the
// revoked sessions that have expired.
func (a *Auth) Run(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	// That something keeps failing is said once.
	keysFail, issuerFails := false, false
	for {
		err := a.ring.tend(ctx)
		if err == nil {
			err = a.dropSessions(ctx)
		}
		keysFail = a.tell(ctx, "cannot maintain signing keys and sessions", err, keysFail)
		if a.users != nil {
			issuerFails = a.tell(ctx, "The issuer of sign-ins does not answer", a.users.issuer.tend(ctx), issuerFails)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell logs an error that was not there before, and its end.
func (a *Auth) tell(ctx context.Context, message string, err error, before bool) bool {
	switch {
	case ctx.Err() != nil:
	case err != nil && !before:
		a.log.WarnContext(ctx, message, "error", err)
	case err == nil && before:
		a.log.InfoContext(ctx, message+": that is over")
	}
	return err != nil
}

// Authenticate returns who makes a request, or the *server.Fault that says why
// nobody knows. The caller's lists are shared with other requests and are not
// to be changed.
func (a *Auth) Authenticate(r *http.Request) (Caller, error) {
	c, err := a.authenticate(r)
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

// Guest returns who asks without saying who they are, and false where guests
// are not let in.
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
		return "", rest.BadToken("There is more than one Authorization header")
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

// verify returns whose token it is, and until when.
func (a *Auth) verify(ctx context.Context, raw string) (Caller, time.Time, error) {
	from, ok := peek(raw)
	switch {
	case !ok:
		return Caller{}, time.Time{}, rest.BadToken("Illegal token")
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

// unverified is a token that is not what it says.
func unverified(why error) error {
	f := rest.BadToken("Failed user token verification")
	f.Err = why
	return f
}
