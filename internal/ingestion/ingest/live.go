package ingest

import (
	"context"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/ingestion/change"
	"example.dev/ingestor/internal/ingestion/variant"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

// connection is the connection of a variant to a cluster.
type connection struct {
	variant *variant.Variant
	name    string
	// cluster is nil if there is an error.
	cluster *cluster.Cluster
	err     error
}

// Ingested returns a definition as it is ingested, and where its resources are. It
// reports false if no source has it.
func (in *Ingest) Ingested(ctx context.Context, name string) (change.Ingested, bool, error) {
	found, ok, err := in.Source(ctx, name, "")
	if err != nil || !ok {
		return change.Ingested{}, false, err
	}
	t, err := in.target(found.Source)
	if err != nil {
		// The source is no longer configured, and is about to be removed.
		return change.Ingested{}, false, nil
	}
	n, err := wire.Decoder{}.Decode(found.Object)
	if err != nil {
		return change.Ingested{}, false, err
	}
	out := change.Ingested{
		Definition: xrd.NewDefinition(n, xrd.Origin{File: "ingested"}),
		Namespaces: t.Variant.Namespaces, Catalog: t.Variant.Engine.Namespace,
	}
	for _, c := range in.connected {
		if c.variant == t.Variant {
			out.Clusters = append(out.Clusters, change.Cluster{Name: c.name, Cluster: c.cluster, Err: c.err})
		}
	}
	return out, true, nil
}
