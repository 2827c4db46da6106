package cluster

import (
	"fmt"

	"example.dev/ingestor/xrd"
)

// What people call definitions and Compositions. What they call any other kind
// is its plural.
const (
	ShortDefinition  = "xrd"
	ShortComposition = "composition"
)

// short returns what people call the kind.
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

// Composites returns the kinds a definition defines, as they are listed: its
// composites and, if there are any, its claims. Those that live in namespaces
// are listed in each of the namespaces, or in all of them if there are none.
// A definition without a version that is served defines nothing.
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

// workloads are the kinds that run something.
var workloads = []Kind{
	{Resource{Group: "apps", Version: "v1", Plural: "deployments"}, "Deployment"},
	{Resource{Group: "apps", Version: "v1", Plural: "statefulsets"}, "StatefulSet"},
	{Resource{Group: "apps", Version: "v1", Plural: "daemonsets"}, "DaemonSet"},
	{Resource{Group: "batch", Version: "v1", Plural: "cronjobs"}, "CronJob"},
	{Resource{Group: "batch", Version: "v1", Plural: "jobs"}, "Job"},
}

// Workloads returns the kinds that run something, which every server serves,
// as they are listed: in each of the namespaces, or in all of them if there are
// none.
func Workloads(namespaces []string) []Kind {
	var out []Kind
	for _, k := range workloads {
		out = append(out, inEach(k, namespaces)...)
	}
	return out
}

// Origin says where an object was found: in findings as cluster/kind/name. short
// is what people call its kind.
func (c *Cluster) Origin(short, namespace, name string) xrd.Origin {
	at := c.name + "/" + short
	if namespace != "" {
		at += "/" + namespace
	}
	return xrd.Origin{
		Source: xrd.SourceCluster, Cluster: c.name, File: fmt.Sprintf("%s/%s", at, name), Location: "url:" + c.way.URL,
	}
}
