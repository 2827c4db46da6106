package spool

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record is a record of TestSorter.
type record struct {
	Text   string
	Number int64
	Bool   bool
	IDs    []uint32
}

// TestSorter sorts records, short and longer than a piece, in memory and in the file, twice.
func TestSorter(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	text := rapid.SampledFrom([]string{"", "a", "b", "api:default/x", strings.Repeat("x", pieceBytes)})
	compare := func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Number, b.Number), slices.Compare(a.IDs, b.IDs))
	}
	var held, spilled int
	rapid.Check(t, func(rt *rapid.T) {
		s := Sorter[record]{
			Compare: compare,
			Encode: func(dst []byte, r record) []byte {
				return AppendIDs(AppendBool(AppendNumber(AppendText(dst, r.Text), r.Number), r.Bool), r.IDs)
			},
			Decode: func(p *Piece) record { return record{p.Text(), p.Number(), p.Bool(), p.IDs()} },
			Size:   func(r record) int { return len(r.Text) },
			Most:   rapid.SampledFrom([]int{0, 1, 1000}).Draw(rt, "bytes in memory"),
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		want := []record{}
		for i := range rapid.IntRange(0, 60).Draw(rt, "records") {
			r := record{text.Draw(rt, "text"), rapid.Int64().Draw(rt, "number"), rapid.Bool().Draw(rt, "bool"), rapid.SliceOf(rapid.Uint32()).Draw(rt, "ids")}
			// Equal records would be in any order.
			r.IDs = append(r.IDs, uint32(i))
			want = append(want, r)
			if rapid.IntRange(0, 9).Draw(rt, "run") == 9 {
				if err := s.PutRun(slices.Values([]record{r})); err != nil {
					rt.Fatal(err)
				}
			} else if err := s.Put(r); err != nil {
				rt.Fatal(err)
			}
		}
		slices.SortFunc(want, compare)
		if s.texts == nil {
			held++
		} else {
			spilled++
		}
		for range 2 {
			got := []record{}
			for r, err := range s.All() {
				if err != nil {
					rt.Fatal(err)
				}
				got = append(got, r)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				rt.Fatalf("records differ (-want +got):\n%s", diff)
			}
		}
	})
	if held == 0 || spilled == 0 {
		t.Errorf("%d sorters held all records, and %d did not", held, spilled)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v (%v)", left, err)
	}
}
