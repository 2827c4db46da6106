package permission

import (
	"slices"
	"strings"

	"example.dev/ingestor/internal/identity/auth"
)

// Owners says whose things a caller has a permission for: those of Refs, or, if
// Others is set, those of everybody but Refs.
type Owners struct {
	// Refs are references in lower case.
	Refs   []string
	Others bool
}

// Owners returns whose things the caller has the permission for, of things that
// have an owner and neither kind nor namespace, such as tasks. It agrees with
// Decide.
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
	// Whoever no rule names is treated as everybody else is.
	out := Owners{Others: p.Decide(c, permission, &Resource{})}
	for _, ref := range named {
		if p.Decide(c, permission, &Resource{Owners: []string{ref}}) != out.Others {
			out.Refs = append(out.Refs, ref)
		}
	}
	return out
}

// None reports whether there is nobody.
func (o Owners) None() bool { return !o.Others && len(o.Refs) == 0 }

// All reports whether it is everybody.
func (o Owners) All() bool { return o.Others && len(o.Refs) == 0 }

// Has reports whether the things of ref, which is empty for those of nobody, are
// among them.
func (o Owners) Has(ref string) bool {
	return slices.Contains(o.Refs, strings.ToLower(ref)) != o.Others
}
