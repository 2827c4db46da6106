// Package query parses what a client requests from the catalog: filters, predicates,
// orders, searches, fields and cursors. It depends neither on the store's contents nor
// on the caller; its errors are the responses to the client.
package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"example.dev/ingestor/internal/catalog/store"
	"example.dev/ingestor/internal/rest"
)

// maxConditions is how many conditions a request may have in total, counting each value
// of a list.
const maxConditions = 1000

// Filters reads the values of the parameter filter. One of them must pass; all
// conditions of a value, separated by commas, must hold; a key that is repeated in it
// may have any of its values. Empty values are ignored.
func Filters(params []string) (store.Filter, error) {
	var sets []store.Filter
	budget := maxConditions
	for _, p := range params {
		set, err := parseFilter(p, &budget)
		if err != nil {
			return store.Filter{}, err
		}
		if set.Op != store.OpTrue {
			sets = append(sets, set)
		}
	}
	switch len(sets) {
	case 0:
		return store.Filter{}, nil
	case 1:
		return sets[0], nil
	}
	return store.Any(sets...), nil
}

// parseFilter reads conditions of the form a=b, a= or a.
func parseFilter(param string, budget *int) (store.Filter, error) {
	var conditions []store.Filter
	place := map[string]int{}
	for statement := range strings.SplitSeq(param, ",") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if *budget--; *budget < 0 {
			return store.Filter{}, TooComplex()
		}
		key, value, hasValue := strings.Cut(statement, "=")
		if key = strings.TrimSpace(key); key == "" {
			return store.Filter{}, rest.Input("Invalid filter, '%s' is not a valid statement (expected a string on the form a=b or a= or a)", statement)
		}
		if err := CheckKey("filter", key); err != nil {
			return store.Filter{}, err
		}
		if err := CheckText("filter", value); err != nil {
			return store.Filter{}, err
		}
		lower := strings.ToLower(key)
		i, again := place[lower]
		if !again {
			i = len(conditions)
			place[lower] = i
			conditions = append(conditions, store.Has(lower))
		}
		// A condition on the value implies that the key exists.
		if c := &conditions[i]; hasValue {
			c.Op, c.Values = store.OpIn, append(c.Values, strings.ToLower(strings.TrimSpace(value)))
		}
	}
	return Both(conditions...), nil
}

// Both returns the filter that passes what passes each of the filters, in the simplest
// form. It modifies a slice that is passed to it.
func Both(fs ...store.Filter) store.Filter {
	fs = slices.DeleteFunc(fs, func(f store.Filter) bool { return f.Op == store.OpTrue })
	switch len(fs) {
	case 0:
		return store.Filter{}
	case 1:
		return fs[0]
	}
	return store.All(fs...)
}

// CheckKey refuses keys that are not indexed.
func CheckKey(what, key string) error {
	if err := CheckText(what, key); err != nil {
		return err
	}
	if !store.Indexed(key) {
		return rest.Input("Invalid %s, the field '%s' cannot be searched: forms, and what steps make of them, are not indexed", what, Short(key))
	}
	return nil
}

// CheckText refuses text that no entity can contain, and that databases do not accept.
func CheckText(what, s string) error {
	if !IsText(s) {
		return rest.Input("Invalid %s, it has a NUL or is not UTF-8", what)
	}
	return nil
}

// IsText reports whether an entity can contain the text, so that a search may find it.
func IsText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// TooComplex returns the error for a filter that has too many conditions.
func TooComplex() error {
	return rest.Input("Invalid filter, it has more than %d conditions or is nested too deep", maxConditions)
}

// Short returns the beginning of a client's text, for messages.
func Short(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
