package cluster

import (
	"context"

	"example.dev/ingestor/action"
	"example.dev/ingestor/action/cluster/internal/input"
	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
)

// Reader reads live resources, with the same error messages as the actions. It may
// be used concurrently.
type Reader struct{ *writer }

// NewReader returns a Reader of the clusters, with opts as defaults.
func NewReader(clusters Clusters, opts Options) *Reader { return &Reader{newWriter(clusters, opts)} }

// Read returns the resource of a kind with a name, if the caller of c may read it.
// The cluster and the namespace may be empty, as in a step. The result is nil if
// the resource does not exist.
func (r *Reader) Read(ctx context.Context, c *action.Call, cluster, apiVersion, kind, namespace, name string) (*tree.Node, error) {
	d := &manifest.Document{
		Verb: manifest.VerbRead, Node: tree.Obj(tree.F("metadata", tree.Obj())),
		APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name,
	}
	if err := d.CheckNames(); err != nil {
		return nil, err
	}
	a, err := r.begin(c, input.Step{Cluster: cluster})
	if err != nil {
		return nil, err
	}
	k, err := r.kinds.Find(ctx, a.on.Account(), d)
	if err != nil {
		return nil, err
	}
	if err := d.Settle(k, r.input.Namespace); err != nil {
		return nil, err
	}
	if err := a.look(ctx, []*manifest.Document{d}); err != nil {
		return nil, err
	}
	return a.before[d], nil
}

// Cluster returns a cluster for the calls of a caller: with the identity of the user, if
// the cluster impersonates, and otherwise with the portal's account.
func (r *Reader) Cluster(name string, who action.Caller) (*cluster.Cluster, error) {
	on, err := r.choose(name)
	if err != nil {
		return nil, err
	}
	return actAs(on, who)
}

// live returns the live object; nil if it does not exist.
func live(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (*tree.Node, error) {
	n, err := c.Do(ctx, cluster.Call{Doing: d.Doing(), Path: d.Served.Path(d.Namespace, d.Name), Needs: d.Served.Needs("get")})
	if r, ok := cluster.RefusalOf(err); ok && r.Code == 404 && r.Reason == "NotFound" && r.Name == d.Name {
		return nil, nil
	}
	return n, err
}
