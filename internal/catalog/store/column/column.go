package column

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"example.dev/ingestor/internal/catalog/store/index"
)

// fieldColumn holds the values of one key in memory, indexed by the numbers of
// entities. The set of values that an entity has is a combination. Most entities share
// theirs with others, so that counting and comparing is done once per combination.
type fieldColumn struct {
	values  []fieldValue
	numbers map[index.Field]uint32
	// combos are numbers of values. The first combination is empty.
	combos  [][]uint32
	byCombo map[string]uint32
	// of has the combination of each entity.
	of []uint32
	// bytes is about how much memory values and combinations take.
	bytes int
}

// fieldValue is a value in lower case, or index.NoValue, and in its original spelling.
type fieldValue struct{ value, written string }

// valueWeight is the memory that a value or a combination takes besides its text.
const valueWeight = 100

func newColumn(entities int) *fieldColumn {
	return &fieldColumn{
		numbers: map[index.Field]uint32{}, combos: [][]uint32{nil}, byCombo: map[string]uint32{"": 0},
		of: make([]uint32, entities),
	}
}

// weight returns about how many bytes the column takes.
func (c *fieldColumn) weight() int { return c.bytes + 4*len(c.of) }

// number returns the number of a value, and assigns one if there is none.
func (c *fieldColumn) number(value, original string) uint32 {
	key := index.Field{Value: value, Original: original}
	n, ok := c.numbers[key]
	if !ok {
		// The strings may be substrings of longer ones, which would stay in memory.
		key = index.Field{Value: strings.Clone(value), Original: strings.Clone(original)}
		n = uint32(len(c.values))
		c.values = append(c.values, fieldValue{key.Value, cmp.Or(key.Original, key.Value)})
		c.numbers[key] = n
		c.bytes += len(value) + len(original) + valueWeight
	}
	return n
}

// combo returns the number of a combination of values, which it sorts.
func (c *fieldColumn) combo(values []uint32) uint32 {
	slices.Sort(values)
	key := make([]byte, 0, 64)
	for _, v := range values {
		key = binary.LittleEndian.AppendUint32(key, v)
	}
	n, ok := c.byCombo[string(key)]
	if !ok {
		n = uint32(len(c.combos))
		c.combos = append(c.combos, slices.Clone(values))
		c.byCombo[string(key)] = n
		c.bytes += 2*len(key) + valueWeight
	}
	return n
}

// having adds to set the entities with a value for which passes returns true.
func (c *fieldColumn) having(set Set, passes func(value string) bool) {
	ok := make([]bool, len(c.values))
	some := false
	for i := range c.values {
		ok[i] = passes(c.values[i].value)
		some = some || ok[i]
	}
	if !some {
		return
	}
	combos := make([]bool, len(c.combos))
	for i, values := range c.combos {
		combos[i] = slices.ContainsFunc(values, func(v uint32) bool { return ok[v] })
	}
	for entity, combo := range c.of {
		if combos[combo] {
			set.set(uint32(entity))
		}
	}
}

// count calls add with each of the values that entities of a set have, in their original
// spelling, and how many have it.
func (c *fieldColumn) count(set Set, add func(value string, n int)) {
	byCombo := make([]int, len(c.combos))
	for entity := range set.all() {
		byCombo[c.of[entity]]++
	}
	counts := make([]int, len(c.values))
	for combo, n := range byCombo {
		if n == 0 {
			continue
		}
		for _, value := range c.combos[combo] {
			counts[value] += n
		}
	}
	for i, n := range counts {
		if n > 0 && c.values[i].value != index.NoValue {
			add(c.values[i].written, n)
		}
	}
}
