package config

import (
	"slices"
	"strings"

	"example.dev/ingestor/entity"
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
}

// The permissions to which the keys of a rule other than kinds, namespaces and owners
// apply.
var (
	ofTemplates    = []string{"scaffolder.action.execute", "scaffolder.task.create", "scaffolder.template.parameter.read", "scaffolder.template.step.read"}
	ofClusters     = []string{"cluster.resource.read", "cluster.resource.create", "cluster.resource.update", "cluster.resource.delete", "cluster.resource.take-over"}
	ofRepositories = []string{"git.repository.read", "git.repository.write", "git.pipeline.write"}
	ofSteps        = slices.Concat([]string{"scaffolder.action.execute"}, ofClusters, ofRepositories)
	knowing        = map[string][]string{
		"actions":      ofSteps,
		"templates":    slices.Concat(ofTemplates, ofClusters, ofRepositories),
		"providers":    slices.Concat(ofTemplates, ofClusters, ofRepositories, []string{"catalog.provider.push", "catalog.identity.write"}),
		"clusters":     ofClusters,
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
func (c *Config) subjects(r *reader) []string {
	if !r.wants(SectionBackend) {
		return nil
	}
	out := []string{}
	for _, e := range c.Backend.ExternalAccess {
		out = append(out, e.Subject)
	}
	return out
}

func (p *Permission) read(o *object, subjects []string) {
	o.flag("enabled", &p.Enabled)
	o.list("rules", func(o *object) {
		rule, result := PermissionRule{}, ""
		o.strings("who", &rule.Who, func(s string) string { return wantCaller(s, subjects) })
		for i, s := range rule.Who {
			if !slices.Contains(subjects, s) && strings.Contains(s, ":") {
				rule.Who[i] = canonical(s, "")
			}
		}
		o.out.Set("who", list(rule.Who))
		o.permissions("permissions", &rule.Permissions)
		o.strings("kinds", &rule.Kinds, wantKind)
		o.strings("namespaces", &rule.Namespaces, func(s string) string {
			if strings.Contains(s, "*") && within(rule.Permissions, ofClusters) {
				return ""
			}
			return wantNamespace(s)
		})
		o.strings("owners", &rule.Owners, func(s string) string {
			if s == Own {
				return ""
			}
			return wantReference(s, "Group")
		})
		for i, s := range rule.Owners {
			if s != Own {
				rule.Owners[i] = canonical(s, "Group")
			}
		}
		o.out.Set("owners", list(rule.Owners))
		rule.targets(o)
		o.require("result", "write result: "+allow+" or result: "+deny)
		o.choice("result", &result, allow, deny)
		rule.Allow = result == allow
		p.Rules = append(p.Rules, rule)
	})
	o.unsupported("write rules: who may do what", "rbac")
}

// targets reads the patterns of a rule, and reports those that do not apply to its
// permissions, since such a rule would never match.
func (rule *PermissionRule) targets(o *object) {
	for _, t := range []struct {
		key string
		to  *[]string
	}{
		{"actions", &rule.Actions}, {"templates", &rule.Templates}, {"providers", &rule.Providers},
		{"clusters", &rule.Clusters}, {"repositories", &rule.Repositories}, {"branches", &rule.Branches},
	} {
		o.strings(t.key, t.to, nil)
		if len(*t.to) == 0 || within(rule.Permissions, knowing[t.key]) {
			continue
		}
		o.r.report(RuleTogether, o.keyAt(t.key), o.pathTo(t.key), "list only permissions among "+enumerate(knowing[t.key], "and")+", or remove "+t.key,
			"%s can be used only with permissions that it applies to", o.pathTo(t.key))
	}
	for i, t := range rule.Templates {
		if !strings.Contains(t, "*") {
			rule.Templates[i] = canonical(t, "Template")
		}
	}
	o.out.Set("templates", list(rule.Templates))
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
	return enumerate(callers, "or") + ", a user or group such as group:default/platform, or a subject of backend.auth.externalAccess"
}

// wantKind returns what a valid kind of entity looks like, "" if s is one.
func wantKind(s string) string {
	if _, err := entity.ParseExisting(s+":default/x", "", ""); err == nil && !strings.ContainsAny(s, ":/") {
		return ""
	}
	return "a kind of entity, such as Component"
}

// permissions reads names of permissions, or prefixes of them.
func (o *object) permissions(key string, to *[]string) {
	for _, item := range o.itemsOf(o.get(key)) {
		text, ok := o.r.textOf(item)
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
		hint := "the names are in docs/configuration.md"
		if near := nearest(text, Permissions); near != "" && item.from == "" {
			hint = "did you mean " + near + "?"
		}
		o.r.wrong(item, "the name of a permission", hint)
	}
	o.done(key, "list of permission", list(*to))
}
