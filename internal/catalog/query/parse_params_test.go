package query

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store"
)

func TestOrders(t *testing.T) {
	cases := map[string]struct {
		reason string
		read   func([]string) ([]store.Order, error)
		params []string
		want   []store.Order
		err    string
	}{
		"Listing": {
			reason: "In order parameters the direction is first, and fields are not case-sensitive.",
			read:   ParseOrders, params: []string{"asc:metadata.name", "desc: Kind"},
			want: []store.Order{{Field: "metadata.name"}, {Field: "kind", Desc: true}},
		},
		"ListingOdd": {
			reason: "In order parameters the direction is required.",
			read:   ParseOrders, params: []string{"kind"},
			err: `Invalid order parameter "kind", expected "<asc or desc>:<field name>"`,
		},
		"Query": {
			reason: "In order fields the direction is last and optional.",
			read:   ParseOrderFields, params: []string{"Kind", "metadata.name,desc", "spec.type,asc"},
			want: []store.Order{{Field: "kind"}, {Field: "metadata.name", Desc: true}, {Field: "spec.type"}},
		},
		"QueryOdd": {
			reason: "In order fields the direction must not be empty.",
			read:   ParseOrderFields, params: []string{"kind,"},
			err: "Invalid order field order, must be asc or desc",
		},
		"Nameless": {
			reason: "An order field needs a name.",
			read:   ParseOrderFields, params: []string{" ,asc"},
			err: "Invalid order, a field has no name",
		},
		"Many": {
			reason: "The number of order fields is limited, as each needs a lookup.",
			read:   ParseOrderFields, params: make([]string, maxOrders+1),
			err: "Invalid order, it has more than 10 fields",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.read(tc.params)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\n%q: error -want +got:\n%s", tc.reason, tc.params, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\n%q: -want +got:\n%s", tc.reason, tc.params, diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	cases := map[string]struct {
		reason string
		term   string
		fields []string
		want   store.Text
		err    string
	}{
		"None":   {reason: "A blank term is no search.", term: "  ", fields: []string{"kind"}},
		"Fields": {reason: "A search is not case-sensitive.", term: " Demo ", fields: []string{"metadata.Name"}, want: store.Text{Term: "demo", Fields: []string{"metadata.name"}}},
		"Long":   {reason: "The length of a term is limited.", term: strings.Repeat("x", maxTerm+1), err: "Invalid fullTextFilter, its term has more than 500 bytes"},
		"Many":   {reason: "The number of fields is limited, as each needs a lookup.", term: "x", fields: make([]string, maxTextFields+1), err: "Invalid fullTextFilter, it has more than 50 fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseText(tc.term, tc.fields)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\nerror -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
