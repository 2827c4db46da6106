package write

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/test/database"
)

// TestSyncAtOnceIsLikeModel has several callers write concurrently, some through
// another replica. The result is that of some serial order.
func TestSyncAtOnceIsLikeModel(t *testing.T) {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	onBoth(t, func(t *testing.T, open func() *Writer) {
		replicas := []*Writer{open(), open()}
		rapid.Check(t, func(rt *rapid.T) {
			for i := range 3 {
				push(t, replicas[0], Change{Provider: fmt.Sprint("p", i), Full: true})
			}
			have := map[string]owned{}
			for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
				var calls [3][]Change
				var by [3]*Writer
				for i := range calls {
					calls[i] = drawChanges(rt, have)
					by[i] = replicas[rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "replica")]
				}
				var got [3][]Result
				var errs [3]error
				var wg sync.WaitGroup
				for i := range calls {
					wg.Go(func() { got[i], errs[i] = by[i].SyncAll(rt.Context(), calls[i]) })
				}
				wg.Wait()
				if err := errors.Join(errs[:]...); err != nil {
					rt.Fatal(err)
				}
				var end []string
				if err := database.Each(rt.Context(), replicas[0].db.Write, "SELECT ref, provider, parent, hash FROM entities", nil, database.Into(&end)); err != nil {
					rt.Fatal(err)
				}
				slices.Sort(end)
				found := false
				for _, order := range orders {
					then := maps.Clone(have)
					var want [3][]Result
					for _, i := range order {
						want[i] = modelAll(calls[i], then)
					}
					if gocmp.Equal(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)) && slices.Equal(end, summary(then)) {
						have, found = then, true
						break
					}
				}
				if !found {
					rt.Fatalf("result matches no serial order: %+v\n%s", got, strings.Join(end, "\n"))
				}
				equals(rt, replicas[0], have)
			}
		})
	})
}

// summary returns the columns that identify the state of entities.
func summary(have map[string]owned) []string {
	var all []string
	for ref, o := range have {
		all = append(all, strings.Join([]string{ref, o.provider, o.Parent, entity.HashDocument(o.Node)}, "|"))
	}
	slices.Sort(all)
	return all
}

// TestTraces checks which reads conflict with which writes.
func TestTraces(t *testing.T) {
	named := func(all ...string) names {
		n := names{}
		for _, name := range all {
			n.add(name)
		}
		return n
	}
	ours := trace{providers: named("p"), refs: named("api:default/a"), sources: named("api:default/a", "group:default/g")}
	for name, c := range map[string]struct {
		sight readSet
		meets bool
	}{
		"nothing in common":                        {readSet{providers: []string{"q"}, refs: []string{"api:default/b"}, linked: []string{"api:default/b"}}, false},
		"the provider":                             {readSet{providers: []string{"p"}}, true},
		"an entity":                                {readSet{refs: []string{"api:default/a"}}, true},
		"an entity that gets a relation":           {readSet{linked: []string{"group:default/g"}}, true},
		"a group that has none and was not put":    {readSet{strangers: []string{"group:default/g"}}, false},
		"what was not there, and was put meantime": {readSet{strangers: []string{"api:default/a"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var k traces
			none := func() error { return nil }
			if err := errors.Join(k.leave(7, &ours, none), k.leave(8, &trace{}, none)); err != nil {
				t.Fatal(err)
			}
			if k.conflictFree(6, 9, &c.sight) == c.meets {
				t.Error("conflict detection is wrong, want the opposite")
			}
			if !k.conflictFree(7, 8, &c.sight) {
				t.Error("earlier write counts as a conflict")
			}
		})
	}
	var k traces
	failed := errors.New("it is full")
	if err := k.leave(7, &trace{}, func() error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if k.conflictFree(6, 8, &readSet{}) {
		t.Error("write that was not committed is recorded")
	}
	for n := int64(1); n <= 2*tracesKept; n++ {
		if err := k.leave(n, &trace{}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if !k.conflictFree(tracesKept, 2*tracesKept, &readSet{}) || k.conflictFree(tracesKept-1, 2*tracesKept, &readSet{}) || k.conflictFree(2*tracesKept-1, 2*tracesKept+2, &readSet{}) {
		t.Error("unknown revision counts as conflict-free, or a known one does not")
	}
}
