// Package permission decides whether a caller may do something. One function decides
// for every endpoint; for listings the same rules become a filter.
package permission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/identity/auth"
)

// Policy decides who may do what. It is immutable, and safe for concurrent use.
type Policy struct {
	rules []rule
	// open disables the rules: every caller except guests may do everything.
	open bool
	// identities are the providers whose User and Group entities define membership.
	identities []string
	// Refused, if not nil, records a permission that Require or Deny refused, with its
	// target and the reason. It must be set before the policy is used.
	Refused func(ctx context.Context, permission string, target map[string]string, reason string)
}

// rule is a config.PermissionRule in lower case.
type rule struct {
	// number is the number of the rule in the configuration, beginning with 1.
	number            int
	who               []string
	permissions       []string
	kinds, namespaces []string
	owners            []string
	// own says that the caller may be the owner.
	own   bool
	allow bool
	// targets are the patterns for what a task does.
	targets targets
}

// New returns the configured policy. Identities are the providers that may write User
// and Group entities.
func New(c config.Permission, identities ...string) *Policy {
	p := &Policy{open: !c.Enabled, identities: lowered(identities)}
	if p.open {
		return p
	}
	for i, r := range c.Rules {
		made := rule{
			number:      i + 1,
			who:         lowered(r.Who),
			permissions: lowered(r.Permissions),
			kinds:       lowered(r.Kinds),
			namespaces:  lowered(r.Namespaces),
			owners:      lowered(r.Owners),
			own:         slices.Contains(r.Owners, config.Own),
			allow:       r.Allow,
			targets: targets{
				actions: lowered(r.Actions), templates: lowered(r.Templates), providers: lowered(r.Providers),
				clusters: lowered(r.Clusters), repositories: lowered(r.Repositories), branches: lowered(r.Branches),
			},
		}
		made.owners = slices.DeleteFunc(made.owners, func(o string) bool { return o == config.Own })
		p.rules = append(p.rules, made)
	}
	return p
}

func lowered(in []string) []string {
	var out []string
	for _, s := range in {
		out = append(out, strings.ToLower(s))
	}
	return out
}

// Decide reports whether the caller has the permission for r or, if r is nil, in
// general. Rules about kinds, namespaces or owners do not apply in general: an
// operation on an entity must ask for that entity.
func (p *Policy) Decide(c auth.Caller, permission string, r *Resource) bool {
	allowed, _ := p.decide(c, permission, r)
	return allowed
}

// decide is like Decide and also returns the number of the rule that decided, 0 if
// none did.
func (p *Policy) decide(c auth.Caller, permission string, r *Resource) (allowed bool, number int) {
	if c.Kind == auth.Anonymous {
		return false, 0
	}
	permission = strings.ToLower(permission)
	var in *known
	fits := func(rule *rule) bool {
		if in == nil {
			in = know(permission, r)
		}
		return rule.fits(c, in)
	}
	for i := range p.rules {
		rule := &p.rules[i]
		if !rule.concerns(c, permission) || !rule.covers(permission, r) {
			continue
		}
		if !rule.conditional() {
			return rule.allow, rule.number
		}
		if r != nil && fits(rule) {
			return rule.allow, rule.number
		}
	}
	if p.limited(c, permission) {
		return r == nil || fits(ownThings), 0
	}
	if !p.open && (stepwise[permission] || targeted[permission]) {
		return p.ofTarget(c, permission, r), 0
	}
	if !p.open && ofWorkloads[permission] {
		return ofWorkload(c, permission, r), 0
	}
	return p.byDefault(c, permission), 0
}

// ownThings is the rule for permissions that users have only for their own things.
var ownThings = &rule{own: true, allow: true}

// limited reports whether the caller has the permission by default only for its own
// things. In general, without a resource, the caller has it.
func (p *Policy) limited(c auth.Caller, permission string) bool {
	return (c.Kind == auth.User || isBackstage(c)) && personal[permission] && !p.open
}

// isBackstage reports whether the caller is a Backstage that calls for itself, and not for
// one of its users.
func isBackstage(c auth.Caller) bool { return c.Kind == auth.Service && c.Via != "" }

// reader reports whether the caller may only read by default.
func reader(c auth.Caller) bool { return c.Kind == auth.Guest || isBackstage(c) }

func whyReader(c auth.Caller) string {
	if isBackstage(c) {
		return "a Backstage may only read, unless it calls for a user"
	}
	return "guests may only read; sign in"
}

// byDefault is the default policy of the contract: guests may read, every other
// caller may do everything. But a caller who may change only some entities cannot
// change the others through their location or provider, unless a rule allows it.
func (p *Policy) byDefault(c auth.Caller, permission string) bool {
	if reader(c) {
		return guestMay[permission]
	}
	one, many := wholesale[permission]
	return !many || p.Filter(c, one).Op == filter.OpTrue
}

// known is a Resource in lower case.
type known struct {
	kind, namespace string
	owners          []string
	target          *Resource
	// branchless says that there is no branch, as for reading, and unnamed that there is
	// one whose name is not known.
	branchless, unnamed bool
}

func know(permission string, r *Resource) *known {
	k := &known{kind: strings.ToLower(r.Kind), namespace: strings.ToLower(r.Namespace), owners: lowered(r.Owners), target: r}
	k.branchless = permission == RepositoryRead
	k.unnamed = (permission == RepositoryWrite || permission == PipelineWrite) && r.Branch == ""
	return k
}

// concerns reports whether the rule applies to the caller and the permission.
func (r *rule) concerns(c auth.Caller, permission string) bool {
	return r.names(permission) && (len(r.who) == 0 || slices.ContainsFunc(r.who, func(who string) bool { return is(c, who) }))
}

func (r *rule) names(permission string) bool {
	return len(r.permissions) == 0 || slices.ContainsFunc(r.permissions, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == permission || open && strings.HasPrefix(permission, prefix)
	})
}

// is reports whether who matches the caller. Kinds of caller take precedence: a
// service with the name "user" does not match "user".
func is(c auth.Caller, who string) bool {
	switch who {
	case auth.Guest.String(), auth.User.String(), auth.Service.String():
		return who == c.Kind.String()
	}
	return strings.EqualFold(who, c.Subject) ||
		slices.ContainsFunc(c.Ownership, func(ref string) bool { return strings.EqualFold(who, ref) })
}

// conditional reports whether the rule applies only to some entities.
func (r *rule) conditional() bool {
	return len(r.kinds) > 0 || len(r.namespaces) > 0 || len(r.owners) > 0 || r.own || !r.targets.empty()
}

// fits reports whether the rule applies to the entity.
func (r *rule) fits(c auth.Caller, e *known) bool {
	if len(r.kinds) > 0 && !slices.Contains(r.kinds, e.kind) {
		return false
	}
	if len(r.namespaces) > 0 && !anyFits(r.namespaces, e.namespace) {
		return false
	}
	// A branch whose name is not known may be the one that a rule denies.
	if !r.targets.fit(e.target, e.branchless || e.unnamed && !r.allow) {
		return false
	}
	if len(r.owners) == 0 && !r.own {
		return true
	}
	owners := r.ownersFor(c)
	return slices.ContainsFunc(e.owners, func(o string) bool { return slices.Contains(owners, o) })
}

// ownersFor returns the owners that the rule applies to for the caller.
func (r *rule) ownersFor(c auth.Caller) []string {
	if !r.own {
		return r.owners
	}
	owners := slices.Concat(r.owners, lowered(c.Ownership))
	if (c.Kind != auth.Service || isBackstage(c)) && c.Subject != "" {
		owners = append(owners, strings.ToLower(c.Subject))
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// Require returns nil if the caller of ctx has the permission, and otherwise the
// fault to answer with, which says what is missing and why.
func (p *Policy) Require(ctx context.Context, permission string, r *Resource) error {
	c := auth.From(ctx)
	allowed, number := p.decide(c, permission, r)
	if allowed {
		return nil
	}
	message := "Missing permission " + permission
	if r != nil && r.Ref != "" {
		message += " for " + r.Ref
	}
	if r != nil && number == 0 && (stepwise[permission] || targeted[permission] || ofWorkloads[permission]) && !p.open {
		return p.Deny(ctx, permission, r, message+": "+why(c, permission, r))
	}
	switch {
	case number > 0:
		message += fmt.Sprintf(": rule %d of permission.rules denies it", number)
	case reader(c):
		message += ": " + whyReader(c)
	case p.limited(c, permission):
		message += ": you are not the owner, and no rule allows it"
	case wholesale[permission] != "":
		message += ": requires a rule, because you do not have " + wholesale[permission] + " for all entities"
	}
	return p.Deny(ctx, permission, r, message)
}

// Filter returns a filter for the entities that the caller has the permission for. An
// entity passes exactly if Decide allows it.
func (p *Policy) Filter(c auth.Caller, permission string) filter.Filter {
	if c.Kind == auth.Anonymous {
		return filter.Filter{Op: filter.OpFalse}
	}
	permission = strings.ToLower(permission)
	// The last rule is the innermost: earlier rules take precedence.
	out := constant(p.byDefault(c, permission))
	if p.limited(c, permission) {
		out = ownThings.filter(c)
	}
	for i := range slices.Backward(p.rules) {
		rule := &p.rules[i]
		if !rule.concerns(c, permission) {
			continue
		}
		out = otherwise(rule.filter(c), rule.allow, out)
	}
	return out
}

// otherwise returns the filter that decides allow for what passes f, and applies rest
// to everything else.
func otherwise(f filter.Filter, allow bool, rest filter.Filter) filter.Filter {
	switch {
	case f.Op == filter.OpTrue, rest.Op == constant(allow).Op:
		return constant(allow)
	case f.Op == filter.OpFalse:
		return rest
	case allow && rest.Op == filter.OpFalse:
		return f
	case allow:
		return filter.Any(f, rest)
	case rest.Op == filter.OpTrue:
		return filter.Not(f)
	}
	return filter.All(filter.Not(f), rest)
}

func constant(allow bool) filter.Filter {
	if allow {
		return filter.Filter{Op: filter.OpTrue}
	}
	return filter.Filter{Op: filter.OpFalse}
}

// filter returns a filter for the entities that the rule applies to for the caller.
func (r *rule) filter(c auth.Caller) filter.Filter {
	if !r.targets.empty() {
		// Entities are not targets of tasks.
		return constant(false)
	}
	var fs []filter.Filter
	if len(r.kinds) > 0 {
		fs = append(fs, filter.In("kind", r.kinds...))
	}
	if len(r.namespaces) > 0 {
		fs = append(fs, filter.In("metadata.namespace", r.namespaces...))
	}
	if len(r.owners) > 0 || r.own {
		owners := r.ownersFor(c)
		if len(owners) == 0 {
			return constant(false)
		}
		fs = append(fs, filter.In("relations.ownedBy", owners...))
	}
	switch len(fs) {
	case 0:
		return constant(true)
	case 1:
		return fs[0]
	}
	return filter.All(fs...)
}
