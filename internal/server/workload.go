package server

import (
	"context"
	"strings"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/workload"
	"example.dev/ingestor/words"
)

// workloads assembles the API of what runs in clusters.
func (p *Portal) workloads(opts Options, cat *catalog.Catalog, policy *permission.Policy) *workload.Workloads {
	names := words.Spellings(words.Path, "/api/orchestrator/")
	for i := range names {
		names[i] = strings.Trim(strings.TrimPrefix(names[i], "/api/"), "/")
	}
	var clusters []string
	for _, c := range opts.Config.Clusters() {
		clusters = append(clusters, c.Name)
	}
	return workload.New(workload.Options{
		Names: names, Clusters: clusters, Cluster: clusterOf(p.liveReader(opts)), Policy: policy, Now: opts.Now,
		Entity: func(ctx context.Context, ref string) (workload.Entity, error) {
			e, err := cat.Find(ctx, ref)
			if err != nil {
				return workload.Entity{}, err
			}
			r, err := permission.ResourceOf(e.Ref, e.JSON)
			if err != nil {
				return workload.Entity{}, err
			}
			r.Origin = originOf(e.Provider)
			n, err := wire.Decoder{}.Decode(e.JSON)
			return workload.Entity{Resource: r, Annotations: n.Get("metadata", "annotations").StringMap()}, err
		},
	})
}
