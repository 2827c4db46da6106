package cluster

import (
	"fmt"

	"example.dev/ingestor/xrd"
)

// Short names of definitions and Compositions. That of any other kind is its plural.
const (
	ShortDefinition  = "xrd"
	ShortComposition = "composition"
)

// short returns the short name of the kind.
func (r Resource) short() string {
	switch r.Plural {
	case definitions:
		return ShortDefinition
	case compositions:
		return ShortComposition
	}
	return r.Plural
}

// Kind is a kind of composite, claim or workload.
type Kind struct {
	Resource
	Kind string
}

// Composites returns the kinds that a definition defines, as they are listed: its
// composites and, if there are any, its claims. Namespaced kinds are listed in each
// of the namespaces, or in all of them if none are given. A definition without a
// served version defines nothing.
func Composites(d *xrd.Definition, namespaces []string) []Kind {
	v := d.Preferred()
	if v == nil || d.Group == "" || d.Names.Plural == "" {
		return nil
	}
	kinds := []Kind{{Resource{Group: d.Group, Version: v.Name, Plural: d.Names.Plural}, d.Names.Kind}}
	if d.Scope == xrd.ScopeNamespaced {
		kinds = inEach(kinds[0], namespaces)
	}
	if d.HasClaim() && d.Claim.Plural != "" {
		claim := Kind{Resource{Group: d.Group, Version: v.Name, Plural: d.Claim.Plural}, d.Claim.Kind}
		kinds = append(kinds, inEach(claim, namespaces)...)
	}
	return kinds
}

func inEach(k Kind, namespaces []string) []Kind {
	if len(namespaces) == 0 {
		return []Kind{k}
	}
	out := make([]Kind, len(namespaces))
	for i, ns := range namespaces {
		out[i] = k
		out[i].Namespace = ns
	}
	return out
}

// workloads are the kinds of workloads.
var workloads = []Kind{
	{Resource{Group: "apps", Version: "v1", Plural: "deployments"}, "Deployment"},
	{Resource{Group: "apps", Version: "v1", Plural: "statefulsets"}, "StatefulSet"},
	{Resource{Group: "apps", Version: "v1", Plural: "daemonsets"}, "DaemonSet"},
	{Resource{Group: "batch", Version: "v1", Plural: "cronjobs"}, "CronJob"},
	{Resource{Group: "batch", Version: "v1", Plural: "jobs"}, "Job"},
}

// Workloads returns the kinds of workloads, which every server serves, as they are
// listed: in each of the namespaces, or in all of them if none are given.
func Workloads(namespaces []string) []Kind {
	var out []Kind
	for _, k := range workloads {
		out = append(out, inEach(k, namespaces)...)
	}
	return out
}

// Origin returns where an object was found; in findings it is cluster/kind/name.
// short is the short name of its kind.
func (c *Cluster) Origin(short, namespace, name string) xrd.Origin {
	at := c.name + "/" + short
	if namespace != "" {
		at += "/" + namespace
	}
	return xrd.Origin{
		Source: xrd.SourceCluster, Cluster: c.name, File: fmt.Sprintf("%s/%s", at, name), Location: "url:" + c.way.URL,
	}
}
