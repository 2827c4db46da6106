// Package query parses what a client requests from the catalog: filters, predicates,
// orders, searches, fields and cursors. It depends neither on the store's contents nor
// on the caller; its errors are the responses to the client.
package query

import (
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/rest"
)

// maxConditions is how many conditions a request may have in total, counting each value
// of a list.
const maxConditions = 1000

// ParseFilters reads the values of the parameter filter. One of them must pass; all
// conditions of a value, separated by commas, must hold; a key that is repeated in it
// may have any of its values. Empty values are ignored.
func ParseFilters(params []string) (filter.Filter, error) {
	var sets []filter.Filter
	budget := maxConditions
	for _, p := range params {
		set, err := parseFilter(p, &budget)
		if err != nil {
			return filter.Filter{}, err
		}
		if set.Op != filter.OpTrue {
			sets = append(sets, set)
		}
	}
	switch len(sets) {
	case 0:
		return filter.Filter{}, nil
	case 1:
		return sets[0], nil
	}
	return filter.Any(sets...), nil
}

// parseFilter reads conditions of the form a=b, a= or a.
func parseFilter(param string, budget *int) (filter.Filter, error) {
	var conditions []filter.Filter
	place := map[string]int{}
	for statement := range strings.SplitSeq(param, ",") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if *budget--; *budget < 0 {
			return filter.Filter{}, TooComplex()
		}
		key, value, hasValue := strings.Cut(statement, "=")
		if key = strings.TrimSpace(key); key == "" {
			return filter.Filter{}, rest.Input("Invalid filter, '%s' is not a valid statement (expected a string on the form a=b or a= or a)", statement)
		}
		if err := CheckKey("filter", key); err != nil {
			return filter.Filter{}, err
		}
		if err := rest.CheckText("filter", value); err != nil {
			return filter.Filter{}, err
		}
		lower := strings.ToLower(key)
		i, again := place[lower]
		if !again {
			i = len(conditions)
			place[lower] = i
			conditions = append(conditions, filter.Has(lower))
		}
		// A condition on the value implies that the key exists.
		if c := &conditions[i]; hasValue {
			c.Op, c.Values = filter.OpIn, append(c.Values, strings.ToLower(strings.TrimSpace(value)))
		}
	}
	return AllOf(conditions...), nil
}

// AllOf returns the filter that passes what passes each of the filters, in the simplest
// form. It modifies a slice that is passed to it.
func AllOf(fs ...filter.Filter) filter.Filter {
	fs = slices.DeleteFunc(fs, func(f filter.Filter) bool { return f.Op == filter.OpTrue })
	switch len(fs) {
	case 0:
		return filter.Filter{}
	case 1:
		return fs[0]
	}
	return filter.All(fs...)
}

// CheckKey refuses keys that are not indexed.
func CheckKey(what, key string) error {
	if err := rest.CheckText(what, key); err != nil {
		return err
	}
	if !index.Indexed(key) {
		return rest.Input("Invalid %s, the field '%s' cannot be searched: forms and steps of Templates are not indexed", what, rest.Short(key))
	}
	return nil
}

// TooComplex returns the error for a filter that has too many conditions.
func TooComplex() error {
	return rest.Input("Invalid filter, it has more than %d conditions or is nested too deep", maxConditions)
}
