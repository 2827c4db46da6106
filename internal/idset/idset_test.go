package idset

import (
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
)

// TestRows encodes sets as rows and decodes them.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, below uint32) []uint32 {
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = r.Uint32N(below)
		}
		return ids
	}
	cases := map[string]struct {
		reason string
		ids    []uint32
		blocks bool
		// rows is the number of rows.
		rows int
	}{
		"Empty":        {"An empty set has no row.", nil, false, 0},
		"Zero":         {"The first id is zero.", []uint32{0}, false, 1},
		"Last":         {"The last id has the last block.", []uint32{1<<32 - 1}, true, 1},
		"Far":          {"A small set has one row, however far its ids are apart.", []uint32{1, 1 << 20, 1 << 31}, false, 1},
		"FarBlocks":    {"Blocks have a row each.", []uint32{1, 1 << 20, 1 << 31}, true, 3},
		"Small":        {"A set of 1,024 ids is a list.", random(2000, 1<<30)[:1000], false, 1},
		"Large":        {"A larger set has a row for each block.", random(5000, 1<<17), false, 2},
		"Dense":        {"A dense block is a bitmap.", random(200_000, 1<<16), false, 1},
		"Neighbouring": {"Blocks without ids between two others have no row.", append(random(2000, 1<<16), 5<<16, 5<<16+1), false, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := roaring.BitmapOf(tc.ids...)
			rows, err := Rows(want, tc.blocks)
			if err != nil || len(rows) != tc.rows {
				t.Fatalf("%s\nset has %d rows (%v), want %d", tc.reason, len(rows), err, tc.rows)
			}
			got, n := roaring.New(), 0
			for _, row := range rows {
				if err := Add(got, row.Block, row.IDs); err != nil {
					t.Fatal(err)
				}
				// The buffer is reused by the database.
				clear(row.IDs)
				n += row.N
				if len(row.IDs) > 9000 {
					t.Errorf("row has %d bytes", len(row.IDs))
				}
			}
			if !got.Equals(want) || n != int(want.GetCardinality()) {
				t.Errorf("%s\nset has %d ids (%d in its rows) after decoding, want %d", tc.reason, got.GetCardinality(), n, want.GetCardinality())
			}
		})
	}
}

// TestCounter counts the ids of rows that are in sets of ids up to different maxima.
func TestCounter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, below := range []uint32{50, 70_000, 1 << 25, 1<<32 - 1} {
		for range 50 {
			set, of := roaring.New(), roaring.New()
			for range r.IntN(3000) {
				id := r.Uint32N(below)
				if r.IntN(2) == 0 {
					set.Add(id)
				}
				if r.IntN(2) == 0 {
					of.Add(id)
				}
			}
			c := NewCounter(set)
			rows, err := Rows(of, r.IntN(2) == 0)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, row := range rows {
				some, err := c.Count(row.Block, row.IDs)
				if err != nil {
					t.Fatal(err)
				}
				n += some
				clear(row.IDs)
			}
			if want := int(set.AndCardinality(of)); n != want {
				t.Errorf("%d of %d ids below %d are in the set, want %d", n, of.GetCardinality(), below, want)
			}
		}
	}
}

// FuzzAdd decodes any bytes.
func FuzzAdd(f *testing.F) {
	rows, err := Rows(roaring.BitmapOf(1, 2, 70_000), true)
	if err != nil {
		f.Fatal(err)
	}
	for _, row := range rows {
		f.Add(row.Block, row.IDs)
	}
	f.Add(int64(List), AppendList(nil, []uint32{3, 500, 1 << 31}))
	f.Add(int64(List), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, block int64, ids []byte) {
		if block < 0 {
			block = List
		}
		set := roaring.New()
		err := Add(set, block, ids)
		n, failed := NewCounter(roaring.BitmapOf(1, 3, 70_000)).Count(block, ids)
		if block == List && (err == nil) != (failed == nil) {
			t.Errorf("adding ends with %v, counting with %v", err, failed)
		}
		if err != nil || block != List {
			return
		}
		if n == 0 && set.Contains(3) {
			t.Error("an id is not counted")
		}
		again, err := AppendIDs(nil, AppendList(nil, set.ToArray()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(set.ToArray(), again, cmp.Transformer("", func(a []uint32) []uint32 { return append([]uint32{}, a...) })); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	})
}
