// Package store is the storage of the catalog: entities and the locations they are read
// from. It uses the same SQL for two engines, SQLite and PostgreSQL. How entities are
// written, indexed, searched by substrings and cached is in the packages below it.
//
// It is one package because filters, pages, counts and facets are one query language: each
// is evaluated to a set of ids, by the same conditions, and reads the entities of the set.
package store

import (
	"time"

	"example.dev/ingestor/entity/filter"
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
