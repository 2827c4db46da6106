package permission

import (
	"slices"
	"strings"

	"example.dev/ingestor/internal/identity/auth"
)

// Owners are the owners for whose things a caller has a permission: those in Refs or,
// if Others is set, all except Refs.
type Owners struct {
	// Refs are references in lower case.
	Refs   []string
	Others bool
}

// Owners returns the owners for whose things the caller has the permission. It is for
// things that have an owner but neither kind nor namespace, such as tasks. It agrees
// with Decide.
func (p *Policy) Owners(c auth.Caller, permission string) Owners {
	name := strings.ToLower(permission)
	named := ownThings.ownersFor(c)
	for i := range p.rules {
		if rule := &p.rules[i]; rule.concerns(c, name) {
			named = append(named, rule.ownersFor(c)...)
		}
	}
	slices.Sort(named)
	named = slices.Compact(named)
	// Owners that no rule names are all treated the same.
	out := Owners{Others: p.Decide(c, permission, &Resource{})}
	for _, ref := range named {
		if p.Decide(c, permission, &Resource{Owners: []string{ref}}) != out.Others {
			out.Refs = append(out.Refs, ref)
		}
	}
	return out
}

// None reports whether there are no owners.
func (o Owners) None() bool { return !o.Others && len(o.Refs) == 0 }

// All reports whether it includes all owners.
func (o Owners) All() bool { return o.Others && len(o.Refs) == 0 }

// Has reports whether it includes the owner ref, which is empty for things without an
// owner.
func (o Owners) Has(ref string) bool {
	return slices.Contains(o.Refs, strings.ToLower(ref)) != o.Others
}
