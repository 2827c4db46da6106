package write

import (
	"slices"
	"unique"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/catalog/store/body"
	"example.dev/ingestor/internal/catalog/store/index"
)

// Prepared is a document with all that can be computed of it without the database, in a
// fraction of the memory of its node. It is immutable.
type Prepared struct {
	ref, hash string
	edges     []edge
	blank     body.Blank
	words     []string
	fields    []keyed
	// lists are the keys of lists with strings in them, with index.ListMark.
	lists []string
}

// keyed is a field with its key.
type keyed struct{ key, value, original string }

// Prepare does the work of writing a document that needs no database, so that many
// goroutines can do it while other documents are written.
func Prepare(n *tree.Node) *Prepared {
	p := &Prepared{ref: entity.RefOf(n).String(), hash: entity.HashDocument(n), blank: body.New(n), words: index.Words(n)}
	p.edges = edgesOf(p.ref, n)
	index.Walk(n, func(key []byte, value, original string) {
		// Documents share their keys.
		p.fields = append(p.fields, keyed{unique.Make(string(key)).Value(), value, original})
	}, func(key []byte) { p.lists = append(p.lists, unique.Make(string(key)+index.ListMark).Value()) })
	p.fields = slices.Clip(p.fields)
	return p
}
