// Package index defines how entities are indexed: the fields and words of a document, the
// numbers of keys, and the text that holds all fields of an entity. The catalog writes and
// queries its tables with them.
package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
)

const (
	// maxIndexed is the number of characters of a key or value beyond which it is not
	// indexed: a field with a longer value is indexed without a value.
	maxIndexed = 200
	// NoValue is indexed for a field that has no value to compare with. It differs from
	// every real value, since db.Storable removes this character from them, and sorts
	// after all of them.
	NoValue = string(unicode.MaxRune)
	// RelationPrefix is the prefix of the keys of relations, before the type.
	RelationPrefix = "relations."
	// ListMark is appended to a key that has a list of strings. Each string can be queried
	// as a key below the list with the value true, tags.go for tags: [go]; such a query is
	// translated into one for the item.
	ListMark = "."
	// Item is the value of a key that denotes an item of a list.
	Item = "true"
	// KindKey is the key of the first part of a reference.
	KindKey = "kind"
	// NamespaceKey is the key of the second part of a reference.
	NamespaceKey = "metadata.namespace"
	// UIDKey is the key of the uid.
	UIDKey = "metadata.uid"
)

// bare are keys below which nothing is indexed: the fields of a form, and what the
// steps of a Template make of them, which repeats the form.
var bare = []string{"spec.parameters", "spec.steps.input", "spec.output"}

// Indexed reports whether entities can be selected by a key. The fields of a form are
// not indexed; the presence of a form is.
func Indexed(key string) bool {
	lower := LowerKey(key)
	return !slices.ContainsFunc(bare, func(b string) bool { return strings.HasPrefix(lower, b+".") })
}

// LowerKey returns a key as it is indexed.
func LowerKey(key string) string { return strings.ToLower(db.Storable(key)) }

// TooLong reports whether s has more characters than are indexed.
func TooLong[T string | []byte](s T) bool {
	return len(s) > maxIndexed && utf8.RuneCountInString(string(s)) > maxIndexed
}

// Walk calls add for each field of a document, except for relations and the uid,
// which do not depend on the document, and list for every list that has strings in it.
// The keys are valid only during the call. An empty original means that it equals the
// value.
func Walk(n *tree.Node, add func(key []byte, value, original string), list func(key []byte)) {
	w := walker{add: add, list: list}
	for _, f := range n.Fields {
		switch f.Key {
		case "status", "relations":
		case "metadata":
			w.metadata(f.Value)
		default:
			w.below(f.Key, f.Value)
		}
	}
}

// walker is at a field of a document.
type walker struct {
	add  func(key []byte, value, original string)
	list func(key []byte)
	path []byte
}

func (w *walker) metadata(n *tree.Node) {
	end := w.push("metadata")
	w.below("namespace", tree.Str(Namespace(n)))
	for _, f := range n.Fields {
		// Keys are case-insensitive: "UID" would be a second uid, and "Name" a second name,
		// and there may be only one.
		switch key := LowerKey(f.Key); {
		case key == "uid", key == "etag", key == "namespace":
		case key == "name" && f.Key != key:
		default:
			w.below(f.Key, f.Value)
		}
	}
	w.path = w.path[:end]
}

// push adds a part to the key and returns the length of the key before.
func (w *walker) push(part string) int {
	end := len(w.path)
	if end > 0 {
		w.path = append(w.path, '.')
	}
	w.path = append(w.path, LowerKey(part)...)
	return end
}

func (w *walker) below(part string, n *tree.Node) {
	end := w.push(part)
	if !TooLong(w.path) {
		w.value(n)
	}
	w.path = w.path[:end]
}

func (w *walker) value(n *tree.Node) {
	for _, b := range bare {
		if string(w.path) == b {
			w.add(w.path, NoValue, "")
			return
		}
	}
	switch {
	case n.IsMap():
		for _, f := range n.Fields {
			w.below(f.Key, f.Value)
		}
	case n.IsList():
		texts := false
		for _, item := range n.Items {
			w.value(item)
			texts = texts || item.IsString()
		}
		if texts {
			w.list(w.path)
		}
	case n.IsNull():
		w.add(w.path, NoValue, "")
	default:
		w.scalar(n.Text)
	}
}

func (w *walker) scalar(text string) {
	if len(text) > maxIndexed*utf8.UTFMax || TooLong(text) {
		w.add(w.path, NoValue, "")
		return
	}
	original := db.Storable(text)
	value := strings.ToLower(original)
	if value == original {
		original = ""
	}
	w.add(w.path, value, original)
}

// Namespace returns the namespace in metadata, or the default one.
func Namespace(metadata *tree.Node) string {
	if s := metadata.Get("namespace").Str(); s != "" {
		return s
	}
	return entity.DefaultNamespace
}
