package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"example.dev/ingestor/internal/db"
)

// The limits of a query.
const (
	maxLeaves = 1000
	maxDepth  = 20
	// maxRanges is up to how many kinds are searched by prefixes of references; more are
	// searched like other values.
	maxRanges = 16
)

// ErrTooComplex is a query with too many conditions, or nested too deeply. It is the
// caller's mistake.
var ErrTooComplex = errors.New("the query is too complex")

// Operations of conditions beyond those of filters.
const (
	// opRange passes references from lo up to, but excluding, hi.
	opRange Op = iota + OpPrefix + 1
	// opValued passes entities that have a value for the key.
	opValued
	// opWord passes entities with a word that begins with the value.
	opWord
	// opInside passes entities for which a value of one of the keys contains the value.
	opInside
)

// cond is a Filter with the numbers of its keys, values as they are indexed, and
// without parts that have no effect.
type cond struct {
	op     Op
	kid    int64
	kids   []int64
	values []string
	lo, hi string
	conds  []cond
}

var (
	always = cond{op: OpTrue}
	never  = cond{op: OpFalse}
)

// where returns the condition for f and t together.
func (s *Store) where(ctx context.Context, f Filter, t Text) (cond, error) {
	leaves := 0
	if err := measure(f, 1, &leaves); err != nil {
		return cond{}, err
	}
	words := splitWords(t.Term)
	if leaves += len(words) + len(t.Fields); leaves > maxLeaves {
		return cond{}, tooMany()
	}
	keys := slices.Concat(keysOf(nil, f), lowerKeys(t.Fields))
	known, err := s.numbersOf(ctx, keys)
	if err != nil {
		return cond{}, err
	}
	c := translate(f, known)
	if strings.TrimSpace(t.Term) == "" {
		return c, nil
	}
	return both(c, search(t, words, known)), nil
}

// measure counts the conditions of a filter, each value as one.
func measure(f Filter, depth int, leaves *int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: filters may be nested %d deep", ErrTooComplex, maxDepth)
	}
	if len(f.Filters) == 0 {
		*leaves += max(1, len(f.Values))
	}
	if *leaves > maxLeaves {
		return tooMany()
	}
	for _, sub := range f.Filters {
		if err := measure(sub, depth+1, leaves); err != nil {
			return err
		}
	}
	return nil
}

func tooMany() error {
	return fmt.Errorf("%w: it may have %d conditions and values", ErrTooComplex, maxLeaves)
}

func keysOf(keys []string, f Filter) []string {
	if f.Key != "" {
		keys = appendKeys(keys, lowerKey(f.Key))
	}
	for _, sub := range f.Filters {
		keys = keysOf(keys, sub)
	}
	return keys
}

// appendKeys appends a key and those of the lists it may denote an item of.
func appendKeys(keys []string, key string) []string {
	keys = append(keys, key)
	for list := range listsOf(key) {
		keys = append(keys, list, list+listMark)
	}
	return keys
}

// listsOf yields the keys above a key, with the rest of the key below each: the key
// denotes the rest as an item if there are lists with the key above.
func listsOf(key string) iter.Seq2[string, string] {
	return func(yield func(list, item string) bool) {
		for i := range len(key) {
			if key[i] == '.' && i > 0 && i+1 < len(key) && !yield(key[:i], key[i+1:]) {
				return
			}
		}
	}
}

// item is the value of a key that denotes an item of a list.
const item = "true"

// items passes entities with a list that has the item the key denotes.
func items(key string, known map[string]int64) cond {
	var in []cond
	for list, text := range listsOf(key) {
		kid, ok := known[list]
		if _, marked := known[list+listMark]; ok && marked && !tooLong(text) {
			in = append(in, cond{op: OpIn, kid: kid, values: []string{text}})
		}
	}
	return either(in...)
}

func lowerKeys(keys []string) []string {
	lower := make([]string, len(keys))
	for i, key := range keys {
		lower[i] = lowerKey(key)
	}
	return lower
}

// translate converts a filter into a condition.
func translate(f Filter, known map[string]int64) cond {
	switch f.Op {
	case OpTrue:
		return always
	case OpAll, OpAny:
		subs := make([]cond, len(f.Filters))
		for i, sub := range f.Filters {
			subs[i] = translate(sub, known)
		}
		if f.Op == OpAny {
			return either(subs...)
		}
		return both(subs...)
	case OpNot:
		if len(f.Filters) != 1 {
			return never
		}
		return negate(translate(f.Filters[0], known))
	case OpHas, OpIn, OpPrefix:
		key, c := lowerKey(f.Key), never
		if kid, ok := known[key]; ok {
			c = leaf(f, kid)
		}
		if f.accepts(item) {
			return either(c, items(key, known))
		}
		return c
	}
	return never
}

// accepts reports whether a filter passes a field with the value.
func (f *Filter) accepts(value string) bool {
	switch f.Op {
	case OpHas:
		return true
	case OpIn:
		return slices.ContainsFunc(f.Values, func(v string) bool { return strings.EqualFold(db.Storable(v), value) })
	case OpPrefix:
		return len(f.Values) > 0 && strings.HasPrefix(value, strings.ToLower(db.Storable(f.Values[0])))
	}
	return false
}

// kindKey and namespaceKey are the fields that a reference begins with.
const (
	kindKey      = "kind"
	namespaceKey = "metadata.namespace"
)

// leaf converts a filter without subfilters into a condition.
func leaf(f Filter, kid int64) cond {
	c := cond{op: f.Op, kid: kid}
	if f.Op == OpHas {
		return c
	}
	for _, v := range f.Values {
		if v = db.Storable(v); !tooLong(v) {
			c.values = append(c.values, strings.ToLower(v))
		}
	}
	if len(c.values) == 0 {
		return never
	}
	if f.Op == OpPrefix {
		c.values = c.values[:1]
		return c
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	if lowerKey(f.Key) != kindKey || len(c.values) > maxRanges {
		return c
	}
	// The reference of an entity begins with its kind.
	var kinds []cond
	for _, v := range c.values {
		if isWord(v) {
			kinds = append(kinds, cond{op: opRange, kid: kid, lo: v + ":", hi: v + ";"})
		}
	}
	return either(kinds...)
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// both returns a condition that passes what passes each of the conditions.
func both(conds ...cond) cond {
	var flat []cond
	for _, c := range conds {
		switch c.op {
		case OpTrue:
		case OpFalse:
			return never
		case OpAll:
			flat = append(flat, c.conds...)
		default:
			flat = append(flat, c)
		}
	}
	return several(OpAll, flat, always)
}

// either returns a condition that passes what passes one of the conditions. Values of
// the same key become one list.
func either(conds ...cond) cond {
	var flat []cond
	at := map[int64]int{}
	add := func(c cond) {
		if c.op == OpIn {
			if i, ok := at[c.kid]; ok {
				flat[i].values = slices.Compact(slices.Sorted(slices.Values(slices.Concat(flat[i].values, c.values))))
				return
			}
			at[c.kid] = len(flat)
		}
		flat = append(flat, c)
	}
	for _, c := range conds {
		switch c.op {
		case OpTrue:
			return always
		case OpFalse:
		case OpAny:
			for _, sub := range c.conds {
				add(sub)
			}
		default:
			add(c)
		}
	}
	return several(OpAny, flat, never)
}

func several(op Op, conds []cond, none cond) cond {
	conds = dedupe(conds)
	switch len(conds) {
	case 0:
		return none
	case 1:
		return conds[0]
	}
	return cond{op: op, conds: conds}
}

// dedupe removes duplicates from conds.
func dedupe(conds []cond) []cond {
	if len(conds) < 2 {
		return conds
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(conds, func(c cond) bool {
		key := string(c.append(nil))
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

func negate(c cond) cond {
	switch c.op {
	case OpTrue:
		return never
	case OpFalse:
		return always
	case OpNot:
		return c.conds[0]
	}
	return cond{op: OpNot, conds: []cond{c}}
}

// search converts a full text search into conditions.
func search(t Text, words []string, known map[string]int64) cond {
	if len(t.Fields) == 0 {
		if len(words) == 0 {
			return never
		}
		var all []cond
		for _, w := range words {
			all = append(all, cond{op: opWord, values: []string{w}})
		}
		return both(all...)
	}
	term := strings.ToLower(db.Storable(strings.TrimSpace(t.Term)))
	c := cond{op: opInside, values: []string{term}}
	for _, key := range lowerKeys(t.Fields) {
		if kid, ok := known[key]; ok {
			c.kids = append(c.kids, kid)
		}
	}
	if len(c.kids) == 0 || term == "" || tooLong(term) {
		return never
	}
	slices.Sort(c.kids)
	c.kids = slices.Compact(c.kids)
	return c
}

// append appends a text that is the same for equal conditions, and different for all
// others.
func (c cond) append(b []byte) []byte {
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
	text(c.lo)
	text(c.hi)
	b = binary.AppendUvarint(b, uint64(len(c.conds)))
	for _, sub := range c.conds {
		b = sub.append(b)
	}
	return b
}
