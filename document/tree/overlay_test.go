package tree_test

import (
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func TestOverlay(t *testing.T) {
	cases := map[string]struct{ reason, under, over, want string }{
		"Maps":   {"maps are merged at every depth", `{"a":{"b":1,"c":2},"d":3}`, `{"a":{"c":4,"e":5},"f":6}`, `{"a":{"b":1,"c":4,"e":5},"d":3,"f":6}`},
		"Lists":  {"a list is one value", `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"Kinds":  {"the upper one says what kind it is", `{"a":{"b":1}}`, `{"a":"b"}`, `{"a":"b"}`},
		"Null":   {"null is a value", `{"a":{"b":1}}`, `{"a":null}`, `{"a":null}`},
		"Empty":  {"an empty map says nothing", `{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":1}}`},
		"Scalar": {"so it is at the top", `1`, `2`, `2`},
	}
	parse := func(s string) *tree.Node {
		docs, errs := parser.DecodeBytes([]byte(s))
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		return docs[0]
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			under, over := parse(tc.under), parse(tc.over)
			if got := string(tree.AppendJSON(nil, tree.Overlay(under, over), "")); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
			if !under.Equal(parse(tc.under)) || !over.Equal(parse(tc.over)) {
				t.Errorf("%s: arguments were changed", tc.reason)
			}
		})
	}
	one := tree.Number(1)
	if tree.Overlay(nil, one) != one || tree.Overlay(one, nil) != one {
		t.Error("Overlay with nil does not return the other value")
	}
}
