package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity"
)

// spelling is how the issuer spells users and groups whose references spell them
// otherwise, by reference: references know no capitals and no slashes, and
// clusters do.
type spelling map[string]string

// add notes a name that the reference does not tell.
func (s spelling) add(ref, name string) {
	if nameIn(ref) != name {
		s[ref] = name
	}
}

// of returns the name behind a reference.
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

// caller returns the person as a caller.
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

// join adds the groups that the catalog puts a person into.
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
