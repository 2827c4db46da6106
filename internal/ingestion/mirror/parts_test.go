package mirror

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestParts checks which units become dirty when the parts of composites come and go.
func TestParts(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		a, b := definition("a", 1, `"a"`), definition("b", 1, `"b"`)
		whole := composite("whole", a.Kind, 1, "x")
		whole.Parts = []string{b.Kind, "other.io/Bucket", ""}
		mustObserve(t, s, Observation{Source: "s", List: "definitions", Put: []Object{a, b}})
		mustObserve(t, s, Observation{Source: "s", List: "as", Put: []Object{whole}})
		settle(t, s)
		part := func(version int64, body string) Observation {
			return Observation{Source: "s", List: "bs", Put: []Object{composite("part", b.Kind, version, body)}}
		}
		both := []string{a.Unit, b.Unit}
		steps := []struct {
			reason string
			do     func()
			want   []string
		}{
			{"A part that appears concerns the composites that may compose it.", func() { mustObserve(t, s, part(1, "x")) }, both},
			{"A part that changes concerns only its own unit.", func() { mustObserve(t, s, part(2, "y")) }, []string{b.Unit}},
			{"A part that disappears concerns them.", func() {
				mustObserve(t, s, Observation{Source: "s", List: "bs", Gone: []Gone{{Key: "part", Version: 3}}})
			}, both},
			{"A part that a complete list no longer has concerns them.", func() {
				mustObserve(t, s, part(4, "x"))
				settle(t, s)
				mustObserve(t, s, Observation{Source: "s", List: "bs", Complete: true, Version: 5})
			}, both},
			{"The definition of parts concerns them.", func() {
				mustObserve(t, s, Observation{Source: "s", List: "definitions", Gone: []Gone{{Key: b.Key, Version: 6}}})
			}, both},
			{"A list of parts that is dropped concerns them.", func() {
				again := b
				again.Version = 7
				mustObserve(t, s, Observation{Source: "s", List: "definitions", Put: []Object{again}})
				mustObserve(t, s, part(8, "x"))
				settle(t, s)
				if _, err := s.DropLists(t.Context(), "s", []string{"bs"}); err != nil {
					t.Fatal(err)
				}
			}, both},
			{"Without composites that compose them, parts concern their own unit.", func() {
				if _, err := s.DropLists(t.Context(), "s", []string{"as"}); err != nil {
					t.Fatal(err)
				}
				settle(t, s)
				mustObserve(t, s, part(9, "x"))
			}, []string{b.Unit}},
		}
		for _, step := range steps {
			step.do()
			if diff := gocmp.Diff(step.want, settle(t, s)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", step.reason, diff)
			}
		}
		found, err := s.Instances(t.Context(), b.Kind, []string{"part", "part", "nosuch"})
		if err != nil || len(found) != 1 || found[0].Key != "part" || found[0].Body != nil {
			t.Errorf("instances are %+v (error %v), want the part without its body", found, err)
		}
		found, err = s.Defining(t.Context(), []string{b.Kind, a.Claim, "x.io/None"})
		if err != nil || len(found) != 2 {
			t.Errorf("definitions are %+v (error %v), want two", found, err)
		}
	})
}

// TestManyParts checks that a composite with ever new parts does not fill the database.
func TestManyParts(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		for round := range int64(12) {
			o := composite("whole", "x.io/Whole", round+1, fmt.Sprint(round))
			for i := range 500 {
				o.Parts = append(o.Parts, fmt.Sprintf("x.io/Part%d-%d", round, i))
			}
			mustObserve(t, s, Observation{Source: "s", List: "l", Put: []Object{o}})
		}
		var n int
		if err := s.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM parts").Scan(&n); err != nil || n != mostParts {
			t.Errorf("%d parts are stored (error %v), want %d", n, err, mostParts)
		}
	})
}
