package eta

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// TestHanded checks the document that a helper gets: it is the same whether or
// not the template has accessed it, and has the template's changes.
func TestHanded(t *testing.T) {
	const doc = `{"a": {"b": [1, 1.0, 1e3, 12345678901234567890, null, true, "x"], "c": {}}, "d": {"e": {"f": "g"}}, "h": [], "i": null}`
	const read = `{"a":{"b":[1,1,1000,1.2345678901234567e+19,null,true,"x"],"c":{}},"d":{"e":{"f":"g"}},"h":[],"i":null}`
	cases := map[string]struct {
		reason, code, want string
	}{
		"Untouched": {"The copy has the numbers of JavaScript.", ``, read},
		"Looked":    {"Reading the copy does not change it.", `JSON.stringify(doc);`, read},
		"Part":      {"Reading a part of the copy does not change it.", `doc.d.e; doc.a.b[1];`, read},
		"Changed":   {"A nested change is visible.", `doc.d.e.f = 1;`, strings.Replace(read, `"g"`, `1`, 1)},
		"Replaced":  {"A replaced value is visible.", `doc.a = [doc.d];`, `{"a":[{"e":{"f":"g"}}],"d":{"e":{"f":"g"}},"h":[],"i":null}`},
		"Added":     {"An added key is visible.", `doc.d.e.z = doc.h;`, strings.Replace(read, `"g"`, `"g","z":[]`, 1)},
		"Removed":   {"A removed key is visible.", `delete doc.a; delete doc.d.e.f;`, `{"d":{"e":{}},"h":[],"i":null}`},
		"Undefined": {"A field set to undefined is absent.", `doc.a = undefined; doc.d.e = undefined;`, `{"d":{},"h":[],"i":null}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			given, _ := parser.DecodeBytes([]byte(doc))
			before := given[0].Clone()
			var got *tree.Node
			set := New(fstest.MapFS{"t.eta": {Data: []byte("<% " + tc.code + " take(doc) %>")}}, Limits{})
			_, err := set.Render(t.Context(), "t", Data{"doc": given[0], "take": Func(func(args []any) (any, error) {
				got = args[0].(*tree.Node)
				return nil, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(tree.AppendJSON(nil, got, ""))); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
			got.Set("a", tree.Str("the helper's own"))
			if d := got.Get("d"); d != nil {
				d.Set("e", tree.Nil())
			}
			if diff := cmp.Diff(before, given[0]); diff != "" {
				t.Errorf("%s\ndocument was changed: -before +after\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHandedBounds checks that the arguments of a helper are limited like all
// values.
func TestHandedBounds(t *testing.T) {
	deep := tree.Obj()
	for range maxDepth + 1 {
		deep = tree.Obj(tree.F("a", deep))
	}
	wide := tree.Arr()
	for range 20 {
		wide.Items = append(wide.Items, tree.Str(strings.Repeat("x", 1<<20)))
	}
	for name, n := range map[string]*tree.Node{"Deep": deep, "Large": tree.Obj(tree.F("a", wide))} {
		t.Run(name, func(t *testing.T) {
			set := New(fstest.MapFS{"t.eta": {Data: []byte("<% take(doc) %>")}}, Limits{})
			_, err := set.Render(t.Context(), "t", Data{"doc": n, "take": Func(func([]any) (any, error) { return nil, nil })})
			if err == nil || !strings.Contains(err.Error(), errDepth.msg) {
				t.Errorf("got %v, want %q", err, errDepth.msg)
			}
		})
	}
}
