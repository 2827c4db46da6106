package config

import (
	"slices"
	"strings"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/config/keys"
	"example.dev/ingestor/internal/config/rule"
	"example.dev/ingestor/internal/text"
)

// Permission is the section permission: who may do what.
type Permission struct {
	// Enabled false allows everything to every caller that is not a guest; guests may only
	// read.
	Enabled bool
	// Rules are tried in order, and the first that matches decides; after them the
	// contract's policy applies.
	Rules []PermissionRule
}

// PermissionRule is who × permission × what. An empty list matches everything.
type PermissionRule struct {
	// Who are kinds of caller (guest, user, service), canonical references of users and
	// groups, or subjects of services.
	Who []string
	// Permissions are names, such as catalog.entity.delete; a trailing "*" matches any
	// ending.
	Permissions []string
	// Kinds and Namespaces are those of the entity, or of the resource in a cluster.
	// Namespaces of resources may be patterns.
	Kinds, Namespaces []string
	// Owners are canonical references; "own" means the caller and their groups.
	Owners []string
	// Actions, Templates, Providers, Clusters, Repositories and Branches are patterns for
	// what a task does, or for the provider of a push. In patterns "*" matches anything.
	Actions, Templates, Providers    []string
	Clusters, Repositories, Branches []string
	// Allow is the decision.
	Allow bool
}

// Permissions are the names of all permissions.
var Permissions = []string{
	"catalog.entity.read", "catalog.entity.create", "catalog.entity.delete", "catalog.entity.refresh", "catalog.entity.validate",
	"catalog.location.read", "catalog.location.create", "catalog.location.analyze", "catalog.location.delete",
	"catalog.ingestion.read", "catalog.ingestion.manage",
	"scaffolder.action.execute", "scaffolder.template.parameter.read", "scaffolder.template.step.read", "scaffolder.template.dry-run",
	"scaffolder.template.management", "scaffolder.task.read", "scaffolder.task.create", "scaffolder.task.cancel",
	"catalog.provider.push", "catalog.identity.write",
	"cluster.resource.read", "cluster.resource.create", "cluster.resource.update", "cluster.resource.delete", "cluster.resource.take-over",
	"git.repository.read", "git.repository.write", "git.pipeline.write",
	"kubernetes.clusters.read", "kubernetes.resources.read", "kubernetes.logs.read", "kubernetes.proxy",
}

// The permissions to which the keys of a rule other than kinds, namespaces and owners
// apply.
var (
	ofTemplates    = []string{"scaffolder.action.execute", "scaffolder.task.create", "scaffolder.template.parameter.read", "scaffolder.template.step.read"}
	ofClusters     = []string{"cluster.resource.read", "cluster.resource.create", "cluster.resource.update", "cluster.resource.delete", "cluster.resource.take-over"}
	ofRepositories = []string{"git.repository.read", "git.repository.write", "git.pipeline.write"}
	ofWorkloads    = []string{"kubernetes.resources.read", "kubernetes.logs.read"}
	ofPods         = []string{"kubernetes.proxy"}
	ofSteps        = slices.Concat([]string{"scaffolder.action.execute"}, ofClusters, ofRepositories)
	knowing        = map[string][]string{
		"actions":      ofSteps,
		"templates":    slices.Concat(ofTemplates, ofClusters, ofRepositories),
		"providers":    slices.Concat(ofTemplates, ofClusters, ofRepositories, ofWorkloads, []string{"catalog.provider.push", "catalog.identity.write"}),
		"clusters":     slices.Concat(ofClusters, ofWorkloads, ofPods),
		"repositories": ofRepositories,
		"branches":     ofRepositories,
	}
)

// callers are the kinds of caller that rules can name.
var callers = []string{"guest", "user", "service"}

// Own means the caller and their groups, as an owner in a rule.
const Own = "own"

// The decisions of a rule.
const (
	allow = "allow"
	deny  = "deny"
)

// subjects returns the names of the services that may call the API; nil if they were
// not read.
func (l *loader) subjects() []string {
	if !l.wants(SectionBackend) {
		return nil
	}
	out := []string{}
	for _, e := range l.c.Backend.ExternalAccess {
		out = append(out, e.Subject)
	}
	return out
}

func (p *Permission) read(m *keys.Map, subjects []string) {
	m.Flag("enabled", &p.Enabled)
	m.List("rules", func(m *keys.Map) {
		r, result := PermissionRule{}, ""
		m.Strings("who", &r.Who, func(s string) string { return wantCaller(s, subjects) })
		for i, s := range r.Who {
			if !slices.Contains(subjects, s) && strings.Contains(s, ":") {
				r.Who[i] = canonical(s, "")
			}
		}
		m.Out.Set("who", keys.List(r.Who))
		readPermissions(m, "permissions", &r.Permissions)
		m.Strings("kinds", &r.Kinds, wantKind)
		m.Strings("namespaces", &r.Namespaces, func(s string) string {
			if strings.Contains(s, "*") && within(r.Permissions, slices.Concat(ofClusters, ofPods)) {
				return ""
			}
			return wantNamespace(s)
		})
		m.Strings("owners", &r.Owners, func(s string) string {
			if s == Own {
				return ""
			}
			return wantReference(s, "Group")
		})
		for i, s := range r.Owners {
			if s != Own {
				r.Owners[i] = canonical(s, "Group")
			}
		}
		m.Out.Set("owners", keys.List(r.Owners))
		r.targets(m)
		m.Require("result", "write result: "+allow+" or result: "+deny)
		m.Choice("result", &result, allow, deny)
		r.Allow = result == allow
		p.Rules = append(p.Rules, r)
	})
	m.Unsupported("write rules: who may do what", "rbac")
}

// targets reads the patterns of a rule, and reports those that do not apply to its
// permissions, since such a rule would never match.
func (r *PermissionRule) targets(m *keys.Map) {
	for _, t := range []struct {
		key string
		to  *[]string
	}{
		{"actions", &r.Actions}, {"templates", &r.Templates}, {"providers", &r.Providers},
		{"clusters", &r.Clusters}, {"repositories", &r.Repositories}, {"branches", &r.Branches},
	} {
		m.Strings(t.key, t.to, nil)
		if len(*t.to) == 0 || within(r.Permissions, knowing[t.key]) {
			continue
		}
		m.ReportKey(rule.Together, t.key, "list only permissions among "+text.Enumerate(knowing[t.key], "and")+", or remove "+t.key,
			"%s can be used only with permissions that it applies to", m.PathTo(t.key))
	}
	for i, t := range r.Templates {
		if !strings.Contains(t, "*") {
			r.Templates[i] = canonical(t, "Template")
		}
	}
	m.Out.Set("templates", keys.List(r.Templates))
}

// within reports whether every permission that the names or prefixes in some match is
// in others. It returns false if some is empty.
func within(some, others []string) bool {
	if len(some) == 0 {
		return false
	}
	for _, name := range Permissions {
		named := slices.ContainsFunc(some, func(pattern string) bool {
			prefix, open := strings.CutSuffix(pattern, "*")
			return pattern == name || open && strings.HasPrefix(name, prefix)
		})
		if named && !slices.Contains(others, name) {
			return false
		}
	}
	return true
}

// wantCaller returns what a valid caller of a rule looks like, "" if s is one.
func wantCaller(s string, subjects []string) string {
	if slices.Contains(callers, s) || slices.Contains(subjects, s) {
		return ""
	}
	if strings.Contains(s, ":") {
		ref, err := entity.ParseExisting(s, "", entity.DefaultNamespace)
		if err == nil && (strings.EqualFold(ref.Kind, "User") || strings.EqualFold(ref.Kind, "Group")) {
			return ""
		}
	}
	if subjects == nil && !strings.Contains(s, ":") {
		return wantSubject(s)
	}
	return text.Enumerate(callers, "or") + ", a user or group such as group:default/platform, or a subject of backend.auth.externalAccess"
}

// wantKind returns what a valid kind of entity looks like, "" if s is one.
func wantKind(s string) string {
	if _, err := entity.ParseExisting(s+":default/x", "", ""); err == nil && !strings.ContainsAny(s, ":/") {
		return ""
	}
	return "a kind of entity, such as Component"
}

// readPermissions reads names of permissions, or prefixes of them.
func readPermissions(m *keys.Map, key string, to *[]string) {
	for _, item := range m.ItemsOf(m.Get(key)) {
		text, ok := item.Text()
		if !ok {
			continue
		}
		if prefix, open := strings.CutSuffix(text, "*"); open {
			ok = slices.ContainsFunc(Permissions, func(name string) bool { return strings.HasPrefix(name, prefix) })
		} else {
			ok = slices.Contains(Permissions, text)
		}
		if ok {
			*to = append(*to, text)
			continue
		}
		item.Wrong("the name of a permission", item.Suggest(text, Permissions, "the names are in docs/configuration.md"))
	}
	m.Done(key, "list of permission", keys.List(*to))
}
