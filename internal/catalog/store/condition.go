package store

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"example.dev/ingestor/entity/filter"
	"example.dev/ingestor/internal/catalog/store/cache"
)

// Operations of conditions beyond those of filters.
const (
	// opKind passes entities of a kind.
	opKind filter.Op = iota + filter.OpPrefix + 1
	// opHasValue passes entities that have a value for the key.
	opHasValue
	// opWord passes entities with a word that begins with the value.
	opWord
	// opAnyWord passes entities with one of the words.
	opAnyWord
	// opContains passes entities for which a value of one of the keys contains the value.
	opContains
)

// cond is a Filter with the numbers of its keys, values as they are indexed, and
// without parts that have no effect.
type cond struct {
	op     filter.Op
	kid    int64
	kids   []int64
	values []string
	conds  []cond
}

var (
	always = cond{op: filter.OpTrue}
	never  = cond{op: filter.OpFalse}
)

// allOf returns a condition that passes what passes each of the conditions.
func allOf(conds ...cond) cond { return combine(filter.OpAll, conds) }

// anyOf returns a condition that passes what passes one of the conditions.
func anyOf(conds ...cond) cond { return combine(filter.OpAny, conds) }

// combine joins conditions with OpAll or OpAny, without duplicates and parts that have no
// effect.
func combine(op filter.Op, conds []cond) cond {
	neutral, decisive := always, never
	if op == filter.OpAny {
		neutral, decisive = never, always
	}
	var flat []cond
	for _, c := range conds {
		switch c.op {
		case neutral.op:
		case decisive.op:
			return decisive
		case op:
			flat = append(flat, c.conds...)
		default:
			flat = append(flat, c)
		}
	}
	if op == filter.OpAny {
		flat = mergeValues(flat)
	}
	seen := map[string]bool{}
	flat = slices.DeleteFunc(flat, func(c cond) bool {
		key := string(c.appendKey(nil))
		defer func() { seen[key] = true }()
		return seen[key]
	})
	switch len(flat) {
	case 0:
		return neutral
	case 1:
		return flat[0]
	}
	return cond{op: op, conds: flat}
}

// mergeValues makes one condition of all that list values of the same key.
func mergeValues(conds []cond) []cond {
	var merged []cond
	at := map[int64]int{}
	for _, c := range conds {
		i, again := at[c.kid]
		if c.op == filter.OpIn && again {
			values := slices.Concat(merged[i].values, c.values)
			slices.Sort(values)
			merged[i].values = slices.Compact(values)
			continue
		}
		if c.op == filter.OpIn {
			at[c.kid] = len(merged)
		}
		merged = append(merged, c)
	}
	return merged
}

// not returns a condition that passes what c does not.
func not(c cond) cond {
	switch c.op {
	case filter.OpTrue:
		return never
	case filter.OpFalse:
		return always
	case filter.OpNot:
		return c.conds[0]
	}
	return cond{op: filter.OpNot, conds: []cond{c}}
}

// accepts reports whether a condition of a filter on a field passes an entity with the
// value.
func (c *cond) accepts(value string) bool {
	switch c.op {
	case filter.OpHas:
		return true
	case filter.OpIn:
		return slices.Contains(c.values, value)
	case filter.OpPrefix:
		return strings.HasPrefix(value, c.values[0])
	}
	return false
}

// refRange returns the bounds of the references of a kind.
func (c *cond) refRange() (lo, hi string) { return c.values[0] + ":", c.values[0] + ";" }

// cacheKeyOf returns the cache key for what is counted and for which condition.
func cacheKeyOf(what string, c cond) cache.Key {
	b := make([]byte, 0, 256)
	b = append(append(b, what...), 0)
	return sha256.Sum256(c.appendKey(b))
}

// appendKey appends a text that is the same for equal conditions, and different for all
// others.
func (c *cond) appendKey(b []byte) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, byte(c.op))
	b = binary.AppendVarint(b, c.kid)
	b = binary.AppendUvarint(b, uint64(len(c.kids)))
	for _, kid := range c.kids {
		b = binary.AppendVarint(b, kid)
	}
	b = binary.AppendUvarint(b, uint64(len(c.values)))
	for _, v := range c.values {
		text(v)
	}
	b = binary.AppendUvarint(b, uint64(len(c.conds)))
	for _, sub := range c.conds {
		b = sub.appendKey(b)
	}
	return b
}
