// Package entity is the output: the entities of a developer portal's catalog,
// their references, the rules the catalog holds them to, and how they are
// written.
package entity

import (
	"example.dev/ingestor/document/tree"
)

// The kinds of entity.
const (
	KindTemplate  = "Template"
	KindAPI       = "API"
	KindResource  = "Resource"
	KindComponent = "Component"
	KindSystem    = "System"
	KindDomain    = "Domain"
	KindLocation  = "Location"
	KindGroup     = "Group"
	KindUser      = "User"
)

// DefaultNamespace is the namespace of a reference that names none.
const DefaultNamespace = "default"

// Entity is one entry of the catalog, in the contract's words until it is
// translated (see Speak).
type Entity struct {
	APIVersion string
	Kind       string
	Metadata   Metadata
	// Spec is a map; its layout depends on the kind.
	Spec *tree.Node
	// Load, if not nil, reads the entity back: what is here is its kind, namespace,
	// name and system. Such an entity cannot be written; Whole returns all of it.
	Load func() (*Entity, error)
}

// Whole returns the entity with all it has.
func (e *Entity) Whole() (*Entity, error) {
	if e.Load == nil {
		return e, nil
	}
	return e.Load()
}

// Metadata is what all kinds of entity have.
type Metadata struct {
	Name        string
	Namespace   string
	Title       string
	Description string
	Labels      map[string]string
	Annotations map[string]string
	Tags        []string
	Links       []Link
}

// Link is a link shown beside an entity.
type Link struct {
	URL, Title, Icon, Type string
}
