package tree_test

import (
	"testing"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func TestOverlay(t *testing.T) {
	cases := map[string]struct{ reason, under, over, want string }{
		"Maps":   {"Maps are merged at every depth.", `{"a":{"b":1,"c":2},"d":3}`, `{"a":{"c":4,"e":5},"f":6}`, `{"a":{"b":1,"c":4,"e":5},"d":3,"f":6}`},
		"Lists":  {"A list is replaced as a whole.", `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"Kinds":  {"A value of another type replaces a map.", `{"a":{"b":1}}`, `{"a":"b"}`, `{"a":"b"}`},
		"Null":   {"Null is a value.", `{"a":{"b":1}}`, `{"a":null}`, `{"a":null}`},
		"Empty":  {"An empty map changes nothing.", `{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":1}}`},
		"Scalar": {"Scalars are replaced at the top level.", `1`, `2`, `2`},
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
				t.Errorf("%s\ngot %s, want %s", tc.reason, got, tc.want)
			}
			if !under.Equal(parse(tc.under)) || !over.Equal(parse(tc.over)) {
				t.Errorf("%s\narguments were changed", tc.reason)
			}
		})
	}
	one := tree.Number(1)
	if tree.Overlay(nil, one) != one || tree.Overlay(one, nil) != one {
		t.Error("Overlay with nil does not return the other value")
	}
}
