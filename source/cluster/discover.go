package cluster

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/tree"
	"example.dev/ingestor/words"
	"example.dev/ingestor/xrd"
)

// The resources definitions and Compositions are served as.
const (
	definitions  = "compositeresourcedefinitions"
	compositions = "compositions"
)

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

// definitions returns the resource to list. Of one definition that is served
// in two versions the older tells everything: the newer leaves out claims, and
// knows no scope for those that have them.
func (a API) definitions() Resource {
	r := Resource{Group: a.Group, Version: a.Definitions[0], Plural: definitions}
	if slices.Contains(a.Definitions, versionFull) {
		r.Version = versionFull
	}
	return r
}

func (a API) compositions() Resource {
	return Resource{Group: a.Group, Version: a.Compositions[0], Plural: compositions}
}

// modern reports whether definitions are served in the newer version.
func (a API) modern() bool { return slices.Contains(a.Definitions, versionModern) }

// APIs asks the server which groups of definitions it serves. That it serves
// none is an error with the reason Absent.
func (c *Cluster) APIs(ctx context.Context) ([]API, error) {
	groups := words.Spellings(words.Group, words.GroupExtensions)
	out := make([]API, len(groups))
	var asked errgroup.Group
	for i, group := range groups {
		asked.Go(func() (err error) {
			out[i], err = c.api(ctx, group)
			return err
		})
	}
	if err := asked.Wait(); err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(a API) bool { return len(a.Definitions) == 0 })
	if len(out) == 0 {
		return nil, &Error{
			Cluster: c.name, Doing: "find definitions", Reason: Absent,
			Err:  errors.New("the server serves no " + definitions),
			Hint: "install Crossplane there, or take the cluster out of the configuration",
		}
	}
	return out, nil
}

// api asks for one group. One that is not served gives the zero API.
func (c *Cluster) api(ctx context.Context, group string) (API, error) {
	out := API{Group: group}
	answer, err := c.askFor(ctx, "APIGroup", "/apis/"+group)
	if isAbsent(err) {
		return API{}, nil
	}
	if err != nil {
		return API{}, err
	}
	versions := answer.Get("versions").List()
	names := make([][]string, len(versions))
	var asked errgroup.Group
	for i, v := range versions {
		asked.Go(func() (err error) {
			names[i], err = c.served(ctx, group, v.Get("version").Str())
			return err
		})
	}
	if err := asked.Wait(); err != nil {
		return API{}, err
	}
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
	return out, nil
}

// served returns the resources of a version of a group.
func (c *Cluster) served(ctx context.Context, group, version string) ([]string, error) {
	answer, err := c.askFor(ctx, "APIResourceList", "/apis/"+group+"/"+version)
	if isAbsent(err) {
		// It was taken away since the group was asked for.
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, res := range answer.Get("resources").List() {
		names = append(names, res.Get("name").Str())
	}
	return names, nil
}

// askFor asks what is served, and believes only an object of the kind: any
// other service may answer with JSON, which would look like a server that
// serves nothing.
func (c *Cluster) askFor(ctx context.Context, kind, path string) (*tree.Node, error) {
	r := request{doing: "find definitions", path: path}
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

func isAbsent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Reason == Absent
}
