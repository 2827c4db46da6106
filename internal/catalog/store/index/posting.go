package index

import (
	"cmp"
	"slices"
	"strings"
)

// Posting is what postings has the set of entities for: a value of a field in one spelling,
// or one of the following.
type Posting struct {
	// Kid is the number of the key of a field.
	Kid int64
	// Value and Original are those of the Field.
	Value, Original string
}

// WordKid is the key of postings of words, which have the word as their value.
const WordKid = 0

// Everything is the posting of all entities.
var Everything = Posting{Kid: WordKid}

// HasValue returns the posting of all entities that have a value for a key.
func HasValue(kid int64) Posting { return Posting{Kid: -kid} }

// Compare orders postings as their table does.
func (p Posting) Compare(o Posting) int {
	return cmp.Or(cmp.Compare(p.Kid, o.Kid), strings.Compare(p.Value, o.Value), strings.Compare(p.Original, o.Original))
}

// Postings returns the postings of an entity with the fields and words, sorted. Both must be
// sorted and distinct.
func Postings(fields []Field, words []string) []Posting {
	all := make([]Posting, 0, 2*len(fields)+len(words)+1)
	for i := len(fields) - 1; i >= 0; i-- {
		// The fields of a key are neighbours, with NoValue as the last.
		if f := fields[i]; f.Value != NoValue && (i == 0 || fields[i-1].Kid != f.Kid) {
			all = append(all, HasValue(f.Kid))
		}
	}
	all = append(all, Everything)
	for _, w := range words {
		if w != "" {
			all = append(all, Posting{Kid: WordKid, Value: w})
		}
	}
	for _, f := range fields {
		all = append(all, Posting(f))
	}
	if !slices.IsSortedFunc(all, Posting.Compare) {
		slices.SortFunc(all, Posting.Compare)
	}
	return all
}
