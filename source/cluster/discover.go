package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// Resources as which definitions and Compositions are served.
const (
	definitions  = "compositeresourcedefinitions"
	compositions = "compositions"
)

// toFind completes "cannot …" for discovery.
const toFind = "find definitions"

// Versions of definitions: versionFull has all fields, and versionModern omits those
// that only older definitions have.
const (
	versionFull   = "v1"
	versionModern = "v2"
)

// API is a group of definitions that a server serves.
type API struct {
	// Group is the name of the group on the server.
	Group string
	// Definitions and Compositions are the versions in which each is served, newest
	// first.
	Definitions, Compositions []string
}

// DefinitionsResource returns the resource to list. If a definition is served in two
// versions, the older one has all fields: the newer one omits claims, and has no
// scope for definitions with claims.
func (a API) DefinitionsResource() Resource {
	r := Resource{Group: a.Group, Version: a.Definitions[0], Plural: definitions}
	if slices.Contains(a.Definitions, versionFull) {
		r.Version = versionFull
	}
	return r
}

// CompositionsResource returns the resource to list; it is empty if there is none.
func (a API) CompositionsResource() Resource {
	if len(a.Compositions) == 0 {
		return Resource{}
	}
	return Resource{Group: a.Group, Version: a.Compositions[0], Plural: compositions}
}

// modern reports whether definitions are served in the newer version.
func (a API) modern() bool { return slices.Contains(a.Definitions, versionModern) }

// Settle gives a definition the version it was written for. A server returns every
// definition in every version it serves; the scope tells which one it belongs to.
// Read already calls it.
func Settle(n *tree.Node, api API) {
	switch scope := xrd.Scope(n.Get("spec", "scope").Str()); {
	case !api.modern():
	case scope == xrd.ScopeNamespaced, scope == xrd.ScopeCluster:
		n.Set("apiVersion", tree.Str(api.Group+"/"+versionModern))
	}
}

// APIs returns the groups of definitions that the server serves. It returns those it
// could discover, and an error for the others. If there is none at all, the error has
// the reason Absent.
func (c *Cluster) APIs(ctx context.Context) ([]API, error) {
	groups := words.Spellings(words.Group, words.GroupExtensions)
	found, errs := make([]API, len(groups)), make([]error, len(groups))
	var asked sync.WaitGroup
	for i, group := range groups {
		asked.Go(func() { found[i], errs[i] = c.api(ctx, group) })
	}
	asked.Wait()
	found = slices.DeleteFunc(found, func(a API) bool { return len(a.Definitions) == 0 })
	if err := once(errs); err != nil || len(found) > 0 {
		return found, err
	}
	// Any HTTP server may respond that it does not have the groups.
	if _, err := c.askFor(ctx, "APIGroupList", "/apis"); isReason(err, Absent) {
		return nil, c.explain(request{doing: toFind}, &foreignError{"server does not serve /apis"})
	} else if err != nil {
		return nil, err
	}
	return nil, &Error{
		Cluster: c.name, Doing: toFind, Reason: Absent,
		Err:  errors.New("the server does not serve " + definitions),
		Hint: "install Crossplane in the cluster, or remove the cluster from the configuration",
	}
}

// once returns one of the errors for each reason, because the same was requested
// several times.
func once(errs []error) error {
	var out []error
	seen := map[Reason]bool{}
	for _, err := range errs {
		if e, ok := errors.AsType[*Error](err); ok && !seen[e.Reason] {
			seen[e.Reason] = true
			out = append(out, e)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return errors.Join(out...)
}

// api discovers one group. A group that is not served yields an empty API.
func (c *Cluster) api(ctx context.Context, group string) (API, error) {
	out := API{Group: group}
	answer, err := c.askFor(ctx, "APIGroup", "/apis/"+group)
	if isReason(err, Absent) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	versions := answer.Get("versions").List()
	names, errs := make([][]string, len(versions)), make([]error, len(versions))
	var asked sync.WaitGroup
	for i, v := range versions {
		asked.Go(func() { names[i], errs[i] = c.served(ctx, group, v.Get("version").Str()) })
	}
	asked.Wait()
	for i, v := range versions {
		if slices.Contains(names[i], definitions) {
			out.Definitions = append(out.Definitions, v.Get("version").Str())
		}
		if slices.Contains(names[i], compositions) {
			out.Compositions = append(out.Compositions, v.Get("version").Str())
		}
	}
	newestFirst := func(a, b string) int { return xrd.CompareVersions(b, a) }
	slices.SortFunc(out.Definitions, newestFirst)
	slices.SortFunc(out.Compositions, newestFirst)
	return out, once(errs)
}

// Serves reports whether the server serves a kind that is not being removed: a kind
// whose definition is being deleted loses all of its objects first, so that their
// absence means nothing.
func (c *Cluster) Serves(ctx context.Context, r Resource) (bool, error) {
	names, err := c.served(ctx, r.Group, r.Version)
	return slices.Contains(names, r.Plural), err
}

// ending reports whether a kind is being removed: its objects can be read and
// deleted, but not created. The argument are the verbs of the kind in discovery.
func ending(verbs *tree.Node) bool {
	list := verbs.List()
	return len(list) > 0 && !slices.ContainsFunc(list, func(v *tree.Node) bool { return v.Str() == "create" })
}

// served returns the resources of a version of a group.
func (c *Cluster) served(ctx context.Context, group, version string) ([]string, error) {
	answer, err := c.askFor(ctx, "APIResourceList", "/apis/"+group+"/"+version)
	if isReason(err, Absent) {
		// It was removed after the group was read.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, res := range answer.Get("resources").List() {
		if !ending(res.Get("verbs")) {
			names = append(names, res.Get("name").Str())
		}
	}
	return names, nil
}

// askFor makes a discovery request, and accepts only an object of the expected kind:
// any other service may respond with JSON, which would look like a server that serves
// nothing.
func (c *Cluster) askFor(ctx context.Context, kind, path string) (*tree.Node, error) {
	r := request{doing: toFind, path: path, needs: Rule{URLs: []string{"/apis", "/apis/*"}, Verbs: []string{"get"}}}
	answer, err := c.ask(ctx, r)
	if err == nil && answer.Get("kind").Str() != kind {
		return nil, c.explain(r, &foreignError{"response is JSON, but not an " + kind})
	}
	return answer, err
}

// ask makes a call whose response is one object.
func (c *Cluster) ask(ctx context.Context, r request) (answer *tree.Node, err error) {
	r.read = func(data []byte) error {
		n, err := responses.Decode(data)
		answer = n
		return err
	}
	err = c.call(ctx, r)
	return answer, err
}
