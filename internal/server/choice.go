package server

import (
	"cmp"
	"context"

	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/internal/catalog"
	"example.dev/ingestor/internal/choice"
	"example.dev/ingestor/internal/identity/auth"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/scaffolder/task"
	"example.dev/ingestor/source/cluster"
)

// choices assembles the API of live choices.
func (p *Portal) choices(opts Options, cat *catalog.Catalog, policy *permission.Policy) *choice.Choices {
	reader := p.liveReader(opts)
	return choice.New(choice.Options{
		Policy: policy, Now: opts.Now,
		Cluster: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			on, err := reader.Cluster(cmp.Or(name, opts.Config.Scaffolder.DefaultCluster), task.Requester{Caller: auth.From(ctx)}.Actor())
			if name == "" {
				return on, actionFault(err, "The form has no cluster to read choices from")
			}
			return on, clusterFault(name, err)
		},
		Template: func(ctx context.Context, ref string) (choice.Template, error) {
			e, err := cat.Find(ctx, ref)
			if err != nil {
				return choice.Template{}, err
			}
			r, err := permission.ResourceOf(e.Ref, e.JSON)
			if err != nil {
				return choice.Template{}, err
			}
			r.Origin = originOf(e.Provider)
			n, err := wire.Decoder{}.Decode(e.JSON)
			return choice.Template{Resource: r, Spec: n.Get("spec")}, err
		},
	})
}
