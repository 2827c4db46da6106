package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
)

// Types of the tokens that a Backstage backend signs.
const (
	// backstagePlugin is a token of a plugin. Its claim obo is the token of the user for
	// whom the plugin calls, if there is one.
	backstagePlugin = "vnd.backstage.plugin"
	backstageUser   = "vnd.backstage.limited-user"
	// backstageAudience is the plugin of Backstage that tokens for the portal are for. Other
	// plugins of Backstage refuse them, so the portal could not use them there.
	backstageAudience = "ingestor"
	// backstageGuest is the user that Backstage lets in without signing in.
	backstageGuest = "user:development/guest"
)

// ownershipHeader lists the references of the user's groups in Backstage.
const ownershipHeader = "Backstage-Ownership"

// maxOwnership is how many references it may have.
const maxOwnership = 1000

// backstage is a Backstage whose plugins may call, for themselves and for its users.
type backstage struct {
	config.Backstage
	// plugins are the keys of the plugins that may call, users those of the tokens of users.
	plugins map[string]*keyring.Set
	users   *keyring.Set
}

func newBackstages(all []config.Backstage, now func() time.Time) ([]*backstage, error) {
	var out []*backstage
	for i, c := range all {
		client, err := newClient(fmt.Sprintf("auth.backstage[%d]", i), c.CAFile)
		if err != nil {
			return nil, err
		}
		keys := func(path string) *keyring.Set {
			at := strings.TrimRight(c.URL, "/") + "/api/" + path
			return keyring.NewSet(now, func(ctx context.Context) ([]keyring.PublicKey, error) { return readKeys(ctx, client, at) })
		}
		b := &backstage{Backstage: c, plugins: map[string]*keyring.Set{}, users: keys("auth/.well-known/jwks.json")}
		for _, plugin := range c.Plugins {
			b.plugins[plugin] = keys(plugin + "/.backstage/auth/v1/jwks.json")
		}
		out = append(out, b)
	}
	return out, nil
}

// backstageClaims are the claims of Backstage's tokens.
type backstageClaims struct {
	Subject  string `json:"sub"`
	Audience any    `json:"aud"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	OnBehalf string `json:"obo"`
}

// check returns why a token that was signed is not valid.
func (c backstageClaims) check(typ any, want string, now time.Time) error {
	switch {
	case typ != want:
		return errors.New("token has the wrong type")
	case c.Subject == "":
		return errors.New("token has no subject")
	case c.Expires == 0 || !now.Before(time.Unix(c.Expires, 0)):
		return errors.New("token has expired")
	case now.Add(leeway).Before(time.Unix(c.Issued, 0)):
		return errors.New("token is not valid yet")
	}
	return nil
}

// verifyBackstage verifies the token of a plugin of a Backstage: the caller is the user for
// whom it calls, or the Backstage itself.
func (a *Auth) verifyBackstage(ctx context.Context, raw, plugin string) (Caller, time.Time, error) {
	none := func(err error) (Caller, time.Time, error) { return Caller{}, time.Time{}, err }
	if len(a.backstages) == 0 {
		return none(unverified(errors.New("token is of a Backstage, and auth.backstage is not configured")))
	}
	failure := fmt.Errorf("token is of plugin %q of a Backstage, which no item of auth.backstage lists", printable(plugin, 50))
	for _, b := range a.backstages {
		keys, ok := b.plugins[plugin]
		if !ok {
			continue
		}
		c, err := verifyClaims(ctx, keys, raw, backstagePlugin, a.now())
		switch {
		case errors.Is(err, keyring.ErrForged):
			failure = err
			continue // Another Backstage may have signed it.
		case err != nil:
			return none(b.fault(err))
		case c.Audience != backstageAudience:
			return none(unverified(errors.New("token is for another audience")))
		}
		who := Caller{Kind: Service, Subject: "backstage:" + b.Name, Via: b.Name}
		until := time.Unix(c.Expires, 0)
		if c.OnBehalf != "" {
			user, err := verifyClaims(ctx, b.users, c.OnBehalf, backstageUser, a.now())
			if err == nil {
				who, err = a.backstageUser(ctx, b, user.Subject)
			}
			if err != nil {
				return none(b.fault(err))
			}
			if last := time.Unix(user.Expires, 0); last.Before(until) {
				until = last
			}
		}
		return who, until, nil
	}
	return none(unverified(failure))
}

// verifyClaims returns the claims of a token of a type that was signed with one of the keys.
func verifyClaims(ctx context.Context, keys *keyring.Set, raw, typ string, now time.Time) (c backstageClaims, err error) {
	header, payload, err := keys.Verify(ctx, raw, asymmetric)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return c, unverified(errors.New("cannot parse claims of the token"))
	}
	if err := c.check(header.ExtraHeaders[jose.HeaderType], typ, now); err != nil {
		return c, unverified(err)
	}
	return c, nil
}

// backstageUser returns the caller for a user of a Backstage.
func (a *Auth) backstageUser(ctx context.Context, b *backstage, subject string) (Caller, error) {
	ref, err := entity.ParseExisting(subject, "", "")
	if err != nil || !strings.EqualFold(ref.Kind, "user") {
		return Caller{}, unverified(fmt.Errorf("subject %q of the token is not a user", printable(subject, 100)))
	}
	who := identity{ref: ref.String(), ownership: []string{ref.String()}}
	if who.ref == backstageGuest {
		if !a.guests {
			return Caller{}, unverified(errors.New("token is of a guest of Backstage, and guest sign-in is disabled"))
		}
		c, _ := a.Guest()
		c.Via = b.Name
		return c, nil
	}
	if who, err = a.join(ctx, who); err != nil {
		return Caller{}, err
	}
	// How clusters spell the user and the groups is not known.
	return Caller{Kind: User, Subject: who.ref, Ownership: who.ownership, Via: b.Name}, nil
}

// fault returns the fault for a token that cannot be verified, or for keys that cannot be
// read.
func (b *backstage) fault(err error) error {
	if _, ok := errors.AsType[*rest.Fault](err); ok {
		return err
	}
	if errors.Is(err, keyring.ErrForged) {
		return unverified(err)
	}
	return rest.Unavailable(fmt.Errorf("cannot read the keys of Backstage %s: %w", b.Name, err), "Backstage %s is not available, its tokens cannot be verified", b.Name)
}

// withOwnership adds the groups that a Backstage says its user is in. A client with a
// token of its plugins speaks for the Backstage.
func withOwnership(c Caller, h http.Header) (Caller, error) {
	given := h.Values(ownershipHeader)
	if c.Via == "" || c.Kind != User || len(given) == 0 {
		return c, nil
	}
	refs := strings.Split(strings.Join(given, ","), ",")
	if len(refs) > maxOwnership {
		return c, rest.Input("Header %s has %d references, but may have %d", ownershipHeader, len(refs), maxOwnership)
	}
	c.Ownership = slices.Clone(c.Ownership)
	for _, text := range refs {
		text = strings.TrimSpace(text)
		ref, err := entity.ParseExisting(text, "", "")
		kind := strings.ToLower(ref.Kind)
		if err != nil || kind != "group" && kind != "user" {
			return c, rest.Input("Header %s has %q, which is not the reference of a group or user", ownershipHeader, rest.Short(text))
		}
		// A user owns things as a member of groups, and as no other user.
		if known := ref.String(); kind == "group" && !slices.Contains(c.Ownership, known) {
			c.Ownership = append(c.Ownership, known)
		}
	}
	return c, nil
}
