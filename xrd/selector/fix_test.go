package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/words"
)

func TestFixFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, selector string
		set              map[string]string
		want             Fix
	}{
		"Missing":  {"A key that is missing gets the first value.", "team in (red,blue)", nil, Fix{Key: "team", Value: "blue"}},
		"Other":    {"Another value is replaced.", "team=red", map[string]string{"team": "blue, which"}, Fix{Key: "team", Value: "red"}},
		"Exists":   {"Any value is enough.", "team", nil, Fix{Key: "team", Value: "true"}},
		"Absent":   {"A key that must be absent is removed.", "!team", map[string]string{"team": "x"}, Fix{Key: "team", Remove: true}},
		"NotIn":    {"So is a key with a value that is excluded.", "team notin (red,blue)", map[string]string{"team": "red"}, Fix{Key: "team", Remove: true}},
		"Above":    {"A number above the bound.", "size>5", map[string]string{"size": "x"}, Fix{Key: "size", Value: "6"}},
		"Below":    {"A number below the bound.", "size<5", map[string]string{"size": "7"}, Fix{Key: "size", Value: "4"}},
		"Second":   {"The term that is not met, not one that is.", "team=red,zone=a", map[string]string{"team": "red"}, Fix{Key: "zone", Value: "a"}},
		"Spelling": {"Keys are in the contract's vocabulary.", "openportal.dev/ingest=true", nil, Fix{Key: words.LabelIngest, Value: "true"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			why := s.Refusal("label", tc.set)
			got, ok := s.FixFor("label", why)
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok {
				t.Errorf("%s\nfix of %q (%v, -want +got):\n%s", tc.reason, why, ok, diff)
			}
			if _, ok := s.FixFor("annotation", why); ok {
				t.Errorf("a reason about labels was taken for one about annotations")
			}
		})
	}
}
