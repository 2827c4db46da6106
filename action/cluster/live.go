package cluster

import (
	"context"

	"example.dev/ingestor/action"
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
	d := &document{
		verb: verbRead, node: tree.Obj(tree.F("metadata", tree.Obj())),
		apiVersion: apiVersion, kind: kind, namespace: namespace, name: name,
	}
	if err := d.checkNames(); err != nil {
		return nil, err
	}
	a, err := r.begin(c, order{cluster: cluster})
	if err != nil {
		return nil, err
	}
	k, err := r.kinds.find(ctx, a.on.Account(), d)
	if err != nil {
		return nil, err
	}
	if err := d.settle(k, r.opts.Namespace); err != nil {
		return nil, err
	}
	if err := a.look(ctx, []*document{d}); err != nil {
		return nil, err
	}
	return a.before[d], nil
}

// live returns the live object; nil if it does not exist.
func live(ctx context.Context, c *cluster.Cluster, d *document) (*tree.Node, error) {
	n, err := c.Do(ctx, cluster.Call{Doing: d.doing(), Path: d.served.path(d.namespace, d.name), Needs: d.served.needs("get")})
	if r, ok := cluster.RefusalOf(err); ok && r.Code == 404 && r.Reason == "NotFound" && r.Name == d.name {
		return nil, nil
	}
	return n, err
}
