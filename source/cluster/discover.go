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

// The resources definitions and Compositions are served as.
const (
	definitions  = "compositeresourcedefinitions"
	compositions = "compositions"
)

// toFind completes "cannot …" for what is asked before anything is listed.
const toFind = "find definitions"

// The versions of definitions: one that tells everything, and one that leaves
// out what only older ones have.
const (
	versionFull   = "v1"
	versionModern = "v2"
)

// API is a group of definitions that a server serves.
type API struct {
	// Group is as the server calls it.
	Group string
	// Definitions and Compositions are the versions each is served in, the
	// newest first.
	Definitions, Compositions []string
}

// DefinitionsResource returns the resource to list. Of one definition that is served
// in two versions the older tells everything: the newer leaves out claims, and
// knows no scope for those that have them.
func (a API) DefinitionsResource() Resource {
	r := Resource{Group: a.Group, Version: a.Definitions[0], Plural: definitions}
	if slices.Contains(a.Definitions, versionFull) {
		r.Version = versionFull
	}
	return r
}

// CompositionsResource returns the resource to list; it is empty if there is
// none.
func (a API) CompositionsResource() Resource {
	if len(a.Compositions) == 0 {
		return Resource{}
	}
	return Resource{Group: a.Group, Version: a.Compositions[0], Plural: compositions}
}

// modern reports whether definitions are served in the newer version.
func (a API) modern() bool { return slices.Contains(a.Definitions, versionModern) }

// Settle gives a definition the version it was written for. A server hands out
// every definition in every version it serves; its scope tells which one it
// belongs to. Read has done so.
func Settle(n *tree.Node, api API) {
	switch scope := xrd.Scope(n.Get("spec", "scope").Str()); {
	case !api.modern():
	case scope == xrd.ScopeNamespaced, scope == xrd.ScopeCluster:
		n.Set("apiVersion", tree.Str(api.Group+"/"+versionModern))
	}
}

// APIs asks the server which groups of definitions it serves. It returns those
// it could learn of, and an error for those it could not. That there is none at
// all is an error with the reason Absent.
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
	// Anything that speaks HTTP can say that it knows none of the groups.
	if _, err := c.askFor(ctx, "APIGroupList", "/apis"); isReason(err, Absent) {
		return nil, c.explain(request{doing: toFind}, &foreignError{"what answers there does not know /apis"})
	} else if err != nil {
		return nil, err
	}
	return nil, &Error{
		Cluster: c.name, Doing: toFind, Reason: Absent,
		Err:  errors.New("the server serves no " + definitions),
		Hint: "install Crossplane there, or take the cluster out of the configuration",
	}
}

// once returns one of the errors for each reason: the same thing was asked in
// several ways.
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

// api asks for one group. One that is not served gives an API without anything.
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

// Serves reports whether the server serves a kind, and means to go on doing so:
// one whose definition is being deleted loses all of its objects first, which
// says nothing of them.
func (c *Cluster) Serves(ctx context.Context, r Resource) (bool, error) {
	names, err := c.served(ctx, r.Group, r.Version)
	return slices.Contains(names, r.Plural), err
}

// ending reports whether a kind is about to go: its objects can be read and
// deleted, and no new ones be made. It is asked of discovery's verbs for it.
func ending(verbs *tree.Node) bool {
	list := verbs.List()
	return len(list) > 0 && !slices.ContainsFunc(list, func(v *tree.Node) bool { return v.Str() == "create" })
}

// served returns the resources of a version of a group.
func (c *Cluster) served(ctx context.Context, group, version string) ([]string, error) {
	answer, err := c.askFor(ctx, "APIResourceList", "/apis/"+group+"/"+version)
	if isReason(err, Absent) {
		// It was taken away since the group was asked for.
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

// askFor asks what is served, and believes only an object of the kind: any
// other service may answer with JSON, which would look like a server that
// serves nothing.
func (c *Cluster) askFor(ctx context.Context, kind, path string) (*tree.Node, error) {
	r := request{doing: toFind, path: path, needs: Rule{URLs: []string{"/apis", "/apis/*"}, Verbs: []string{"get"}}}
	answer, err := c.ask(ctx, r)
	if err == nil && answer.Get("kind").Str() != kind {
		return nil, c.explain(r, &foreignError{"the answer is JSON, but not an " + kind})
	}
	return answer, err
}

// ask makes a call whose answer is one object.
func (c *Cluster) ask(ctx context.Context, r request) (answer *tree.Node, err error) {
	r.read = func(data []byte) error {
		n, err := wire.Decode(data)
		answer = n
		return err
	}
	err = c.call(ctx, r)
	return answer, err
}
