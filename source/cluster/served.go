package cluster

import (
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
)

// Served is the set of kinds that a server serves.
type Served struct{ all map[Resource]bool }

// Has reports whether a kind is served, in any namespace.
func (s Served) Has(r Resource) bool {
	r.Namespace = ""
	return s.all[r]
}

// Len returns the number of kinds.
func (s Served) Len() int { return len(s.all) }

// AllGroups is the media type that requests aggregated discovery. A server that does not
// support it returns the plain list of groups.
const AllGroups = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Served returns the kinds that the server serves, with one call if the server
// supports that, otherwise with one for each version of each group. A kind may be
// served for a moment before it is listed. If there is an error, it returns what
// could be discovered.
func (c *Cluster) Served(ctx context.Context) (Served, error) {
	out := Served{all: map[Resource]bool{}}
	r := request{doing: "list API groups", path: "/apis", accept: AllGroups, needs: Rule{URLs: []string{"/apis", "/apis/*"}, Verbs: []string{"get"}}}
	answer, err := c.ask(ctx, r)
	if err != nil {
		return out, err
	}
	switch answer.Get("kind").Str() {
	case "APIGroupDiscoveryList":
		out.take(answer)
		return out, nil
	case "APIGroupList":
		return out, c.eachVersion(ctx, answer, out)
	}
	return out, c.explain(r, &foreignError{"response is JSON, but not a list of groups"})
}

// take reads a response of aggregated discovery.
func (s Served) take(answer *tree.Node) {
	for _, group := range answer.Get("items").List() {
		for _, v := range group.Get("versions").List() {
			for _, res := range v.Get("resources").List() {
				if ending(res.Get("verbs")) {
					continue
				}
				s.all[Resource{Group: group.Get("metadata", "name").Str(), Version: v.Get("version").Str(), Plural: res.Get("resource").Str()}] = true
			}
		}
	}
}

// eachVersion discovers each version of each group.
func (c *Cluster) eachVersion(ctx context.Context, groups *tree.Node, into Served) error {
	var mu sync.Mutex
	var errs []error
	var asked errgroup.Group
	asked.SetLimit(atOnce)
	for _, group := range groups.Get("groups").List() {
		name := group.Get("name").Str()
		for _, v := range group.Get("versions").List() {
			version := v.Get("version").Str()
			asked.Go(func() error {
				plurals, err := c.served(ctx, name, version)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					errs = append(errs, err)
				}
				for _, plural := range plurals {
					// A subresource, such as status, is not a kind.
					if !strings.Contains(plural, "/") {
						into.all[Resource{Group: name, Version: version, Plural: plural}] = true
					}
				}
				return nil
			})
		}
	}
	_ = asked.Wait()
	return errors.Join(errs...)
}
