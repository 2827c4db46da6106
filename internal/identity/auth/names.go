package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
)

// spelling maps references of users and groups to the issuer's spelling where it
// differs: references have neither capitals nor slashes, but names in clusters may.
type spelling map[string]string

// add records a name that differs from its reference.
func (s spelling) add(ref, name string) {
	if nameIn(ref) != name {
		s[ref] = name
	}
}

// of returns the issuer's name for a reference.
func (s spelling) of(ref string) string {
	if name, ok := s[ref]; ok {
		return name
	}
	return nameIn(ref)
}

func nameIn(ref string) string {
	parsed, err := entity.ParseExisting(ref, "", "")
	if err != nil {
		return ""
	}
	return parsed.Name
}

// caller returns the identity as a Caller.
func (who identity) caller() Caller {
	c := Caller{Kind: User, Subject: who.ref, Ownership: who.ownership, Session: who.session}
	if who.guest {
		c.Kind = Guest
		return c
	}
	c.Login, c.Name, c.Email = who.spelled.of(who.ref), who.name, who.email
	for _, ref := range who.ownership {
		if strings.HasPrefix(ref, "group:") && !slices.Contains(who.member, ref) {
			c.Groups = append(c.Groups, who.spelled.of(ref))
		}
	}
	return c
}

// join adds the groups that a user is a member of in the catalog.
func (a *Auth) join(ctx context.Context, who identity) (identity, error) {
	if a.membership == nil || who.guest {
		return who, nil
	}
	groups, err := a.membership(ctx, who.ref)
	if err != nil {
		return who, unavailable(fmt.Errorf("cannot read the groups of %s: %w", who.ref, err))
	}
	who.ownership = slices.Clone(who.ownership)
	for _, g := range groups {
		if !slices.Contains(who.ownership, g) {
			who.ownership, who.member = append(who.ownership, g), append(who.member, g)
		}
	}
	return who, nil
}
