package cluster

import (
	"net/url"
	"strings"

	"example.dev/ingestor/source/cluster"
)

// kind describes how a cluster serves a kind.
type kind struct {
	group, version, plural string
	namespaced             bool
}

// path returns the API path of an object of the kind.
func (k kind) path(namespace, name string) string {
	p := base(k.group, k.version)
	if k.namespaced {
		p += "/namespaces/" + url.PathEscape(namespace)
	}
	return p + "/" + k.plural + "/" + url.PathEscape(name)
}

// needs returns the RBAC rule for verbs on the kind.
func (k kind) needs(verbs ...string) cluster.Rule {
	return cluster.Rule{Groups: []string{k.group}, Resources: []string{k.plural}, Verbs: verbs}
}

// base returns the API path of a group and version.
func base(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// split splits an apiVersion into group and version.
func split(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
