package idset

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// maxDense is up to which id a Counter has a bit for each id, which take 8 MB.
const maxDense = 1 << 26

// Counter counts how many ids of rows are in a set.
type Counter struct {
	set *Set
	// dense has a bit for each id, unless there are too many.
	dense []uint64
	part  roaring.Bitmap
	row   []byte
}

// NewCounter returns a counter for a set, which must not change.
func NewCounter(set *Set) *Counter {
	c := &Counter{set: set}
	if !set.IsEmpty() && set.Maximum() < maxDense {
		c.dense = set.ToDense()
	}
	return c
}

// Count returns how many ids of a row are in the set.
func (c *Counter) Count(block int64, ids []byte) (int, error) {
	if block == List {
		return c.countList(ids)
	}
	// The decoded containers refer to the row, whose memory may be used again.
	c.row = append(c.row[:0], ids...)
	if _, err := c.part.FromBuffer(c.row); err != nil {
		return 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return int(c.part.AndCardinality(c.set)), nil
}

func (c *Counter) countList(list []byte) (int, error) {
	n, last := 0, uint64(0)
	for len(list) > 0 {
		step, size := binary.Uvarint(list)
		if last += step; size <= 0 || last > 1<<32-1 {
			return 0, errDamaged
		}
		list = list[size:]
		if c.dense == nil {
			if c.set.ContainsInt(int(last)) {
				n++
			}
		} else if word := last >> 6; word < uint64(len(c.dense)) {
			n += int(c.dense[word] >> (last & 63) & 1)
		}
	}
	return n, nil
}
