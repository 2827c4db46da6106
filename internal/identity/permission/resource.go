package permission

import (
	"strings"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/catalog/store"
)

// Resource is what a permission is asked for. Case does not matter.
type Resource struct {
	// Ref is the reference of an entity.
	Ref, Kind, Namespace string
	// Owners are the references it is owned by.
	Owners []string
	// Template is the reference of the Template whose task acts, Origin where
	// that comes from, and Action what its step does.
	Template, Origin, Action string
	// Cluster has the resource. Impersonated says that the cluster decides
	// about the caller itself.
	Cluster      string
	Impersonated bool
	// Group is the API group of the resource, and ClusterScoped says that it
	// lives in no namespace.
	Group         string
	ClusterScoped bool
	// Repository is host/owner/name, and Branch the one that is written to;
	// Named says that the Template itself names them, and Anonymous that it is
	// read without any credentials.
	Repository, Branch string
	Named, Anonymous   bool
	// Provider is the name under which entities are pushed.
	Provider string
}

// ResourceOf returns an entity as permissions see it.
func ResourceOf(e *store.Entity) (*Resource, error) {
	n, err := tree.Wire{}.Decode(e.JSON)
	if err != nil {
		return nil, err
	}
	r := &Resource{Ref: e.Ref}
	var rest string
	r.Kind, rest, _ = strings.Cut(e.Ref, ":")
	r.Namespace, _, _ = strings.Cut(rest, "/")
	for _, relation := range n.Get("relations").List() {
		if relation.Get("type").Str() == "ownedBy" {
			r.Owners = append(r.Owners, relation.Get("targetRef").Str())
		}
	}
	return r, nil
}
