package write

import (
	"iter"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/spool"
)

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
	// Hash is entity.HashDocument of the document, if the caller knows it and Ref.
	Hash string
	// Spooled is the JSON if it is not held in memory; else empty.
	Spooled spool.Text
	// Prepared, if not nil, replaces Node, JSON and Spooled.
	Prepared *Prepared
	// Parent is the reference of the entity that named this one, empty for none.
	Parent string
	// Index is that of the document in a Refusal, if it is one of Sorted.
	Index int
}

// Sorted are documents in the order of their references, which each has. They are read
// several times, and end after an error.
type Sorted = iter.Seq2[Document, error]

// Change is the desired state of a provider's entities, or a part of it.
type Change struct {
	// Provider owns the entities it puts, until they are removed.
	Provider string
	// Full reports that Put is everything the provider has, so that all other entities it
	// owns are removed, except for Keep.
	Full bool
	Put  []Document
	// Sorted, if not nil, replaces Put, so that the documents need not be in memory.
	Sorted Sorted
	Keep   []string
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
	// Refs are the references that are counted, unless the change is too large to be written
	// as a whole.
	Refs Refs
}

// Refs are the references of a Result, in any order.
type Refs struct{ Added, Updated, Removed []string }

// Refusal is a document that was not stored.
type Refusal struct {
	// Index is that of the document in Put, or its Index.
	Index int
	Ref   string
	// Owner is the provider that owns the entity.
	Owner string
}
