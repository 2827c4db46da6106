package column

import (
	"iter"
	"math/bits"
)

// Set is a set of entities, by their numbers.
type Set []uint64

func newSet(n int) Set { return make(Set, (n+63)/64) }

func (b Set) set(i uint32)   { b[i/64] |= 1 << (i % 64) }
func (b Set) clear(i uint32) { b[i/64] &^= 1 << (i % 64) }

// And removes what is not in another set.
func (b Set) And(as Set) {
	for i := range b {
		b[i] &= as[i]
	}
}

// Or adds what is in another set.
func (b Set) Or(as Set) {
	for i := range b {
		b[i] |= as[i]
	}
}

// Without removes what is in another set.
func (b Set) Without(as Set) {
	for i := range b {
		b[i] &^= as[i]
	}
}

// Count returns the number of entities.
func (b Set) Count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the numbers in ascending order.
func (b Set) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
