package store

import (
	"iter"
	"math/bits"
)

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i uint32)   { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i uint32) { b[i/64] &^= 1 << (i % 64) }

func (b bitset) and(as bitset) {
	for i := range b {
		b[i] &= as[i]
	}
}

func (b bitset) or(as bitset) {
	for i := range b {
		b[i] |= as[i]
	}
}

func (b bitset) without(as bitset) {
	for i := range b {
		b[i] &^= as[i]
	}
}

func (b bitset) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the numbers in ascending order.
func (b bitset) all() iter.Seq[uint32] {
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
