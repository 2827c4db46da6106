package permission

import (
	"strings"

	"example.dev/ingestor/document/wire"
)

// Resource is what a permission is requested for. Its fields are case-insensitive.
type Resource struct {
	// Ref is the reference of an entity.
	Ref, Kind, Namespace string
	// Owners are the references of its owners.
	Owners []string
	// Template is the reference of the Template whose task acts, Origin the origin of
	// that Template, and Action the action of its step.
	Template, Origin, Action string
	// Cluster is the cluster of the resource. Impersonated says that the cluster itself
	// authorizes the caller.
	Cluster      string
	Impersonated bool
	// Group is the API group of the resource, and ClusterScoped says that the resource
	// has no namespace.
	Group         string
	ClusterScoped bool
	// Repository is host/owner/name, and Branch the branch that is written to; Named
	// says that the Template itself names them, and Anonymous that the repository is
	// read without credentials.
	Repository, Branch string
	Named, Anonymous   bool
	// Provider is the name under which entities are pushed.
	Provider string
}

// ResourceOf returns an entity, given by its reference and its JSON with relations, as a
// resource for permissions.
func ResourceOf(ref string, entity []byte) (*Resource, error) {
	n, err := wire.Decoder{}.Decode(entity)
	if err != nil {
		return nil, err
	}
	r := &Resource{Ref: ref}
	var rest string
	r.Kind, rest, _ = strings.Cut(ref, ":")
	r.Namespace, _, _ = strings.Cut(rest, "/")
	for _, relation := range n.Get("relations").List() {
		if relation.Get("type").Str() == "ownedBy" {
			r.Owners = append(r.Owners, relation.Get("targetRef").Str())
		}
	}
	return r, nil
}
