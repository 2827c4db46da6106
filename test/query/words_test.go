package query

import (
	"strings"
	"unicode"
)

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isSeparator(r rune) bool { return !isLetter(r) }

// searched returns the text of the fields of an entity that a search without fields
// searches, in lower case, with spaces between values.
func (x *index) searched(ref string) string {
	var b strings.Builder
	for _, f := range x.rows[ref] {
		in := f.Key == "kind" || strings.HasPrefix(f.Key, "metadata.labels.")
		for _, key := range []string{"metadata.name", "metadata.title", "metadata.description", "metadata.tags", "spec.type", "spec.lifecycle", "spec.owner", "spec.system"} {
			in = in || f.Key == key
		}
		if in && f.Value != nil {
			b.WriteString(*f.Value + " ")
		}
	}
	// A description that is too long for the index is searched too.
	metadata, _ := x.entities[ref]["metadata"].(map[string]any)
	if text, ok := metadata["description"].(string); ok {
		b.WriteString(strings.ToLower(text))
	}
	return b.String()
}
