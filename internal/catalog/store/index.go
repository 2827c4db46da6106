package store

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
	// noValue is indexed for a field that has no value to compare with. It differs from
	// every real value, since db.Storable removes this character from them, and sorts
	// after all of them.
	noValue = string(unicode.MaxRune)
	// maxWord is the number of bytes after which a word is cut off.
	maxWord = 64
	// maxProse is how many bytes of a description are searched for words.
	maxProse = 2 << 10
	// relationKey is the prefix of the keys of relations, before the type.
	relationKey = "relations."
	// listMark is appended to a key that has a list of strings. Each string can be queried
	// as a key below the list with the value true, tags.go for tags: [go]; such a query is
	// translated into one for the item.
	listMark = "."
	// item is the value of a key that denotes an item of a list.
	item = "true"
	// kindKey and namespaceKey are the fields that a reference begins with.
	kindKey      = "kind"
	namespaceKey = "metadata.namespace"
)

// bare are keys below which nothing is indexed: the fields of a form, and what the
// steps of a Template make of them, which repeats the form.
var bare = []string{"spec.parameters", "spec.steps.input", "spec.output"}

// Indexed reports whether entities can be selected by a key. The fields of a form are
// not indexed; the presence of a form is.
func Indexed(key string) bool {
	lower := lowerKey(key)
	return !slices.ContainsFunc(bare, func(b string) bool { return strings.HasPrefix(lower, b+".") })
}

// lowerKey returns a key as it is indexed.
func lowerKey(key string) string { return strings.ToLower(db.Storable(key)) }

// tooLong reports whether s has more characters than are indexed.
func tooLong[T string | []byte](s T) bool {
	return len(s) > maxIndexed && utf8.RuneCountInString(string(s)) > maxIndexed
}

// indexer walks a document and calls add for each of its fields. The key is valid only
// during the call. An empty original means that it equals the value.
type indexer struct {
	add func(key []byte, value, original string)
	// list, if not nil, is called with the key of every list that has strings in it.
	list func(key []byte)
	path []byte
}

// keyUID is the key of the uid.
const keyUID = "metadata.uid"

// document indexes everything except relations and the uid, which do not depend on the
// document.
func (x *indexer) document(n *tree.Node) {
	for _, f := range n.Fields {
		switch f.Key {
		case "status", "relations":
		case "metadata":
			x.metadata(f.Value)
		default:
			x.below(f.Key, f.Value)
		}
	}
}

func (x *indexer) metadata(n *tree.Node) {
	end := x.push("metadata")
	x.below("namespace", tree.Str(namespaceOf(n)))
	for _, f := range n.Fields {
		// Keys are case-insensitive: "UID" would be a second uid, and "Name" a second name,
		// and there may be only one.
		switch key := lowerKey(f.Key); {
		case key == "uid", key == "etag", key == "namespace":
		case key == "name" && f.Key != key:
		default:
			x.below(f.Key, f.Value)
		}
	}
	x.path = x.path[:end]
}

// push adds a part to the key and returns the length of the key before.
func (x *indexer) push(part string) int {
	end := len(x.path)
	if end > 0 {
		x.path = append(x.path, '.')
	}
	x.path = append(x.path, lowerKey(part)...)
	return end
}

func (x *indexer) below(part string, n *tree.Node) {
	end := x.push(part)
	if !tooLong(x.path) {
		x.value(n)
	}
	x.path = x.path[:end]
}

func (x *indexer) value(n *tree.Node) {
	for _, b := range bare {
		if string(x.path) == b {
			x.add(x.path, noValue, "")
			return
		}
	}
	switch {
	case n.IsMap():
		for _, f := range n.Fields {
			x.below(f.Key, f.Value)
		}
	case n.IsList():
		texts := false
		for _, item := range n.Items {
			x.value(item)
			texts = texts || item.IsString()
		}
		if texts && x.list != nil {
			x.list(x.path)
		}
	case n.IsNull():
		x.add(x.path, noValue, "")
	default:
		x.scalar(n.Text)
	}
}

func (x *indexer) scalar(text string) {
	if len(text) > maxIndexed*utf8.UTFMax || tooLong(text) {
		x.add(x.path, noValue, "")
		return
	}
	original := db.Storable(text)
	value := strings.ToLower(original)
	if value == original {
		original = ""
	}
	x.add(x.path, value, original)
}

// namespaceOf returns the namespace in metadata, or the default one.
func namespaceOf(metadata *tree.Node) string {
	if s := metadata.Get("namespace").Str(); s != "" {
		return s
	}
	return entity.DefaultNamespace
}

// worded are the fields below spec whose words are searched.
var worded = []string{"type", "owner", "system", "lifecycle"}

// words returns the words of a document that a search finds, without duplicates and
// sorted.
func words(n *tree.Node) []string {
	metadata, spec := n.Get("metadata"), n.Get("spec")
	name := metadata.Get("name").Str()
	var few [64]string
	all := appendWords(few[:0], name)
	all = append(all, clipWord(strings.ToLower(db.Storable(name))))
	all = appendWords(all, metadata.Get("title").Str())
	all = appendWords(all, clip(metadata.Get("description").Str(), maxProse))
	for _, tag := range metadata.Get("tags").List() {
		all = appendWords(all, tag.Str())
	}
	if labels := metadata.Get("labels"); labels.IsMap() {
		for _, f := range labels.Fields {
			all = appendWords(all, f.Value.Str())
		}
	}
	all = appendWords(all, n.Get("kind").Str())
	for _, key := range worded {
		all = appendWords(all, spec.Get(key).Str())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > 0 && all[0] == "" {
		all = all[1:]
	}
	return slices.Clone(all)
}

// splitWords returns the words of a search term in lower case. Anything but letters and
// digits separates words.
func splitWords(text string) []string {
	all := strings.FieldsFunc(text, notInWord)
	for i, w := range all {
		all[i] = clipWord(strings.ToLower(w))
	}
	return all
}

func notInWord(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	return r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// appendWords appends the words of a text that a search finds: those of splitWords, and
// the parts of words in camelCase.
func appendWords(dst []string, text string) []string {
	for w := range strings.FieldsFuncSeq(text, notInWord) {
		lower := strings.ToLower(w)
		dst = append(dst, clipWord(lower))
		if lower != w {
			dst = appendHumps(dst, w)
		}
	}
	return dst
}

// appendHumps appends the parts of a word that begin with a capital: HTTPServer has
// http and server.
func appendHumps(dst []string, w string) []string {
	runes := []rune(w)
	start := 0
	for i := 1; i < len(runes); i++ {
		rises := unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1])
		falls := unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if rises || falls {
			dst = append(dst, clipWord(strings.ToLower(string(runes[start:i]))))
			start = i
		}
	}
	if start > 0 {
		dst = append(dst, clipWord(strings.ToLower(string(runes[start:]))))
	}
	return dst
}

func clipWord(w string) string { return clip(w, maxWord) }

// clip returns the first n bytes of s, or fewer so as not to cut a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
