// Package store is the storage of the catalog: entities and the locations they are read
// from. It uses the same SQL for two engines, SQLite and PostgreSQL.
package store

import (
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/spool"
)

// Options configure the catalog's storage.
type Options struct {
	// UIDRetention is how long after its removal an entity gets its uid back if it is
	// added again.
	UIDRetention time.Duration
}

// Entity is an entity as it is served.
type Entity struct {
	Ref, UID, ETag string
	// Provider owns the entity. Parent is the reference of the entity that named it, empty
	// if none did.
	Provider, Parent string
	// JSON is the entity with its uid, etag and relations.
	JSON []byte
}

// Document is an entity as a provider supplies it. It is already validated.
type Document struct {
	// Node is a map of apiVersion, kind, metadata and spec; a Location may
	// have a status besides.
	Node *tree.Node
	// JSON is the same as text, used if Node is nil: thousands of entities take a fifth of
	// the memory that way.
	JSON []byte
	// Ref is the entity's reference, if the caller knows it; else it is computed.
	Ref string
	// Spooled is the JSON if it is not held in memory; else empty.
	Spooled spool.Text
	// Prepared, if not nil, replaces Node, JSON and Spooled.
	Prepared *Prepared
	// Parent is the reference of the entity that named this one, empty for none.
	Parent string
}

// Change is the desired state of a provider's entities, or a part of it.
type Change struct {
	// Provider owns the entities it puts, until they are removed.
	Provider string
	// Full reports that Put is everything the provider has, so that all other entities it
	// owns are removed, except for Keep.
	Full bool
	Put  []Document
	Keep []string
	// Remove are references. Those of other providers, and of entities that do not exist,
	// are ignored.
	Remove []string
}

// Result is the result of a Change.
type Result struct {
	Added, Updated, Removed, Unchanged int
	// Refused are documents whose reference belongs to another provider, or to an earlier
	// document of the same change.
	Refused []Refusal
	// Refs are the references that are counted.
	Refs Refs
}

// Refs are the references of a Result, in any order.
type Refs struct{ Added, Updated, Removed []string }

// Refusal is a document that was not stored.
type Refusal struct {
	// Index is that of the document in Put.
	Index int
	Ref   string
	// Owner is the provider that owns the entity.
	Owner string
}

// Order is a field to sort by. Entities without the field come last in both directions.
type Order struct {
	Field string
	Desc  bool
}

// Text is a search. Without fields, each word of the term must be a prefix of a word of
// the entity (name, title, description, tags and the like); with fields, the term is a
// substring of one of their values.
type Text struct {
	Term   string
	Fields []string
}

// Position is a place in the order of a query: the values of the fields it is sorted
// by, nil where there is none, and the reference that breaks ties.
type Position struct {
	Values []*string
	Ref    string
}

// Query selects entities. They are sorted by the fields of Order, then by reference.
type Query struct {
	Filter filter.Filter
	Text   Text
	Order  []Order
	// Offset entities are skipped, and at most Limit are returned; NoLimit returns all.
	Offset, Limit int
	// Position, if not nil, is where the page begins: after it or, if Backward is set,
	// before it. A page before a position is the one directly before it, still in the
	// query's order. The position has a value, or nil, for each field of Order.
	Position *Position
	Backward bool
	// Total requests the total number of entities.
	Total bool
}

// NoLimit as a limit means all.
const NoLimit = -1

// Page is a part of what a query selects.
type Page struct {
	Items []Entity
	// First and Last are the positions of the first and last item, nil if there are none.
	First, Last *Position
	// More reports whether there are further entities in the direction of the query: after
	// the page, or before it if the query is backward.
	More bool
	// Total is the total number of entities, -1 if it was not requested.
	Total int
}

// Facet is a value of a field, in its original spelling, and how many entities have it.
type Facet struct {
	Value string
	Count int
}

// Location is where entities are read from.
type Location struct {
	ID, Type, Target string
	// Error is why the location could not be read, wholly or in part; empty if it was
	// read.
	Error string
	// ReadAt is when reading was last attempted, zero if it never was.
	ReadAt time.Time
}
