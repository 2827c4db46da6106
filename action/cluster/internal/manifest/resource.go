package manifest

import (
	"net/url"

	"example.dev/ingestor/source/cluster"
)

// Resource describes how a cluster serves a kind.
type Resource struct {
	Group, Version, Plural string
	Namespaced             bool
}

// Path returns the API path of an object of the kind.
func (k Resource) Path(namespace, name string) string {
	p := Path(k.Group, k.Version)
	if k.Namespaced {
		p += "/namespaces/" + url.PathEscape(namespace)
	}
	return p + "/" + k.Plural + "/" + url.PathEscape(name)
}

// Needs returns the RBAC rule for verbs on the kind.
func (k Resource) Needs(verbs ...string) cluster.Rule {
	return cluster.Rule{Groups: []string{k.Group}, Resources: []string{k.Plural}, Verbs: verbs}
}

// Path returns the API path of a group and version.
func Path(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}
