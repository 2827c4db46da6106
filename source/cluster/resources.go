package cluster

import (
	"context"
	"hash/maphash"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/xrd"
)

// Resources reads the whole composites and claims of a definition, and passes each to
// take once, with no more than a page in memory. Kinds that the cluster does not serve
// have none. Namespaced ones are read in the namespaces, or in all if none are given. If
// take returns an error, Resources ends with it.
func (c *Cluster) Resources(ctx context.Context, d *xrd.Definition, namespaces []string, take func(*tree.Node) error) error {
	return c.resources(ctx, d, namespaces, listing{}, take)
}

// ResourceMetadata is Resources for the kind and the metadata, with managedFields.
func (c *Cluster) ResourceMetadata(ctx context.Context, d *xrd.Definition, namespaces []string, take func(*tree.Node) error) error {
	return c.resources(ctx, d, namespaces, listing{metadata: true, managed: true}, take)
}

func (c *Cluster) resources(ctx context.Context, d *xrd.Definition, namespaces []string, l listing, take func(*tree.Node) error) error {
	// A list that is restarted has objects again; a hash of their keys is enough to know
	// them.
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	for _, k := range Composites(d, namespaces) {
		served, err := c.Serves(ctx, k.Resource)
		if err != nil {
			return err
		}
		if !served {
			continue
		}
		l.Resource = k.Resource
		err = c.walk(ctx, l, func() {}, func(p page) error {
			for _, n := range p.objects {
				key := maphash.String(seed, k.Plural+"/"+n.Get("metadata", "namespace").Str()+"/"+n.Get("metadata", "name").Str())
				if seen[key] {
					continue
				}
				seen[key] = true
				// Items of a list may lack their kind, and metadata has another one.
				n.Set("kind", tree.Str(k.Kind))
				if err := take(n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
