// Package idset stores sets of entity ids in rows of the database. A small set is one row
// with a list; a larger one has a row for each block of 65,536 ids, so that a change of one
// id writes at most 8 KB.
package idset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// Set is a set of ids.
type Set = roaring.Bitmap

const (
	// List is the block of a row that has all ids of a small set.
	List = -1
	// MaxList is how many ids a list has at most.
	MaxList = 1024
)

// Row is a part of a set as it is stored.
type Row struct {
	// Block is List, or the number of a block.
	Block int64
	// N is the number of ids in the row.
	N int
	// IDs are the encoded ids.
	IDs []byte
}

// Block returns the number of the block of an id.
func Block(id uint32) int64 { return int64(id >> 16) }

// Rows returns the rows of a set. If blocks is set, they are blocks, however small the set
// is.
func Rows(set *Set, blocks bool) ([]Row, error) {
	n := int(set.GetCardinality())
	if n == 0 {
		return nil, nil
	}
	if n <= MaxList && !blocks {
		return []Row{{Block: List, N: n, IDs: AppendList(nil, set.ToArray())}}, nil
	}
	var rows []Row
	for from := int64(set.Minimum()); from >= 0; {
		block := Block(uint32(from))
		part := roaring.New()
		part.AddRange(uint64(block)<<16, uint64(block+1)<<16)
		part.And(set)
		data, err := part.ToBytes()
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{Block: block, N: int(part.GetCardinality()), IDs: data})
		from = -1
		if last := uint64(block+1) << 16; last <= uint64(set.Maximum()) {
			from = set.NextValue(uint32(last))
		}
	}
	return rows, nil
}

// AppendList appends ids, which must be ascending, as a list: the differences between them
// as variable-length numbers.
func AppendList(dst []byte, ids []uint32) []byte {
	last := uint32(0)
	for _, id := range ids {
		dst = binary.AppendUvarint(dst, uint64(id-last))
		last = id
	}
	return dst
}

var errDamaged = errors.New("cannot decode a set of ids: the row is damaged")

// AppendIDs appends the ids of a list.
func AppendIDs(dst []uint32, list []byte) ([]uint32, error) {
	last := uint64(0)
	for len(list) > 0 {
		step, n := binary.Uvarint(list)
		if last += step; n <= 0 || last > 1<<32-1 {
			return nil, errDamaged
		}
		dst, list = append(dst, uint32(last)), list[n:]
	}
	return dst, nil
}

// Add adds the ids of a row to a set. The row may be reused afterwards.
func Add(set *Set, block int64, ids []byte) error {
	if block == List {
		list, err := AppendIDs(make([]uint32, 0, 64), ids)
		set.AddMany(list)
		return err
	}
	var part Set
	// The containers of the set are the decoded ones, so they need their own memory.
	if _, err := part.FromBuffer(bytes.Clone(ids)); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	if part.IsEmpty() || Block(part.Minimum()) != block || Block(part.Maximum()) != block {
		return errDamaged
	}
	set.Or(&part)
	return nil
}
