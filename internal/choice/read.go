package choice

import (
	"context"
	"errors"
	"fmt"

	clusteractions "example.dev/ingestor/action/cluster"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/identity"
	"example.dev/ingestor/internal/identity/permission"
	"example.dev/ingestor/internal/reading"
	"example.dev/ingestor/source/cluster"
	"example.dev/ingestor/source/cluster/live"
	"example.dev/ingestor/words"
)

const (
	// metadataPage and objectPage are how many objects are requested at once, if their
	// metadata is enough and if it is not; mostMetadata and mostObjects how many are listed.
	metadataPage = 500
	mostMetadata = 10_000
	objectPage   = 100
	mostObjects  = 2000
	// mostPage is the size limit of a response of a cluster.
	mostPage = 16 << 20
)

// object is an object of a list: what a caller may see of it, and what decides whether.
type object struct {
	name, namespace, owner string
	value, label           string
}

// list are objects of a kind, sorted by value.
type list struct {
	objects    []object
	namespaced bool
	more       bool
}

// list returns the objects of a question, as the cluster lists them for the caller.
func (s *Choices) list(ctx context.Context, on *cluster.Cluster, q question) (list, error) {
	c := q.choices
	l := live.Listing{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: q.namespace, Labels: c.LabelSelector, PageSize: objectPage, Most: mostObjects, MostBytes: mostPage}
	if c.MetadataOnly() {
		l.Metadata, l.PageSize, l.Most = true, metadataPage, mostMetadata
	}
	key := reading.Key{Cluster: q.cluster, Identity: reading.IdentityOf(ctx, on), What: fmt.Sprintf("%+v %q %q", l, c.ValuePath, c.LabelPath)}
	return s.readings.Get(ctx, key, func(ctx context.Context) (list, error) { return s.read(ctx, on, l, c.ValuePath, c.LabelPath) })
}

// read reads a list. Objects without a value are left out.
func (s *Choices) read(ctx context.Context, on *cluster.Cluster, l live.Listing, valuePath, labelPath []string) (out list, err error) {
	out.namespaced, out.more, err = s.kinds.List(ctx, on, l, func(n *tree.Node) {
		o := object{
			name: n.Get("metadata", "name").Str(), namespace: n.Get("metadata", "namespace").Str(), owner: clusteractions.OwnerRef(n),
			value: n.Get(valuePath...).Scalar(),
		}
		if len(labelPath) > 0 {
			o.label = n.Get(labelPath...).Scalar()
		}
		if len(o.label) > longest {
			o.label = ""
		}
		if o.value != "" && len(o.value) <= longest {
			out.objects = append(out.objects, o)
		}
	})
	out.objects = sorted(out.objects)
	return out, err
}

// permitted returns the objects of a list that the permission rules let the caller see. It
// returns a fault if there are objects, and none of them.
func (s *Choices) permitted(ctx context.Context, on *cluster.Cluster, q question, found list) ([]object, error) {
	owners, err := s.namespaceOwners(ctx, on, q, found)
	if err != nil {
		return nil, err
	}
	who := identity.From(ctx)
	var may []object
	var refused *permission.Resource
	name := ""
	for _, o := range found.objects {
		if found.namespaced && o.owner == "" {
			o.owner = owners[o.namespace]
		}
		var r *permission.Resource
		name, r = q.target(on, o, found.namespaced)
		if s.opts.Policy.Decide(who, name, r) {
			may = append(may, o)
			continue
		}
		refused = r
	}
	if len(may) > 0 || refused == nil {
		return may, nil
	}
	// The reason is the kind, and names none of the objects.
	refused.Ref, refused.Namespace, refused.Owners = fmt.Sprintf("%s objects in cluster %s", refused.Kind, q.cluster), q.namespace, nil
	if refused.ClusterScoped {
		if err := s.opts.Policy.Require(ctx, name, refused); err != nil {
			return nil, err
		}
	}
	where := ""
	if q.namespace != "" {
		where = " in namespace " + q.namespace
	}
	return nil, s.opts.Policy.Deny(ctx, name, refused, "Missing permission "+name+" for all "+refused.Ref+where)
}

// target returns the permission that shows an object to the caller, and its resource: to
// read the object, or to create in a namespace what the Template creates.
func (q *question) target(on *cluster.Cluster, o object, namespaced bool) (string, *permission.Resource) {
	r := &permission.Resource{
		Ref: q.choices.Kind + " " + o.name + " in cluster " + q.cluster, Action: words.ActionApply, Template: q.template.Ref, Origin: q.template.Origin,
		Cluster: q.cluster, Impersonated: on.Impersonates(), Group: q.choices.Group(), Kind: q.choices.Kind, Namespace: o.namespace, ClusterScoped: !namespaced,
	}
	if o.owner != "" {
		r.Owners = []string{o.owner}
	}
	if !q.choices.IsNamespaces() || q.creates.kind == "" {
		return permission.ResourceRead, r
	}
	r.Group, r.Kind, r.Namespace, r.ClusterScoped = q.creates.group, q.creates.kind, o.name, false
	return permission.ResourceCreate, r
}

// namespaceOwners returns the owners of the namespaces of a list. The portal's account
// reads them, as it does for steps; if it may not, they have none.
func (s *Choices) namespaceOwners(ctx context.Context, on *cluster.Cluster, q question, found list) (map[string]string, error) {
	if !found.namespaced || len(found.objects) == 0 {
		return nil, nil
	}
	account := on.Account()
	l := live.Listing{APIVersion: "v1", Kind: "Namespace", Metadata: true, PageSize: metadataPage, Most: mostMetadata, MostBytes: mostPage}
	all, err := s.readings.Get(ctx, reading.Key{Cluster: q.cluster, What: "owners of namespaces"}, func(ctx context.Context) (list, error) {
		return s.read(ctx, account, l, []string{"metadata", "name"}, nil)
	})
	if e, ok := errors.AsType[*cluster.Error](err); ok && e.Reason == cluster.Forbidden {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	owners := make(map[string]string, len(all.objects))
	for _, o := range all.objects {
		owners[o.name] = o.owner
	}
	return owners, nil
}
