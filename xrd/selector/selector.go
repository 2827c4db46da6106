// Package selector selects objects by their labels or annotations, with the selectors of
// Kubernetes. Keys may be in either vocabulary.
package selector

import (
	"slices"
	"strconv"
	"strings"
)

// Selector selects objects by their labels or annotations. The zero Selector selects
// everything.
type Selector struct {
	// terms are sorted and without duplicates, so that equivalent selectors are equal.
	terms []term
}

// term is one requirement; all terms of a selector must hold.
type term struct {
	key    string // in the contract's vocabulary
	op     operator
	values []string // sorted, without duplicates
}

type operator uint8

// The operators, in the order of their terms in a selector.
const (
	opExists operator = iota
	opAbsent
	opIn
	opNotIn
	opAbove
	opBelow
)

// newSelector returns a selector with sorted terms.
func newSelector(terms []term) Selector {
	slices.SortFunc(terms, term.compare)
	return Selector{terms: slices.CompactFunc(terms, func(a, b term) bool { return a.compare(b) == 0 })}
}

// And returns a selector that selects what both select.
func (s Selector) And(other Selector) Selector {
	return newSelector(slices.Concat(s.terms, other.terms))
}

// Empty reports whether s selects everything.
func (s Selector) Empty() bool { return len(s.terms) == 0 }

// Matches reports whether s selects an object with these labels or annotations, whose
// keys are in the contract's vocabulary. As in Kubernetes, "!=" and "notin" hold for an
// object without the key.
func (s Selector) Matches(set map[string]string) bool {
	return !slices.ContainsFunc(s.terms, func(t term) bool { return !t.matches(set) })
}

// Refusal returns the first reason why s does not select an object with this set, or ""
// if it does. what is the word for an element of the set, such as "label".
func (s Selector) Refusal(what string, set map[string]string) string {
	for _, t := range s.terms {
		value, ok := set[t.key]
		switch {
		case t.matches(set):
		case !ok:
			return t.missing(what)
		default:
			return t.subject(what) + strconv.Quote(value) + t.mismatch()
		}
	}
	return ""
}

func (t term) matches(set map[string]string) bool {
	value, ok := set[t.key]
	switch t.op {
	case opExists:
		return ok
	case opAbsent:
		return !ok
	case opIn:
		return ok && slices.Contains(t.values, value)
	case opNotIn:
		return !ok || !slices.Contains(t.values, value)
	}
	have, err := strconv.ParseInt(value, 10, 64)
	want, _ := strconv.ParseInt(t.values[0], 10, 64)
	if !ok || err != nil {
		return false
	}
	if t.op == opAbove {
		return have > want
	}
	return have < want
}

// String returns s in canonical form, which Parse, or ParseAnnotations
// for annotations, parses into the same selector.
func (s Selector) String() string {
	out := make([]string, len(s.terms))
	for i, t := range s.terms {
		out[i] = t.String()
	}
	return strings.Join(out, ",")
}

// String returns the term in selector syntax.
func (t term) String() string {
	switch t.op {
	case opExists:
		return t.key
	case opAbsent:
		return "!" + t.key
	case opAbove:
		return t.key + ">" + t.values[0]
	case opBelow:
		return t.key + "<" + t.values[0]
	}
	if len(t.values) > 1 {
		word := " in ("
		if t.op == opNotIn {
			word = " notin ("
		}
		return t.key + word + strings.Join(t.values, ",") + ")"
	}
	sign := "="
	if t.op == opNotIn {
		sign = "!="
	}
	if t.op == opIn && strings.HasPrefix(t.values[0], "=") {
		// The value of an annotation begins with "=", which a single sign would swallow.
		sign = "=="
	}
	return t.key + sign + t.values[0]
}

// compare orders terms by key, operator and values.
func (t term) compare(o term) int {
	if c := strings.Compare(t.key, o.key); c != 0 {
		return c
	}
	if t.op != o.op {
		return int(t.op) - int(o.op)
	}
	return slices.Compare(t.values, o.values)
}
