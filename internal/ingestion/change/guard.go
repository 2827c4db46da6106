package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/words"
)

// guard decides which resources of a cluster are validated for a caller: those that the
// caller may read. The author of a schema could find out the values of all others, by what
// it refuses.
type guard struct {
	// on is the cluster with calls made for the caller.
	on     *cluster.Cluster
	policy *permission.Policy
	who    identity.Caller
	// owners are the owners of namespaces.
	owners map[string]string
}

// guard returns the guard of a cluster for the caller of the context.
func (c *Changes) guard(ctx context.Context, name string) (*guard, error) {
	on, err := c.Cluster(ctx, name)
	if err != nil {
		return nil, err
	}
	g := &guard{on: on, policy: c.Policy, who: identity.From(ctx), owners: map[string]string{}}
	// The account may not list namespaces: then they have no owners.
	_, _ = on.Account().Each(ctx, cluster.Resource{Version: "v1", Plural: "namespaces"}, "", func(all []*tree.Node, _ []finding.Finding) error {
		for _, n := range all {
			g.owners[n.Get("metadata", "name").Str()] = clusteractions.OwnerRef(n)
		}
		return nil
	})
	return g, ctx.Err()
}

// read reports whether the caller may read a resource of a group.
func (g *guard) read(n *tree.Node, group string) bool {
	namespace := n.Get("metadata", "namespace").Str()
	r := &permission.Resource{
		Ref: n.Get("metadata", "name").Str(), Action: words.ActionApply, Origin: permission.OriginDefinition,
		Cluster: g.on.Name(), Impersonated: g.on.Impersonates(), Group: group, Kind: n.Get("kind").Str(), Namespace: namespace, ClusterScoped: namespace == "",
	}
	owner := clusteractions.OwnerRef(n)
	if owner == "" {
		owner = g.owners[namespace]
	}
	if owner != "" {
		r.Owners = []string{owner}
	}
	return g.policy.Decide(g.who, permission.ResourceRead, r)
}

// hiddenCounts counts the resources that a caller may not read, by cluster.
type hiddenCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func (h *hiddenCounts) add(cluster string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		h.counts = map[string]int{}
	}
	h.counts[cluster]++
}

// lines returns a sentence for each cluster.
func (h *hiddenCounts) lines() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(h.counts)) {
		if h.counts[name] == 1 {
			out = append(out, fmt.Sprintf("1 resource of cluster %s is not validated: you lack permission %s for it", name, permission.ResourceRead))
			continue
		}
		out = append(out, fmt.Sprintf("%d resources of cluster %s are not validated: you lack permission %s for them", h.counts[name], name, permission.ResourceRead))
	}
	return out
}
