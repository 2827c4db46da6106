package query

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/internal/catalog/store"
)

func TestParams(t *testing.T) {
	cases := map[string]struct {
		reason, raw string
		read        func(raw string) (any, error)
		want        any
		err         string
	}{
		"Semicolon":     {reason: "A semicolon divides nothing.", raw: "a=b;c", read: oneOf, want: "b;c"},
		"Percent":       {reason: "An address that is none.", raw: "a=%zz", read: oneOf, err: `Malformed query string: invalid URL escape "%zz"`},
		"One":           {reason: "Percent signs are decoded once.", raw: "a=%2541", read: oneOf, want: "%41"},
		"OneTwice":      {reason: "Which one would it be?", raw: "a=1&a=2", read: oneOf, err: "request/query/a must be string"},
		"OneNUL":        {reason: "No database can be asked for it.", raw: "a=%00", read: oneOf, err: "Invalid a, it has a NUL or is not UTF-8"},
		"Count":         {reason: "A number.", raw: "a=12", read: countOf, want: 12},
		"CountNone":     {reason: "The default.", raw: "b=1", read: countOf, want: 7},
		"CountText":     {reason: "No number.", raw: "a=1x", read: countOf, err: "request/query/a must be integer"},
		"CountNegative": {reason: "Less than none.", raw: "a=-1", read: countOf, err: "request/query/a must be >= 0"},
		"CountHuge":     {reason: "More than any.", raw: "a=" + strings.Repeat("9", 30), read: countOf, err: "request/query/a must be <= 2147483647"},
		"Flag":          {reason: "Yes, in any case.", raw: "a=Yes", read: flagOf, want: true},
		"FlagAlone":     {reason: "Its name says it.", raw: "a", read: flagOf, want: true},
		"FlagOff":       {reason: "No.", raw: "a=off", read: flagOf, want: false},
		"FlagNone":      {reason: "No as well.", raw: "", read: flagOf, want: false},
		"FlagOdd":       {reason: "Neither.", raw: "a=maybe", read: flagOf, err: "request/query/a must be boolean"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.read(tc.raw)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\n%q: error -want +got:\n%s", tc.reason, tc.raw, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\n%q: -want +got:\n%s", tc.reason, tc.raw, diff)
			}
		})
	}
}

func oneOf(raw string) (any, error) {
	q, err := Params(raw)
	if err != nil {
		return nil, err
	}
	v, _, err := One(q, "a")
	return v, err
}

func countOf(raw string) (any, error) {
	q, err := Params(raw)
	if err != nil {
		return nil, err
	}
	return Count(q, "a", 7)
}

func flagOf(raw string) (any, error) {
	q, err := Params(raw)
	if err != nil {
		return nil, err
	}
	return Flag(q, "a")
}

func TestOrders(t *testing.T) {
	cases := map[string]struct {
		reason string
		read   func([]string) ([]store.Order, error)
		params []string
		want   []store.Order
		err    string
	}{
		"Listing": {
			reason: "The direction comes first, and fields have no case.",
			read:   Orders, params: []string{"asc:metadata.name", "desc: Kind"},
			want: []store.Order{{Field: "metadata.name"}, {Field: "kind", Desc: true}},
		},
		"ListingOdd": {
			reason: "And must be there.",
			read:   Orders, params: []string{"kind"},
			err: `Invalid order parameter "kind", expected "<asc or desc>:<field name>"`,
		},
		"Query": {
			reason: "The direction comes last, and may be left out.",
			read:   OrderFields, params: []string{"Kind", "metadata.name,desc", "spec.type,asc"},
			want: []store.Order{{Field: "kind"}, {Field: "metadata.name", Desc: true}, {Field: "spec.type"}},
		},
		"QueryOdd": {
			reason: "But not be empty.",
			read:   OrderFields, params: []string{"kind,"},
			err: "Invalid order field order, must be asc or desc",
		},
		"Nameless": {
			reason: "A field has a name.",
			read:   OrderFields, params: []string{" ,asc"},
			err: "Invalid order, a field has no name",
		},
		"Many": {
			reason: "Each costs a look-up.",
			read:   OrderFields, params: make([]string, maxOrders+1),
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
		"None":   {reason: "Nothing is searched for.", term: "  ", fields: []string{"kind"}},
		"Fields": {reason: "Case does not matter.", term: " Demo ", fields: []string{"metadata.Name"}, want: store.Text{Term: "demo", Fields: []string{"metadata.name"}}},
		"Long":   {reason: "No value is that long.", term: strings.Repeat("x", maxTerm+1), err: "Invalid fullTextFilter, its term has more than 500 bytes"},
		"Many":   {reason: "Each costs a look-up.", term: "x", fields: make([]string, maxTextFields+1), err: "Invalid fullTextFilter, it has more than 50 fields"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Text(tc.term, tc.fields)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("%s\nerror -want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
