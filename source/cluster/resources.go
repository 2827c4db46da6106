package cluster

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/xrd"
)

// written splits lists, and keeps what xrd.Written reads of managedFields: whether an entry has
// fields of the spec. Their names would often be most of the data.
var written = wire.Decoder{Omit: [][]string{
	{"managedFields", "fieldsV1", "f:spec"}, {"managedFields", "fieldsV1", "f:metadata"}, {"managedFields", "fieldsV1", "f:status"},
}}

// Resources reads the whole composites and claims of a definition, and passes each to
// take once, with no more than a page in memory. They are read in the preferred version or,
// if the cluster does not serve it, in another one of the definition; xrd.Written says in
// which version each was written. Kinds that the cluster does not serve have none. Namespaced
// ones are read in the namespaces, or in all if none are given. If take returns an error,
// Resources ends with it.
func (c *Cluster) Resources(ctx context.Context, d *xrd.Definition, namespaces []string, take func(*tree.Node) error) error {
	return c.resources(ctx, d, namespaces, listing{managed: true}, take)
}

// ResourceMetadata is Resources for the kind and the metadata.
func (c *Cluster) ResourceMetadata(ctx context.Context, d *xrd.Definition, namespaces []string, take func(*tree.Node) error) error {
	return c.resources(ctx, d, namespaces, listing{metadata: true, managed: true}, take)
}

func (c *Cluster) resources(ctx context.Context, d *xrd.Definition, namespaces []string, l listing, take func(*tree.Node) error) error {
	// A list that is restarted has objects again; a hash of their keys is enough to know
	// them.
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	versions := map[string]string{}
	for _, k := range Composites(d, namespaces) {
		version, known := versions[k.Plural]
		if !known {
			var err error
			if version, err = c.versionOf(ctx, d, k.Resource); err != nil {
				return err
			}
			versions[k.Plural] = version
		}
		if version == "" {
			continue
		}
		l.Resource = k.Resource
		l.Version = version
		err := c.walk(ctx, l, func() {}, func(p page) error {
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

// versionOf returns the version in which the server serves a kind of a definition: the one of
// r if possible, or else the highest other one that the definition serves. It is empty if the
// server does not serve the kind. A kind that it serves in other versions only is an error,
// because its objects cannot be read.
func (c *Cluster) versionOf(ctx context.Context, d *xrd.Definition, r Resource) (string, error) {
	versions := []string{r.Version}
	for _, v := range d.Served {
		if v.Name != r.Version {
			versions = append(versions, v.Name)
		}
	}
	for _, v := range versions {
		r.Version = v
		if served, err := c.Serves(ctx, r); err != nil || served {
			return v, err
		}
	}
	group, err := c.askFor(ctx, "APIGroup", "/apis/"+r.Group)
	if isReason(err, Absent) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, v := range group.Get("versions").List() {
		if r.Version = v.Get("version").Str(); slices.Contains(versions, r.Version) {
			continue
		}
		served, err := c.Serves(ctx, r)
		if err != nil {
			return "", err
		}
		if served {
			return "", &Error{
				Cluster: c.name, Doing: "list " + r.String(), Reason: Absent,
				Err:  fmt.Errorf("the cluster serves version %s of %s, which the definition does not serve", r.Version, d.Label()),
				Hint: "compare with the definition that the cluster has",
			}
		}
	}
	return "", nil
}
