// This file turns the Filter of a query into a condition. The request
//
//	GET /entities/by-query?filter=kind=component,spec.lifecycle=production
//
// has the Filter All(In("kind", "component"), In("spec.lifecycle", "production")), which
// becomes, if spec.lifecycle has the number 6,
//
//	allOf(kind("component"), in(6, "production"))

package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/index"
	"example.dev/ingestor/internal/db"
)

// The limits of a query.
const (
	maxConditions = 1000
	maxDepth      = 20
	maxOrder      = 16
	// maxKinds is up to how many kinds are conditions by themselves, so that pages of one
	// kind know it; more are searched like other values.
	maxKinds = 16
)

// ErrTooComplex is a query with too many conditions, or nested too deeply.
var ErrTooComplex = errors.New("the query is too complex")

func tooManyConditions() error {
	return fmt.Errorf("%w: it may have %d conditions and values", ErrTooComplex, maxConditions)
}

// checkLimits refuses a filter and a search with too many conditions; each value and
// each word is one.
func checkLimits(f filter.Filter, t Text) error {
	budget := maxConditions - len(index.SplitWords(t.Term)) - len(t.Fields)
	return spend(&f, &budget, 1)
}

func spend(f *filter.Filter, budget *int, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: filters may be nested %d deep", ErrTooComplex, maxDepth)
	}
	if len(f.Filters) == 0 {
		*budget -= max(1, len(f.Values))
	}
	if *budget < 0 {
		return tooManyConditions()
	}
	for i := range f.Filters {
		if err := spend(&f.Filters[i], budget, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// parseFilter returns the condition for f and t together.
func (k *keyResolver) parseFilter(f filter.Filter, t Text) cond {
	if strings.TrimSpace(t.Term) == "" {
		return k.resolve(f)
	}
	return allOf(k.resolve(f), k.resolveText(t))
}

// resolve converts a filter into a condition.
func (k *keyResolver) resolve(f filter.Filter) cond {
	switch f.Op {
	case filter.OpTrue:
		return always
	case filter.OpAll, filter.OpAny:
		subs := make([]cond, len(f.Filters))
		for i, sub := range f.Filters {
			subs[i] = k.resolve(sub)
		}
		return combine(f.Op, subs)
	case filter.OpNot:
		if len(f.Filters) == 1 {
			return not(k.resolve(f.Filters[0]))
		}
	case filter.OpHas, filter.OpIn, filter.OpPrefix:
		return k.resolveField(f)
	}
	return never
}

// resolveField converts a filter on a field into a condition.
func (k *keyResolver) resolveField(f filter.Filter) cond {
	key, c, inList := index.LowerKey(f.Key), fieldCond(f), never
	if c.accepts(index.Item) {
		inList = k.listItem(key)
	}
	kid, known := k.id(key)
	if !known || c.op == filter.OpFalse {
		return inList
	}
	if c.kid = kid; key == index.KindKey && c.op == filter.OpIn && len(c.values) <= maxKinds {
		c = anyKind(c)
	}
	return anyOf(c, inList)
}

// fieldCond returns the condition of a filter on a field, without the number of its
// key.
func fieldCond(f filter.Filter) cond {
	c := cond{op: f.Op}
	if f.Op == filter.OpHas {
		return c
	}
	for _, v := range f.Values {
		if v = db.Storable(v); !index.TooLong(v) {
			c.values = append(c.values, strings.ToLower(v))
		}
	}
	if len(c.values) == 0 {
		return never
	}
	if f.Op == filter.OpPrefix {
		c.values = c.values[:1]
		return c
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	return c
}

// anyKind converts a condition on values of kindKey.
func anyKind(c cond) cond {
	var kinds []cond
	for _, v := range c.values {
		isWord := !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if isWord && v != "" {
			kinds = append(kinds, cond{op: opKind, kid: c.kid, values: []string{v}})
		}
	}
	return anyOf(kinds...)
}

// listItem passes entities with a list that has the item the key denotes.
func (k *keyResolver) listItem(key string) cond {
	var in []cond
	for i := 1; i < len(key)-1; i++ {
		if key[i] != '.' {
			continue
		}
		kid, known := k.id(key[:i])
		_, isList := k.id(key[:i] + index.ListMark)
		if text := key[i+1:]; known && isList && !index.TooLong(text) {
			in = append(in, cond{op: filter.OpIn, kid: kid, values: []string{text}})
		}
	}
	return anyOf(in...)
}

// resolveText converts a full text search into a condition.
func (k *keyResolver) resolveText(t Text) cond {
	if len(t.Fields) == 0 {
		words := index.SplitWords(t.Term)
		if len(words) == 0 {
			return never
		}
		all := make([]cond, len(words))
		for i, word := range words {
			all[i] = cond{op: opWord, values: []string{word}}
		}
		return allOf(all...)
	}
	term := strings.ToLower(db.Storable(strings.TrimSpace(t.Term)))
	c := cond{op: opContains, values: []string{term}}
	for _, field := range t.Fields {
		if kid, ok := k.id(index.LowerKey(field)); ok {
			c.kids = append(c.kids, kid)
		}
	}
	if len(c.kids) == 0 || term == "" || index.TooLong(term) {
		return never
	}
	slices.Sort(c.kids)
	c.kids = slices.Compact(c.kids)
	return c
}
