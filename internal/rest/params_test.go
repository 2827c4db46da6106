package rest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParams(t *testing.T) {
	cases := map[string]struct {
		reason, raw string
		read        func(raw string) (any, error)
		want        any
		err         string
	}{
		"Semicolon":     {reason: "A semicolon is literal.", raw: "a=b;c", read: oneOf, want: "b;c"},
		"Percent":       {reason: "An invalid escape is refused.", raw: "a=%zz", read: oneOf, err: `Malformed query string: invalid URL escape "%zz"`},
		"One":           {reason: "Percent signs are decoded once.", raw: "a=%2541", read: oneOf, want: "%41"},
		"OneTwice":      {reason: "A repeated parameter is refused as ambiguous.", raw: "a=1&a=2", read: oneOf, err: "request/query/a must be string"},
		"OneNUL":        {reason: "A parameter with NUL is refused.", raw: "a=%00", read: oneOf, err: "Invalid a, it has a NUL or is not UTF-8"},
		"Count":         {reason: "A number is parsed.", raw: "a=12", read: countOf, want: 12},
		"CountNone":     {reason: "A missing number has the default.", raw: "b=1", read: countOf, want: 7},
		"CountText":     {reason: "A text is not a number.", raw: "a=1x", read: countOf, err: "request/query/a must be integer"},
		"CountNegative": {reason: "A negative number is refused.", raw: "a=-1", read: countOf, err: "request/query/a must be >= 0"},
		"CountHuge":     {reason: "A number above the range is refused.", raw: "a=" + strings.Repeat("9", 30), read: countOf, err: "request/query/a must be <= 2147483647"},
		"Flag":          {reason: "A flag can be yes in any case.", raw: "a=Yes", read: flagOf, want: true},
		"FlagAlone":     {reason: "A flag without a value is true.", raw: "a", read: flagOf, want: true},
		"FlagOff":       {reason: "No.", raw: "a=off", read: flagOf, want: false},
		"FlagNone":      {reason: "A missing flag is false.", raw: "", read: flagOf, want: false},
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

// message returns the text of an error, empty for none.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
