package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// Kind is a kind of object that a cluster serves.
type Kind struct {
	APIVersion, Kind string
	Namespaced       bool
}

// group returns the API group of the kind.
func (k Kind) group() string {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	return group
}

// isBuiltIn reports whether the kind is one of Kubernetes itself.
func (k Kind) isBuiltIn() bool {
	return !strings.Contains(k.group(), ".") || strings.HasSuffix(k.group(), ".k8s.io")
}

// Resolve returns the kind that a word means: a kind, plural, singular or short name,
// optionally followed by a dot and the group, as kubectl reads it. If several groups have
// it, Kubernetes' own are passed over; if several are left, the error lists them.
func Resolve(ctx context.Context, on *cluster.Cluster, word string) (Kind, error) {
	all, err := kindsOf(ctx, on)
	if err != nil {
		return Kind{}, err
	}
	name, group, qualified := strings.Cut(strings.ToLower(word), ".")
	var found []Kind
	for _, k := range all {
		if slices.Contains(k.names, name) && (!qualified || k.group() == group) {
			found = append(found, k.Kind)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(found), Kind.isBuiltIn); len(own) > 0 {
		found = own
	}
	refuse := func(reason cluster.Reason, hint, format string, args ...any) error {
		return &cluster.Error{Cluster: on.Name(), Doing: "find kind " + word, Reason: reason, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	switch len(found) {
	case 0:
		return Kind{}, refuse(cluster.Absent, "check the name; kubectl api-resources lists the kinds", "the cluster does not serve it")
	case 1:
		return found[0], nil
	}
	var names []string
	for _, k := range found {
		names = append(names, strings.ToLower(k.Kind)+"."+k.group())
	}
	return Kind{}, refuse(cluster.Settings, "write "+names[0], "several groups have it: %s", strings.Join(names, ", "))
}

// named is a kind with the words that mean it.
type named struct {
	Kind
	names []string
}

// kindsOf returns the kinds of all groups, in the preferred version of each.
func kindsOf(ctx context.Context, on *cluster.Cluster) ([]named, error) {
	const doing = "find the kinds of the cluster"
	needs := cluster.Rule{URLs: []string{"/apis", "/apis/*"}, Verbs: []string{"get"}}
	answer, err := on.Do(ctx, cluster.Call{Doing: doing, Path: "/apis", Accept: cluster.AllGroups, Needs: needs})
	if err != nil {
		return nil, err
	}
	var out []named
	switch answer.Get("kind").Str() {
	case "APIGroupDiscoveryList":
		for _, group := range answer.Get("items").List() {
			out = append(out, preferred(group)...)
		}
		return out, nil
	case "APIGroupList":
		for _, group := range answer.Get("groups").List() {
			version := group.Get("preferredVersion", "groupVersion").Str()
			list, err := on.Do(ctx, cluster.Call{Doing: doing, Path: versionPath(version), Needs: needs})
			if err != nil {
				return nil, err
			}
			for _, r := range list.Get("resources").List() {
				if plural := r.Get("name").Str(); !strings.Contains(plural, "/") {
					out = append(out, newNamed(version, r.Get("kind").Str(), plural, r.Get("singularName").Str(), r.Get("shortNames"), r.Get("namespaced").IsTrue()))
				}
			}
		}
		return out, nil
	}
	return nil, errors.New("cannot " + doing + ": the response is not a list of API groups")
}

// preferred returns the kinds of a group. A kind counts in the first version that has it.
func preferred(group *tree.Node) (out []named) {
	for _, v := range group.Get("versions").List() {
		version := group.Get("metadata", "name").Str() + "/" + v.Get("version").Str()
		for _, r := range v.Get("resources").List() {
			kind := r.Get("responseKind", "kind").Str()
			if !slices.ContainsFunc(out, func(n named) bool { return n.Kind.Kind == kind }) {
				out = append(out, newNamed(version, kind, r.Get("resource").Str(), r.Get("singularResource").Str(), r.Get("shortNames"), r.Get("scope").Str() == "Namespaced"))
			}
		}
	}
	return out
}

func newNamed(apiVersion, kind, plural, singular string, short *tree.Node, namespaced bool) named {
	n := named{Kind: Kind{APIVersion: apiVersion, Kind: kind, Namespaced: namespaced}, names: []string{strings.ToLower(kind), plural, singular}}
	for _, s := range short.List() {
		n.names = append(n.names, s.Str())
	}
	return n
}
