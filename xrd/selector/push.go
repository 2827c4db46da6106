package selector

import (
	"slices"
	"strings"

	"example.dev/ingestor/words"
)

// Pushed returns selectors for an API server: every object that s selects matches one of
// them. They may match more, because a server does not know that one label has two
// spellings; the caller must still apply s.
func (s Selector) Pushed() []string {
	var both []string     // terms for every selector
	var either [][]string // alternatives of one term, a selector for each
	for _, t := range s.terms {
		spellings := words.Spellings(words.Key, t.key)
		var ways []string
		for _, key := range spellings {
			ways = append(ways, term{key, t.op, t.values}.String())
		}
		switch {
		case len(spellings) == 1, t.op == opAbsent:
			both = append(both, ways...)
		case t.op == opNotIn:
			// An object may have the value under the spelling that does not count.
		default:
			either = append(either, ways)
		}
	}
	if len(either) == 0 {
		return []string{strings.Join(both, ",")}
	}
	// A term with several spellings multiplies the number of list requests. Only the first
	// such term is pushed; the others are left to s.
	var out []string
	for _, way := range either[0] {
		out = append(out, strings.Join(append(slices.Clone(both), way), ","))
	}
	return out
}
