package cluster

import (
	"context"
	"errors"
	"slices"

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
	var out []API
	for _, group := range words.Spellings(words.Group, words.GroupExtensions) {
		api, err := c.api(ctx, group)
		if err != nil {
			return nil, err
		}
		if len(api.Definitions) > 0 {
			out = append(out, api)
		}
	}
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
	answer, err := c.ask(ctx, request{doing: "find definitions", path: "/apis/" + group})
	if isAbsent(err) {
		return API{}, nil
	}
	if err != nil {
		return API{}, err
	}
	for _, v := range answer.Get("versions").List() {
		version := v.Get("version").Str()
		names, err := c.served(ctx, group, version)
		if err != nil {
			return API{}, err
		}
		if slices.Contains(names, definitions) {
			out.Definitions = append(out.Definitions, version)
		}
		if slices.Contains(names, compositions) {
			out.Compositions = append(out.Compositions, version)
		}
	}
	newestFirst := func(a, b string) int { return xrd.CompareVersions(b, a) }
	slices.SortFunc(out.Definitions, newestFirst)
	slices.SortFunc(out.Compositions, newestFirst)
	return out, nil
}

// served returns the resources of a version of a group.
func (c *Cluster) served(ctx context.Context, group, version string) ([]string, error) {
	answer, err := c.ask(ctx, request{doing: "find definitions", path: "/apis/" + group + "/" + version})
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
