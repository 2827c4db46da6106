package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"example.dev/ingestor/internal/identity/keyring"
	"example.dev/ingestor/internal/rest"
)

const (
	tokenType     = "vnd.backstage.user"
	tokenAudience = "backstage"
	// leeway is how far ahead the clock of another replica may be.
	leeway = time.Minute
)

// claims are the claims of the portal's own tokens.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Ownership []string `json:"ent"`
	Audience  string   `json:"aud"`
	Issued    int64    `json:"iat"`
	NotBefore int64    `json:"nbf,omitempty"`
	Expires   int64    `json:"exp"`
	// Guest marks the token of a guest.
	Guest bool `json:"guest,omitempty"`
	// Session is the id of the session that the token was issued from.
	Session string `json:"sid,omitempty"`
	// Name and Email are those of the user, Spelled is the issuer's spelling of the user
	// and the groups, and Member are the groups in Ownership that come from the catalog.
	Name    string   `json:"name,omitempty"`
	Email   string   `json:"email,omitempty"`
	Spelled spelling `json:"names,omitempty"`
	Member  []string `json:"mem,omitempty"`
}

// identity is a user or guest that tokens are issued to.
type identity struct {
	ref       string
	ownership []string
	guest     bool
	session   string
	// name and email are those of the user, spelled is the issuer's spelling of the user
	// and the groups, and member are the groups in ownership that come from the catalog.
	name, email string
	spelled     spelling
	member      []string
}

// issue returns a token for an identity.
func (a *Auth) issue(ctx context.Context, who identity) (string, error) {
	s, err := a.ring.Signer(ctx)
	if err != nil {
		return "", unavailable(err)
	}
	now := a.now()
	payload, err := json.Marshal(claims{
		Issuer: a.base, Subject: who.ref, Ownership: who.ownership, Audience: tokenAudience,
		Issued: now.Unix(), Expires: now.Add(a.lifetime).Unix(), Guest: who.guest, Session: who.session,
		Name: who.name, Email: who.email, Spelled: who.spelled, Member: who.member,
	})
	if err != nil {
		return "", fmt.Errorf("cannot encode token: %w", err)
	}
	signed, err := s.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("cannot sign token: %w", err)
	}
	return signed.CompactSerialize()
}

// verifyOwn verifies a token that claims to be the portal's.
func (a *Auth) verifyOwn(ctx context.Context, raw string) (Caller, time.Time, error) {
	none := func(err error) (Caller, time.Time, error) { return Caller{}, time.Time{}, err }
	header, payload, err := a.ring.Verify(ctx, raw)
	if errors.Is(err, keyring.ErrForged) {
		return none(unverified(err))
	}
	if err != nil {
		return none(unavailable(err))
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return none(unverified(errors.New("cannot parse claims of the token")))
	}
	now := a.now()
	expires := time.Unix(c.Expires, 0)
	switch {
	case header.ExtraHeaders[jose.HeaderType] != tokenType:
		err = errors.New("token has the wrong type")
	case c.Issuer != a.base:
		err = errors.New("token is from another issuer")
	case c.Audience != tokenAudience:
		err = errors.New("token is for another audience")
	case c.Subject == "":
		err = errors.New("token has no subject")
	case !now.Before(expires):
		err = errors.New("token has expired")
	case now.Before(time.Unix(c.NotBefore, 0)), now.Add(leeway).Before(time.Unix(c.Issued, 0)):
		err = errors.New("token is not valid yet")
	case c.Guest && !a.guests:
		err = errors.New("token is a guest token, and guest sign-in is disabled")
	}
	if err == nil && c.Session != "" {
		err = a.checkSession(ctx, c.Session)
	}
	if f, ok := errors.AsType[*rest.Fault](err); ok {
		return none(f)
	}
	if err != nil {
		return none(unverified(err))
	}
	who := identity{
		ref: c.Subject, ownership: c.Ownership, guest: c.Guest, session: c.Session,
		name: c.Name, email: c.Email, spelled: c.Spelled, member: c.Member,
	}
	return who.caller(), expires, nil
}

// unavailable returns the fault for a store that cannot be read.
func unavailable(err error) error {
	return rest.Unavailable(err, "The database is not available, try again later")
}

// claimed is what a token claims to be, unverified.
type claimed struct{ typ, issuer, subject string }

// peek returns what a token claims to be. It returns false if raw is not a token: each
// part must be in the canonical encoding.
func peek(raw string) (c claimed, ok bool) {
	parts := strings.SplitN(raw, ".", 4)
	if len(parts) != 3 || strings.ContainsAny(raw, "\r\n") {
		return c, false
	}
	var decoded [3][]byte
	for i, p := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(p); err != nil {
			return c, false
		}
	}
	var header struct {
		Type any `json:"typ"`
	}
	var payload struct {
		Issuer  any `json:"iss"`
		Subject any `json:"sub"`
	}
	if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &payload) != nil {
		return c, false
	}
	c.typ, _ = header.Type.(string)
	c.issuer, _ = payload.Issuer.(string)
	c.subject, _ = payload.Subject.(string)
	return c, true
}
