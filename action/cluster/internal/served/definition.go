package served

import (
	"context"
	"errors"

	"example.dev/ingestor/action/cluster/internal/manifest"
	"example.dev/ingestor/document/finding"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/xrd"
)

var errFound = errors.New("found")

// definitionOf returns the definition of a composite or claim; nil for other
// kinds.
func definitionOf(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (*xrd.Definition, error) {
	apis, err := c.APIs(ctx)
	if err != nil && len(apis) == 0 {
		return nil, err
	}
	group, _ := d.GroupVersion()
	var found *xrd.Definition
	look := func(objects []*tree.Node) bool {
		for _, n := range objects {
			def := xrd.NewDefinition(n, xrd.Origin{Source: xrd.SourceCluster, Cluster: c.Name()})
			if n.Get("spec", "group").Str() == group && (def.Names.Kind == d.Kind || def.Claim.Kind == d.Kind) {
				found = def
				return true
			}
		}
		return false
	}
	var errs []error
	for _, api := range apis {
		res := api.DefinitionsResource()
		// The definition of a composite can be fetched by name; that of a claim, or of
		// a kind that is not served, must be searched for.
		if d.Served.Plural != "" {
			named, _, err := c.Fetch(ctx, res, []cluster.NamespacedName{{Name: d.Served.Plural + "." + group}})
			if err == nil && look(named) {
				return found, nil
			}
		}
		_, err := c.Each(ctx, res, "", func(objects []*tree.Node, _ []finding.Finding) error {
			if look(objects) {
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// specSchema returns the schema of the spec of a composite or claim; nil for other
// kinds.
func specSchema(ctx context.Context, c *cluster.Cluster, d *manifest.Document) (*tree.Node, error) {
	def, err := definitionOf(ctx, c, d)
	if def == nil {
		return nil, err
	}
	_, version := d.GroupVersion()
	for _, v := range def.Versions {
		if v.Name == version {
			return v.Spec(), nil
		}
	}
	return nil, nil
}
