// Package entity defines the output: the entities of a developer portal's catalog, their
// references, the catalog's rules for them, and how they are written.
//
// It is one package because these are the types of one output document, the rules for them
// and how they are written.
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

// DefaultNamespace is the namespace of a reference without a namespace.
const DefaultNamespace = "default"

// Entity is one entry of the catalog, in the contract's vocabulary until it is
// translated (see Speak).
type Entity struct {
	APIVersion string
	Kind       string
	Metadata   Metadata
	// Spec is a map; its layout depends on the kind.
	Spec *tree.Node
	// Load, if not nil, loads the full entity; the receiver then holds only its kind,
	// namespace, name and system. Such an entity cannot be written; Whole returns the full
	// entity.
	Load func() (*Entity, error)
}

// Whole returns the full entity.
func (e *Entity) Whole() (*Entity, error) {
	if e.Load == nil {
		return e, nil
	}
	return e.Load()
}

// Metadata holds the fields that all kinds of entity have.
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

// Link is a link shown with an entity.
type Link struct {
	URL, Title, Icon, Type string
}
