package write

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestRuns checks that any number of runs, short and longer than a piece, is merged in order.
func TestRuns(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rapid.Check(t, func(rt *rapid.T) {
		edges := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) edge {
			text := rapid.SampledFrom([]string{"", "a", "b", "api:default/x", string(make([]byte, pieceBytes))})
			return edge{text.Draw(rt, "source"), text.Draw(rt, "type"), text.Draw(rt, "target"), text.Draw(rt, "declarer")}
		}))
		l := newEdgeLog(rapid.SampledFrom([]int{0, 1, 1000}).Draw(rt, "bytes of a log"))
		defer func() {
			if err := l.close(); err != nil {
				t.Error(err)
			}
		}()
		var want []loggedEdge
		for range rapid.IntRange(0, 5).Draw(rt, "parts") {
			insert, remove := edges.Draw(rt, "insert"), edges.Draw(rt, "remove")
			for _, e := range insert {
				want = append(want, loggedEdge{e, false})
			}
			for _, e := range remove {
				want = append(want, loggedEdge{e, true})
			}
			if err := l.log(insert, remove); err != nil {
				rt.Fatal(err)
			}
		}
		if err := l.spill(); err != nil {
			rt.Fatal(err)
		}
		merged, err := l.merge()
		if err != nil {
			rt.Fatal(err)
		}
		var got []loggedEdge
		for e, ok := merged.peek(); ok; e, ok = merged.peek() {
			got = append(got, e)
			if err := merged.skip(); err != nil {
				rt.Fatal(err)
			}
		}
		if !slices.IsSortedFunc(got, l.compare) {
			rt.Fatal("the records are not in order")
		}
		all := func(a, b loggedEdge) int {
			if c := l.compare(a, b); c != 0 || a.removed == b.removed {
				return c
			}
			if a.removed {
				return 1
			}
			return -1
		}
		slices.SortFunc(got, all)
		slices.SortFunc(want, all)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(loggedEdge{}, edge{})); diff != "" {
			rt.Fatalf("records differ (-want +got):\n%s", diff)
		}
	})
}
