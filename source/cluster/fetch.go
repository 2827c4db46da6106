package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.dev/ingestor/document/tree"
)

// NamespacedName identifies an object of a kind. Cluster-scoped objects have no
// namespace.
type NamespacedName struct{ Namespace, Name string }

// String returns namespace/name, or only the name.
func (n NamespacedName) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// object returns the path of one object.
func (r Resource) object(n NamespacedName) string {
	r.Namespace = n.Namespace
	return r.path() + "/" + n.Name
}

// Fetch reads objects by their names, a few concurrently; for most of a list, Each is
// faster. gone are those that do not exist according to the server. If the server
// does not serve the kind, that says nothing about its objects, and is an error with
// the reason Absent. Both results are in the order of the names. The error joins an
// *Error for everything that could not be read, with the reason Unreadable if an object
// cannot be decoded; after a server has stopped responding, no more requests are
// made.
func (c *Cluster) Fetch(ctx context.Context, res Resource, names []NamespacedName) (objects []*tree.Node, gone []NamespacedName, err error) {
	found, missing, errs := make([]*tree.Node, len(names)), make([]bool, len(names)), make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(atOnce)
	var failed, closed atomic.Bool
	for i, name := range names {
		group.Go(func() error {
			if closed.Load() {
				return nil
			}
			found[i], missing[i], errs[i] = c.fetch(ctx, res, name, failed.Load())
			switch {
			case errs[i] == nil || isReason(errs[i], Unreadable):
			case isReason(errs[i], Server):
				failed.Store(true)
			default:
				closed.Store(true)
			}
			return nil
		})
	}
	_ = group.Wait()
	for i, name := range names {
		if missing[i] {
			gone = append(gone, name)
		}
	}
	return slices.DeleteFunc(found, func(n *tree.Node) bool { return n == nil }), gone, errors.Join(errs...)
}

// fetch reads one object.
func (c *Cluster) fetch(ctx context.Context, res Resource, name NamespacedName, once bool) (n *tree.Node, gone bool, err error) {
	r := request{doing: "read " + res.Plural + "." + res.Group + " " + name.String(), path: res.object(name), once: once, needs: permission(res, "get")}
	var bad error
	r.read = func(data []byte) error {
		if n, bad = readObject(responses, string(data)); bad != nil && !json.Valid(data) {
			return bad
		}
		return nil
	}
	err = c.call(ctx, r)
	status, ok := errors.AsType[*statusError](err)
	switch {
	case ok && status.code == http.StatusNotFound && status.reason == "NotFound" && status.name == name.Name:
		// Anything can respond with 404, but only an API server names the object.
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case bad != nil:
		return nil, false, &Error{Cluster: c.name, Doing: r.doing, Reason: Unreadable, Err: bad, Hint: "fix the object; other objects of the cluster are still read"}
	}
	return n, false, nil
}
