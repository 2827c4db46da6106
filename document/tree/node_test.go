package tree_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func one(t *testing.T, in string) *tree.Node {
	t.Helper()
	docs, errs := parser.DecodeBytes([]byte(in))
	if len(errs) > 0 || len(docs) != 1 {
		t.Fatalf("%q reads as %d documents with errors %v", in, len(docs), errs)
	}
	return docs[0]
}

func TestAny(t *testing.T) {
	got := one(t, `{"a":[null,true,1,-1.5,"x",{}],"b":12345678901234567890,"c":9223372036854775807,"d":1e300}`).Any()
	want := map[string]any{
		"a": []any{nil, true, int64(1), -1.5, "x", map[string]any{}},
		"b": json.Number("12345678901234567890"),
		"c": int64(math.MaxInt64),
		"d": 1e300,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Any: -want, +got:\n%s", diff)
	}
	if got := (*tree.Node)(nil).Any(); got != nil {
		t.Errorf("Any of nil is %v, want nil", got)
	}
}

func TestFrom(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     any
		want   string
		err    string
	}{
		"Nil":         {reason: "Nil is null.", in: nil, want: "null"},
		"Node":        {reason: "A node is returned unchanged.", in: tree.Number(1), want: "1"},
		"Integers":    {reason: "All integers are numbers.", in: []any{int(1), int8(-2), int16(3), int32(-4), int64(5), uint(6), uint8(7), uint16(8), uint32(9), uint64(math.MaxUint64)}, want: "[1,-2,3,-4,5,6,7,8,9,18446744073709551615]"},
		"Floats":      {reason: "A whole float is an integer.", in: []any{1.0, float32(0.5), 1e15, 1e16, -0.25, math.Copysign(0, -1)}, want: "[1,0.5,1000000000000000,1e+16,-0.25,0]"},
		"Numbers":     {reason: "A json.Number keeps its digits.", in: []any{json.Number("12345678901234567890"), json.Number("1.50"), json.Number("1E2")}, want: "[12345678901234567890,1.5,100]"},
		"Maps":        {reason: "The keys of maps are sorted.", in: map[string]any{"b": "x", "a": map[string]string{"d": "1", "c": "2"}}, want: `{"a":{"c":"2","d":"1"},"b":"x"}`},
		"Strings":     {reason: "Slices of strings are lists.", in: []any{[]string{"a"}, []string(nil), map[string]string(nil)}, want: `[["a"],[],{}]`},
		"NotANumber":  {reason: "JSON does not support this number.", in: math.NaN(), err: "cannot write number NaN: JSON does not support it"},
		"Infinity":    {reason: "JSON does not support this number.", in: map[string]any{"a": []any{math.Inf(1)}}, err: "cannot write number +Inf: JSON does not support it"},
		"Unreadable":  {reason: "A json.Number must be a number.", in: json.Number("x"), err: `cannot read number "x"`},
		"Unsupported": {reason: "Other types are refused.", in: time.Second, err: "cannot convert time.Duration to a node"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, err := tree.From(tc.in)
			if got := fmt.Sprint(err); tc.err != "" && got != tc.err || tc.err == "" && err != nil {
				t.Fatalf("%s\nFrom returned error %q, want %q", tc.reason, got, tc.err)
			}
			if tc.err != "" {
				return
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, n, ""))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAnyFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := anyNode(4).Draw(t, "node")
		back, err := tree.From(n.Any())
		if err != nil || !back.Equal(n) {
			t.Errorf("From(Any()) gives %s (%v), want %s", tree.AppendJSON(nil, back, ""), err, tree.AppendJSON(nil, n, ""))
		}
	})
}

func TestEqual(t *testing.T) {
	many := func(from, step int) *tree.Node {
		n := tree.Obj()
		for i := range 40 {
			n.Set(fmt.Sprint(from+i*step), tree.Number(int64(from+i*step)))
		}
		return n
	}
	cases := map[string]struct {
		reason string
		a, b   *tree.Node
		want   bool
	}{
		"Nil":       {"Nil equals nil.", nil, nil, true},
		"NilNull":   {"Nil does not equal null.", nil, tree.Nil(), false},
		"Order":     {"The order of keys is ignored.", one(t, "{a: 1, b: 2}"), one(t, `{"b":2,"a":1}`), true},
		"OrderMany": {"The order of many keys is ignored.", many(0, 1), many(39, -1), true},
		"ManyOther": {"The keys are compared.", many(0, 1), many(40, -1), false},
		"Value":     {"The values are compared.", one(t, "{a: 1, b: 2}"), one(t, "{b: 1, a: 2}"), false},
		"Position":  {"Positions are ignored.", one(t, "a: 1"), one(t, "\n\n a: 1"), true},
		"Style":     {"Quotes are ignored.", one(t, "a: x"), one(t, "a: 'x'"), true},
		"Kind":      {"A string is not a number.", one(t, "a: 1"), one(t, "a: '1'"), false},
		"Empty":     {"An empty map is not an empty list.", tree.Obj(), tree.Arr(), false},
		"Items":     {"The order of items is compared.", one(t, "[1, 2]"), one(t, "[2, 1]"), false},
		"Longer":    {"The number of items is compared.", one(t, "[1, 2]"), one(t, "[1, 2, 3]"), false},
		"Number":    {"Numbers are compared by value.", one(t, "[0x10, 1.0, 1e2]"), one(t, "[16, 1, 100]"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.Equal(tc.b); got != tc.want {
				t.Errorf("%s\nEqual is %t, want %t", tc.reason, got, tc.want)
			}
			if got := tc.b.Equal(tc.a); got != tc.want {
				t.Errorf("%s\nEqual with swapped operands is %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := anyNode(4).Draw(t, "node")
		before := string(tree.AppendJSON(nil, n, ""))
		c := n.Clone()
		if !c.Equal(n) {
			t.Fatalf("Clone of %s is %s", before, tree.AppendJSON(nil, c, ""))
		}
		scramble(c)
		if after := string(tree.AppendJSON(nil, n, "")); after != before {
			t.Errorf("changing a clone changed its origin from %s to %s", before, after)
		}
	})
	if got := (*tree.Node)(nil).Clone(); got != nil {
		t.Errorf("Clone of nil is %v, want nil", got)
	}
}

func scramble(n *tree.Node) {
	for i := range n.Fields {
		scramble(n.Fields[i].Value)
		n.Fields[i].Key += "x"
	}
	for i, it := range n.Items {
		scramble(it)
		n.Items[i] = tree.Str("x")
	}
	n.Text = "x"
}

func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := anyNode(4).Draw(t, "node")
		other := n.Clone()
		reverse(other)
		if a, b := string(tree.AppendCanonical(nil, n)), string(tree.AppendCanonical(nil, other)); a != b {
			t.Errorf("equal nodes have canonical forms %s and %s", a, b)
		}
		if !n.Equal(other) {
			t.Errorf("order of keys makes %s unequal", tree.AppendJSON(nil, n, ""))
		}
	})
}

func reverse(n *tree.Node) {
	for i, j := 0, len(n.Fields)-1; i < j; i, j = i+1, j-1 {
		n.Fields[i], n.Fields[j] = n.Fields[j], n.Fields[i]
	}
	for _, f := range n.Fields {
		reverse(f.Value)
	}
	for _, it := range n.Items {
		reverse(it)
	}
}

func TestReading(t *testing.T) {
	n := one(t, "a: {b: [x, 1, y]}\ns: text\nn: 5\nt: true\nz: null\nm: {k: v, l: 2}\n")
	cases := map[string]struct {
		reason    string
		got, want any
	}{
		"Get":          {"Keys are followed.", n.Get("a", "b").Len(), 3},
		"GetMissing":   {"A missing key gives nil.", n.Get("a", "x", "y") == nil, true},
		"GetScalar":    {"A scalar has no keys.", n.Get("s", "x") == nil, true},
		"Str":          {"Str returns a string.", n.Get("s").Str(), "text"},
		"StrNumber":    {"Str of a number is empty.", n.Get("n").Str(), ""},
		"Scalar":       {"Scalar returns the text of a number.", n.Get("n").Scalar(), "5"},
		"ScalarMap":    {"Scalar of a map is empty.", n.Get("a").Scalar(), ""},
		"Strings":      {"Strings leaves out other values.", n.Get("a", "b").Strings(), []string{"x", "y"}},
		"StringMap":    {"StringMap leaves out other values.", n.Get("m").StringMap(), map[string]string{"k": "v"}},
		"StringMapNil": {"StringMap of nil is nil.", n.Get("q").StringMap(), map[string]string(nil)},
		"IsTrue":       {"IsTrue is true for true.", n.Get("t").IsTrue(), true},
		"IsNull":       {"IsNull is true for null and nil.", []bool{n.Get("z").IsNull(), n.Get("q").IsNull(), n.Get("s").IsNull()}, []bool{true, true, false}},
		"Has":          {"Has is true for a null entry.", []bool{n.Has("z"), n.Has("q"), n.Get("s").Has("x")}, []bool{true, false, false}},
		"Kinds":        {"Kinds have the names of JSON Schema types.", []string{n.Kind.String(), n.Get("z").Kind.String(), n.Get("n").Kind.String(), n.Get("t").Kind.String(), n.Get("s").Kind.String(), n.Get("a", "b").Kind.String(), tree.Float.String()}, []string{"object", "null", "integer", "boolean", "string", "array", "number"}},
		"At":           {"The position of nil is zero.", []tree.Pos{n.Get("s").At(), n.Get("q").At()}, []tree.Pos{{Line: 2, Column: 4}, {}}},
		"ListScalar":   {"A scalar has no items.", len(n.Get("s").List()) + len((*tree.Node)(nil).List()), 0},
		"IsKind":       {"Nil has no kind.", []bool{(*tree.Node)(nil).IsMap(), (*tree.Node)(nil).IsList(), (*tree.Node)(nil).IsString()}, []bool{false, false, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBuilding(t *testing.T) {
	n := tree.Obj(tree.F("a", tree.OptStr("")), tree.F("b", tree.Strs(nil)), tree.F("c", tree.StrMap(nil)), tree.F("d", tree.OptStr("x")))
	n.Set("e", tree.StrMap(map[string]string{"y": "2", "x": "1"}))
	n.Set("d", tree.Strs([]string{"p", "q"}))
	n.Set("f", tree.Nil())
	n.Set("g", nil)
	if diff := cmp.Diff(`{"d":["p","q"],"e":{"x":"1","y":"2"},"f":null}`, string(tree.AppendJSON(nil, n, ""))); diff != "" {
		t.Errorf("building: -want, +got:\n%s", diff)
	}
	n.Set("d", nil)
	n.Delete("f")
	n.Delete("nothing")
	n.Set("a", tree.Number(1))
	n.SortKeys()
	if diff := cmp.Diff(`{"a":1,"e":{"x":"1","y":"2"}}`, string(tree.AppendJSON(nil, n, ""))); diff != "" {
		t.Errorf("changing: -want, +got:\n%s", diff)
	}
}
