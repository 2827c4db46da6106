package xrd

import (
	"slices"
	"strings"

	"example.dev/ingestor/words"
)

// Pushed returns selectors as an API server takes them: every object that s
// chooses matches one of them. They may match more, because a server knows
// nothing of two spellings of one label; s itself has the last word.
func (s Selector) Pushed() []string {
	var both []string     // terms for every selector
	var either [][]string // ways to write one term, a selector for each
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
	// One term with several spellings makes as many lists as it has; a second
	// one would multiply them, and is left to s.
	var out []string
	for _, way := range either[0] {
		out = append(out, strings.Join(append(slices.Clone(both), way), ","))
	}
	return out
}
