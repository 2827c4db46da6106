package permission

import (
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/internal/identity/auth"
)

// Origins of a Template. The origin of pushed Templates is OriginPush followed by the
// name of the provider.
const (
	// OriginDefinition is the engine: the Template was generated from a definition.
	OriginDefinition = "definition"
	// OriginGenerated is the folder of catalog.providers.xrdTemplates.
	OriginGenerated = "generated"
	// OriginConfig is a location in the configuration, and OriginRegistered one that was
	// registered over HTTP.
	OriginConfig     = "config"
	OriginRegistered = "registered"
	OriginPush       = "push:"
	// OriginBackstage, followed by its name, is a Backstage that runs the Template.
	OriginBackstage = "backstage:"
	// OriginInline is a request: the Template is not in the catalog.
	OriginInline = "inline"
)

// Trusted reports whether the operator has chosen the origin of a Template.
func Trusted(origin string) bool {
	return origin == OriginDefinition || origin == OriginGenerated || origin == OriginConfig
}

// stepwise are the permissions that a step of a Template requires.
var stepwise = map[string]bool{
	ActionExecute: true,
	ResourceRead:  true, ResourceCreate: true, ResourceUpdate: true, ResourceDelete: true, ResourceTakeOver: true,
	RepositoryRead: true, RepositoryWrite: true, PipelineWrite: true,
}

// targets are the patterns of a rule, in lower case. An empty list matches
// everything.
type targets struct {
	actions, templates, providers, clusters, repositories, branches []string
}

func (t *targets) empty() bool {
	return len(t.actions)+len(t.templates)+len(t.providers)+len(t.clusters)+len(t.repositories)+len(t.branches) == 0
}

// fit reports whether the patterns match r. With anyBranch the branch is ignored.
func (t *targets) fit(r *Resource, anyBranch bool) bool {
	if t.empty() {
		return true
	}
	template := r.Template
	if template == "" && strings.EqualFold(r.Kind, "template") {
		template = r.Ref
	}
	provider := r.Origin
	if r.Provider != "" {
		provider = r.Provider
	}
	branches := t.branches
	if anyBranch {
		branches = nil
	}
	for _, p := range []struct {
		patterns []string
		value    string
	}{
		{t.actions, r.Action}, {t.templates, template}, {t.providers, provider},
		{t.clusters, r.Cluster}, {t.repositories, r.Repository}, {branches, r.Branch},
	} {
		if len(p.patterns) > 0 && !anyFits(p.patterns, strings.ToLower(p.value)) {
			return false
		}
	}
	return true
}

// anyFits reports whether one of the patterns, in which * is a wildcard, matches a
// value. All are in lower case.
func anyFits(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, value) })
}

func fits(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(value) < len(first)+len(last) || !strings.HasPrefix(value, first) || !strings.HasSuffix(value, last) {
		return false
	}
	rest := value[len(first) : len(value)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return true
}

// covers reports whether the rule applies to r. What an untrusted Template does, or an
// untrusted entity selects, is allowed only by a rule that names Templates or their
// origins: the author of a rule about users does not consider what others wrote.
func (r *rule) covers(permission string, of *Resource) bool {
	if !r.allow || of == nil || of.Origin == "" || Trusted(of.Origin) || of.Impersonated && ofWorkloads[permission] || !stepwise[permission] && !ofWorkloads[permission] {
		return true
	}
	return len(r.targets.templates) > 0 || len(r.targets.providers) > 0
}

// ofTarget is the default policy for what steps do, and for who may push entities and
// write User and Group entities.
func (p *Policy) ofTarget(c auth.Caller, permission string, r *Resource) bool {
	switch {
	case reader(c):
		return false
	case permission == ProviderPush:
		return c.Kind == auth.Service || r == nil || !p.grants(OriginPush+r.Provider)
	case permission == IdentityWrite:
		return c.Kind == auth.Service && (r == nil || p.Identifies(r.Provider))
	case r == nil:
		return permission != PipelineWrite
	case r.Origin != "" && !Trusted(r.Origin):
		return false
	}
	switch permission {
	case ActionExecute:
		return true
	case PipelineWrite:
		return false
	case RepositoryRead:
		return r.Named || r.Anonymous || c.Kind == auth.Service
	case RepositoryWrite:
		return r.Named || c.Kind == auth.Service
	case ResourceTakeOver:
		return c.Kind == auth.Service && !system(r)
	}
	return r.Impersonated || !system(r) && (c.Kind == auth.Service || !powerful(r) && owns(c, r))
}

// powerful reports whether a resource has a kind that changes what others may do, or
// how the cluster works: roles, admission, definitions, namespaces.
func powerful(r *Resource) bool {
	group := strings.ToLower(r.Group)
	return strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, "crossplane.io") || r.ClusterScoped && !strings.Contains(group, ".")
}

// grants reports whether a rule allows Templates of an origin to do something: then
// not every caller may push to that origin.
func (p *Policy) grants(origin string) bool {
	return slices.ContainsFunc(p.rules, func(r rule) bool { return r.allow && anyFits(r.targets.providers, strings.ToLower(origin)) })
}

// targeted are the permissions, besides those of steps, that have a target.
var targeted = map[string]bool{IdentityWrite: true, ProviderPush: true}

// system reports whether a resource is in a namespace of Kubernetes itself.
func system(r *Resource) bool { return strings.HasPrefix(strings.ToLower(r.Namespace), "kube-") }

// owns reports whether the caller is an owner of a resource or a member of one.
func owns(c auth.Caller, r *Resource) bool {
	own := ownThings.ownersFor(c)
	return slices.ContainsFunc(r.Owners, func(o string) bool { return slices.Contains(own, strings.ToLower(o)) })
}

// Identifies reports whether the User and Group entities of a provider define group
// membership.
func (p *Policy) Identifies(provider string) bool {
	return slices.Contains(p.identities, strings.ToLower(provider))
}

// why returns the reason why the default policy refuses, and a rule that would allow
// it.
func why(c auth.Caller, permission string, r *Resource) string {
	rule := []string{"permissions: [" + permission + "]"}
	add := func(key, value string) {
		if value != "" {
			rule = append(rule, fmt.Sprintf("%s: [%q]", key, value))
		}
	}
	reason := ""
	switch {
	case reader(c):
		reason = whyReader(c)
	case ofWorkloads[permission]:
		reason = whyNotWorkload(permission, r)
	case permission == ProviderPush:
		reason = "a rule grants permissions to Templates of the provider, so only services may push to it"
		add("providers", r.Provider)
	case permission == IdentityWrite:
		reason = "User and Group entities define group membership; only services may push them, to a provider of auth.membership.providers"
		add("providers", r.Provider)
	case r.Origin != "" && !Trusted(r.Origin):
		reason = fmt.Sprintf("the Template comes from %s, which is not trusted", r.Origin)
	case permission == PipelineWrite:
		reason = "CI definitions run with the repository's secrets"
	case permission == RepositoryRead, permission == RepositoryWrite:
		reason = "the Template does not name the repository"
	case permission == ResourceTakeOver:
		reason = "taking over a resource that the portal did not create requires a rule"
	case system(r):
		reason = "namespaces with the prefix kube- are reserved for the cluster"
	case powerful(r):
		reason = "API groups of Kubernetes and Crossplane require a rule"
	case len(r.Owners) > 0:
		reason = "owned by " + strings.Join(r.Owners, ", ")
	case r.Namespace != "":
		reason = "namespace " + r.Namespace + " has no owner; annotate it with " + ownerHint
	default:
		reason = "no owner; choose one of your groups as the owner"
	}
	add("actions", r.Action)
	if r.Origin != "" && !Trusted(r.Origin) {
		add("providers", r.Origin)
	}
	add("clusters", r.Cluster)
	if r.Cluster != "" && !ofWorkloads[permission] {
		add("kinds", r.Kind)
		add("namespaces", r.Namespace)
	}
	add("repositories", r.Repository)
	add("branches", r.Branch)
	return reason + ". A rule that allows it: { " + strings.Join(rule, ", ") + ", result: allow }"
}

// ownerHint is the annotation that gives a Namespace an owner.
const ownerHint = "backstage.io/owner: group:default/<team>"
