package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/db"
)

const (
	// maxWord is the number of bytes after which a word is cut off.
	maxWord = 64
	// maxProse is how many bytes of a description are searched for words.
	maxProse = 2 << 10
	// WordEnd separates words in documents. No word contains it.
	WordEnd = "\n"
)

// worded are the fields below spec whose words are searched.
var worded = []string{"type", "owner", "system", "lifecycle"}

// Words returns the words of a document that a search finds, without duplicates and
// sorted.
func Words(n *tree.Node) []string {
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

// SplitWords returns the words of a search term in lower case. Anything but letters and
// digits separates words.
func SplitWords(text string) []string {
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

// appendWords appends the words of a text that a search finds: those of SplitWords, and
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
