// Package store is what the portal remembers: entities, the locations they are
// read from, the objects of sources that entities are made of, and the public
// halves of signing keys. It speaks one SQL text to two engines, SQLite and
// PostgreSQL.
package store

import (
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/spool"
)

// Options are what the catalog's storage can be told.
type Options struct {
	// UIDRetention is how long after an entity was removed it gets its uid back if
	// it returns.
	UIDRetention time.Duration
}

// Entity is an entity as it is served.
type Entity struct {
	Ref, UID, ETag string
	// Provider owns the entity. Parent is the reference of the entity that
	// named it, empty if none did.
	Provider, Parent string
	// JSON is the entity with its uid, etag and relations.
	JSON []byte
}

// Document is an entity as a provider gives it. It has been checked.
type Document struct {
	// Node is a map of apiVersion, kind, metadata and spec; a Location may
	// have a status besides.
	Node *tree.Node
	// JSON is the same as text, and stands for a Node that is nil: thousands of
	// entities take a fifth of the memory so.
	JSON []byte
	// Ref is its reference, if whoever gives it knows that; else it is found out.
	Ref string
	// Spooled is the JSON where it is not held in memory; empty if it is.
	Spooled spool.Text
	// Prepared, if not nil, stands for all of them.
	Prepared *Prepared
	// Parent is the reference of the entity that named it, empty for none.
	Parent string
}

// Change is what a provider has to say.
type Change struct {
	// Provider owns what it puts, until it is removed.
	Provider string
	// Full says that Put is everything the provider has, so that whatever
	// else it owns is removed, but for Keep.
	Full bool
	Put  []Document
	Keep []string
	// Remove are references. Those of other providers, and of entities that
	// are not there, are passed over.
	Remove []string
}

// Result is what became of a Change.
type Result struct {
	Added, Updated, Removed, Unchanged int
	// Refused are documents whose reference belongs to somebody else, or to an
	// earlier document of the same change.
	Refused []Refusal
	// Refs are the references that are counted.
	Refs Refs
}

// Refs are references by what became of them, in any order.
type Refs struct{ Added, Updated, Removed []string }

// Refusal is a document that was not taken.
type Refusal struct {
	// Index is that of the document in Put.
	Index int
	Ref   string
	// Owner is the provider that has the entity.
	Owner string
}

// Order is a field to sort by. Entities without the field come last, whatever
// the direction.
type Order struct {
	Field string
	Desc  bool
}

// Text is a search. Without fields each word of the term is looked for among
// the beginnings of the words of an entity (name, title, description, tags and
// the like); with fields the term is looked for anywhere inside their values.
type Text struct {
	Term   string
	Fields []string
}

// Position is a place in the order of a query: the values of the fields it is
// sorted by, nil where there is none, and the reference that breaks ties.
type Position struct {
	Values []*string
	Ref    string
}

// Query chooses entities. The order is by its fields, then by reference.
type Query struct {
	Filter Filter
	Text   Text
	Order  []Order
	// Offset entities are passed over, and at most Limit are returned;
	// NoLimit returns all.
	Offset, Limit int
	// After and Before, of which one may be given, begin behind or end before
	// a position. A page before a position is the one right before it, in the
	// query's order all the same.
	After, Before *Position
	// Total asks for the number of entities in all.
	Total bool
}

// NoLimit as a limit means all.
const NoLimit = -1

// Page is a part of what a query chooses.
type Page struct {
	Items []Entity
	// First and Last are the positions of the first and last item, nil if
	// there are none.
	First, Last *Position
	// More tells whether there are further entities in the direction of the
	// query: behind the page, or before it if it was asked for with Before.
	More bool
	// Total is the number of entities in all, -1 if it was not asked for.
	Total int
}

// Facet is a value of a field and how many entities have it, in the case it is
// written in.
type Facet struct {
	Value string
	Count int
}

// Location is a place entities are read from.
type Location struct {
	ID, Type, Target string
	// Error says why it could not be read, wholly or in part; empty if it was.
	Error string
	// ReadAt is when it was last tried, zero if it never was.
	ReadAt time.Time
}
