package mirror

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// observeUnit stores the present state of a unit from a source.
func observeUnit(t *testing.T, s *Mirror, source, unit, text string) {
	t.Helper()
	_, err := s.Observe(t.Context(), Observation{Source: source, List: "definitions", Put: []Object{
		{Source: source, List: "definitions", Key: unit, Unit: unit, Body: []byte(text)},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// unchecked returns the units that must be checked.
func unchecked(t *testing.T, s *Mirror) []Unit {
	t.Helper()
	units, err := s.Unchecked(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.CountUnchecked(t.Context())
	if err != nil || n != len(units) {
		t.Errorf("%d units were counted, want %d (%v)", n, len(units), err)
	}
	return units
}

func TestFindings(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		for i, source := range []string{"one", "two", "two"} {
			observeUnit(t, s, source, fmt.Sprint("unit", i), "first")
		}
		units := unchecked(t, s)
		if len(units) != 3 || units[0].Name != "unit0" {
			t.Fatalf("unchecked units are %v, want 3 from unit0", units)
		}
		check := func(units []Unit, found ...Finding) {
			t.Helper()
			if err := s.Checked(t.Context(), units, found); err != nil {
				t.Fatal(err)
			}
		}
		found := func(unit string, severity int, rule, text string) Finding {
			return Finding{Unit: unit, Severity: severity, Rule: rule, Body: []byte(text)}
		}
		check(units, found("unit1", 2, "C", "1"), found("unit0", 1, "B", "1"), found("unit1", 1, "B", "2"), found("unit1", 1, "B", "3"), found("unit2", 0, "A", "1"),
			found("stranger", 0, "A", "not asked for"))
		count := func(rule string, severity, findings, units int) Count {
			return Count{Rule: rule, Severity: severity, Findings: findings, Units: units}
		}
		warning := 1
		cases := map[string]struct {
			reason        string
			want          Wanted
			limit, offset int
			texts         []string
			counts        []Count
		}{
			"All": {
				reason: "The worst findings are first, those of a unit in their order.",
				limit:  10, texts: []string{"unit2 A 1", "unit0 B 1", "unit1 B 2", "unit1 B 3", "unit1 C 1"},
				counts: []Count{count("A", 0, 1, 1), count("B", 1, 3, 2), count("C", 2, 1, 1)},
			},
			"Page": {
				reason: "A page is a part of the findings, and the counts are of all.",
				limit:  2, offset: 1, texts: []string{"unit0 B 1", "unit1 B 2"},
				counts: []Count{count("A", 0, 1, 1), count("B", 1, 3, 2), count("C", 2, 1, 1)},
			},
			"Rule":     {reason: "Findings can be filtered by rule.", want: Wanted{Rule: "C"}, limit: 10, texts: []string{"unit1 C 1"}, counts: []Count{count("C", 2, 1, 1)}},
			"Unit":     {reason: "Findings can be filtered by unit.", want: Wanted{Unit: "unit0"}, limit: 10, texts: []string{"unit0 B 1"}, counts: []Count{count("B", 1, 1, 1)}},
			"Severity": {reason: "Findings can be filtered by severity.", want: Wanted{Severity: &warning}, limit: 1, texts: []string{"unit0 B 1"}, counts: []Count{count("B", 1, 3, 2)}},
			"Source": {
				reason: "Findings can be filtered by the sources that have the unit.",
				want:   Wanted{Sources: []string{"two"}}, limit: 10, texts: []string{"unit2 A 1", "unit1 B 2", "unit1 B 3", "unit1 C 1"},
				counts: []Count{count("A", 0, 1, 1), count("B", 1, 2, 1), count("C", 2, 1, 1)},
			},
			"NoSource": {reason: "An empty list of sources has no findings.", want: Wanted{Sources: []string{}}, limit: 10},
			"Nothing":  {reason: "A limit of zero returns only the counts.", limit: 0, counts: []Count{count("A", 0, 1, 1), count("B", 1, 3, 2), count("C", 2, 1, 1)}},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				findings, err := s.Findings(t.Context(), tc.want, tc.limit, tc.offset)
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for _, f := range findings {
					texts = append(texts, fmt.Sprintf("%s %s %s", f.Unit, f.Rule, f.Body))
				}
				if diff := gocmp.Diff(tc.texts, texts); diff != "" {
					t.Errorf("%s\n%s", tc.reason, diff)
				}
				counts, err := s.CountFindings(t.Context(), tc.want)
				if diff := gocmp.Diff(tc.counts, counts); diff != "" || err != nil {
					t.Errorf("%s\n%s (%v)", tc.reason, diff, err)
				}
			})
		}
		perUnit, err := s.CountUnitFindings(t.Context())
		if diff := gocmp.Diff(map[string]map[int]int{"unit0": {1: 1}, "unit1": {1: 2, 2: 1}, "unit2": {0: 1}}, perUnit); diff != "" || err != nil {
			t.Error(diff, err)
		}
		sources, err := s.UnitSources(t.Context(), []string{"unit2", "unit0"})
		if diff := gocmp.Diff(map[string][]string{"unit0": {"one"}, "unit2": {"two"}}, sources); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// TestCheckedLate stores findings of a unit after the unit has changed.
func TestCheckedLate(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *Mirror) {
		s := open()
		observeUnit(t, s, "one", "unit", "first")
		before := unchecked(t, s)
		observeUnit(t, s, "one", "unit", "second")
		texts := func() (out string) {
			t.Helper()
			findings, err := s.Findings(t.Context(), Wanted{}, 10, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				out += string(f.Body)
			}
			return out
		}
		check := func(units []Unit, text string) {
			t.Helper()
			if err := s.Checked(t.Context(), units, []Finding{{Unit: "unit", Rule: "A", Body: []byte(text)}}); err != nil {
				t.Fatal(err)
			}
		}
		check(before, "of the first")
		if got := texts(); got != "" || len(unchecked(t, s)) != 1 {
			t.Errorf("outdated findings were stored: %q", got)
		}
		now := unchecked(t, s)
		check(now, "of the second")
		check(now, "of a replica that was slower")
		check(before, "of one that was slower still")
		if got := texts(); got != "of the second" || len(unchecked(t, s)) != 0 {
			t.Errorf("findings are %q, want those of the second check", got)
		}
		if err := s.Uncheck(t.Context(), []string{"unit"}); err != nil {
			t.Fatal(err)
		}
		check(now, "of what was asked for before")
		if got := texts(); got != "of the second" || len(unchecked(t, s)) != 1 {
			t.Errorf("findings before the new check are %q, want the old ones", got)
		}
		// A removed unit has no findings.
		if _, err := s.Observe(t.Context(), Observation{Source: "one", List: "definitions", Complete: true}); err != nil {
			t.Fatal(err)
		}
		if err := s.Checked(t.Context(), unchecked(t, s), nil); err != nil {
			t.Fatal(err)
		}
		if got := texts(); got != "" {
			t.Errorf("removed unit has the findings %q", got)
		}
	})
}
