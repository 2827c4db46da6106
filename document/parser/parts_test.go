package parser

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/tree"
)

// items decodes text and returns each item of each list, with its position, and
// the errors. It counts the documents.
func items(text string, long int) (got []string, documents int) {
	_ = Decode(strings.NewReader(text), Limits{Long: long, Bytes: 1 << 16}, func(n *tree.Node, err *Error) bool {
		if err != nil {
			got = append(got, err.Error())
			return true
		}
		documents++
		kind := n.Get("kind").Str()
		list := n
		if n.IsMap() {
			list = n.Get("items")
		}
		if list == nil {
			got = append(got, fmt.Sprintf("%d:%d %s", n.Pos.Line, n.Pos.Column, tree.AppendCanonical(nil, n)))
		}
		for _, it := range list.List() {
			last := it
			for last.IsMap() && len(last.Fields) > 0 {
				last = last.Fields[len(last.Fields)-1].Value
			}
			got = append(got, fmt.Sprintf("%s %d:%d %s %d:%d", kind, it.Pos.Line, it.Pos.Column, tree.AppendCanonical(nil, it), last.Pos.Line, last.Pos.Column))
		}
		return true
	})
	return got, documents
}

// TestLongLists checks that a list which is split has the same items and
// positions as the whole, wherever it is split.
func TestLongLists(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		parts  int // number of documents that it is split into
	}{
		"Array":       {"An array on one line is split.", `[{"a":1},{"b":{"c":"x"}},{"d":[1,{"e":2}]}]`, 3},
		"ArrayLines":  {"An array over several lines is split.", "[\n  {\n    \"a\": 1\n  },\n  {\"b\": 2} , {\"c\": 3}\n]\n", 3},
		"ArrayMixed":  {"An array may contain values other than objects.", `[{"a":1},2,"x,]}",null,[{"b":1}],true,-1.5e3]`, 7},
		"ArrayEscape": {"Quotes and brackets in strings are ignored.", `[{"a":"]}\"\\"},{"b":"\\\"},{"},{"c":1}]`, 3},
		"ArrayRunes":  {"Columns are counted in characters.", `[{"ä":"→"},{"b":"ü"},{"c":1}]`, 3},
		"ArrayMore":   {"Documents after an array are read separately.", "[{\"a\":1},\n{\"b\":2}]\n---\nx: 1\n---\n[{\"c\":1},{\"d\":1}]\n{\"e\":1}\n", 0},
		"Marked":      {"A document marker may precede the array.", "---\n[{\"a\":1},\n{\"b\":2}]\n", 2},
		"Object":      {"A list in the order of kubectl output is split.", "{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n    {\n      \"a\": 1\n    },\n    {\"b\": 2}\n  ],\n  \"kind\": \"List\",\n  \"metadata\": {\"x\": \"}\"}\n}\n", 0},
		"ObjectMore":  {"Several lists in a row are split.", "{\"items\": [{\"a\":1},{\"b\":2}], \"x\": {\"y\":[]}}\n{\"items\": [{\"c\":1}]}\n", 3},
		"ObjectKind":  {"A kind that precedes the items is passed on with them.", `{"kind":"XList","m":{"n":[1,"}"]},"items":[{"a":1},{"b":2}],"z":1}`, 2},
		"Block":       {"A YAML list is split.", "apiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - 2\n- c: |\n    - text\n\n    more\n# remark\n- d: \"x\n    y\"\nmetadata:\n- 1\n", 3},
		"BlockIn":     {"Indented items are split.", "items: # all\n\n  - a: 1\n    b:\n    - x\n  -\n    c: 1\n  - d: 1\nkind: List\n---\n- e: 1\n- f: 2\n", 0},
		"Sequence":    {"A document that is a list is split.", "# first\n---\n- a: 1\n- b: 2\n  c: 3\n", 2},
		"NoList":      {"Other lists in a document are not split.", "spec:\n  versions:\n  - a: 1\n  - b: 2\nitems:\n- 1\n", 1},
		"Flow":        {"A list in YAML flow style is not split.", "[{a: 1}, {b: 2}]\n", 1},
		"Scalars":     {"A list of scalars is not split.", "[1, 2, 3]\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, _ := items(tc.in, 0)
			most := 0
			for long := 1; long <= len(tc.in); long++ {
				got, n := items(tc.in, long)
				most = max(most, n)
				// Fields after the items are not in the parts.
				for _, list := range [][]string{want, got} {
					for i := range list {
						list[i] = strings.TrimPrefix(list[i], "List ")
						list[i] = strings.TrimPrefix(list[i], " ")
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s\nsplit after %d bytes (-whole +parts):\n%s", tc.reason, long, diff)
				}
			}
			if tc.parts > 0 && most != tc.parts {
				t.Errorf("%s\nsplit into %d parts, want %d", tc.reason, most, tc.parts)
			}
		})
	}
}

// TestLongListsBad checks that an invalid item does not affect the others.
func TestLongListsBad(t *testing.T) {
	big := strings.Repeat("x", 1<<16)
	cases := map[string]struct {
		reason string
		in     string
		want   []string
	}{
		"Torn": {"A truncated array is reported.", "[{\"a\":1},\n {\"b\":", []string{` 1:2 {"a":1} 1:7`, "line 2, column 7: unexpected end of input"}},
		"TornThen": {
			"The document after the next marker is read.", "[{\"a\":1},\n---\n{\"b\":1}\n",
			[]string{` 1:2 {"a":1} 1:7`, "line 2, column 1: unexpected end of input", `3:1 {"b":1}`},
		},
		"Word":     {"An invalid literal is reported.", `[{"a":1},{"b":nope},{"c":3}]`, []string{` 1:2 {"a":1} 1:7`, "line 1, column 15: invalid character 'o' in literal null (expecting 'u')", ` 1:21 {"c":3} 1:26`}},
		"NoComma":  {"A missing comma is reported.", `[{"a":1} {"b":2}]`, []string{` 1:2 {"a":1} 1:7`, "line 1, column 10: missing comma between two list items", ` 1:10 {"b":2} 1:15`}},
		"Commas":   {"An extra comma is reported.", `[{"a":1},,{"b":2},]`, []string{` 1:2 {"a":1} 1:7`, "line 1, column 10: unexpected comma in place of a list item", ` 1:11 {"b":2} 1:16`, "line 1, column 19: trailing comma at the end of the list"}},
		"Twice":    {"A duplicate key is reported.", `[{"a":1,"a":2},{"b":1}]`, []string{` 1:2 {"a":2} 1:13`, `line 1, column 9: key "a" is given twice, first on line 1`, ` 1:16 {"b":1} 1:21`}},
		"Big":      {"An item that is too large is reported.", `[{"a":1},{"b":"` + big + `"},{"c":1}]`, []string{` 1:2 {"a":1} 1:7`, "line 1, column 10: list item is larger than 65536 bytes", ` 1:65555 {"c":1} 1:65560`}},
		"BigBlock": {"A YAML item that is too large is reported.", "- a: 1\n- b: " + big + "\n- c: 1\n", []string{` 1:3 {"a":1} 1:6`, "line 2, column 1: list item is larger than 65536 bytes", ` 3:3 {"c":1} 3:6`}},
		"Block":    {"An item that is not YAML is reported.", "- a: 1\n- b: c: d\n- e: 1\n", []string{` 1:3 {"a":1} 1:6`, "line 2, column 1: mapping values are not allowed in this context", ` 3:3 {"e":1} 3:6`}},
		"Stray":    {"A line that belongs to no item is reported.", "- a: 1\n- b: 1\nc: 2\n- d: 1\n", []string{` 1:3 {"a":1} 1:6`, "line 3, column 1: did not find expected '-' indicator", ` 4:3 {"d":1} 4:6`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := items(tc.in, 5)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLongListsStop checks that nothing is returned after yield has stopped.
func TestLongListsStop(t *testing.T) {
	for _, in := range []string{`[{"a":1},{"b":2},{"c":3}]`, "- a: 1\n- b: 2\n- c: 3\n", "{\"items\":[{\"a\":1},{\"b\":2}]}\n{\"x\":1}\n"} {
		calls := 0
		err := Decode(strings.NewReader(in), Limits{Long: 3}, func(*tree.Node, *Error) bool {
			calls++
			return false
		})
		if err != nil || calls != 1 {
			t.Errorf("%s: %d calls, error %v; want one call", in, calls, err)
		}
	}
}

// endless writes a list of n items.
func endless(w *io.PipeWriter, before, item, between, after string, n int) {
	_, err := io.WriteString(w, before)
	for i := 0; i < n && err == nil; i++ {
		if i > 0 {
			_, err = io.WriteString(w, between)
		}
		if err == nil {
			_, err = io.WriteString(w, item)
		}
	}
	if err == nil {
		_, err = io.WriteString(w, after)
	}
	w.CloseWithError(err)
}

// TestLongListsMemory checks that lists too large for memory are read in parts.
func TestLongListsMemory(t *testing.T) {
	item := `{"kind":"X","text":"` + strings.Repeat("x", 1000) + `"}`
	cases := map[string][4]string{
		"Array":  {"[", item, ",", "]"},
		"Object": {`{"apiVersion":"v1","items":[`, item, ",\n", `],"kind":"List"}`},
		"Block":  {"apiVersion: v1\nitems:\n", "- kind: X\n  text: " + strings.Repeat("x", 1000) + "\n", "", "kind: List\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const n = 10_000
			r, w := io.Pipe()
			go endless(w, tc[0], tc[1], tc[2], tc[3], n)
			seen, top := 0, uint64(0)
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			err := Decode(r, Limits{Long: 1 << 20}, func(doc *tree.Node, bad *Error) bool {
				if bad != nil {
					t.Error(bad)
				}
				if seen++; seen%2500 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&now)
					top = max(top, now.HeapAlloc)
				}
				return bad == nil
			})
			if err != nil || seen != n {
				t.Fatalf("%d items, error %v", seen, err)
			}
			if most := before.HeapAlloc + 16<<20; top > most {
				t.Errorf("%d bytes in use, want at most %d", top, most)
			}
		})
	}
}

// isJSON reports whether text is JSON values one after the other.
func isJSON(text string) bool {
	d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
	for {
		var v any
		if err := d.Decode(&v); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// FuzzLongLists checks that every list that can be read as a whole gives the
// same items in parts.
func FuzzLongLists(f *testing.F) {
	for _, s := range []string{
		`[{"a":1},{"b":[1,"x]"]},2,null]`, "{\"kind\":\"L\",\"items\":[{\"a\":1}\n,{\"b\":\"\\\"\"}],\"z\":{}}\n[{\"a\":1}]",
		"kind: L\nitems:\n- a: 1\n  b: |\n    - x\n- c: 'y\n    z'\nz: 1\n---\n- a\n- b: 1\n", "items:\n  - a: 1\n  # x\n  -\n    b: 1\n",
		"---\n# x\n- a: 1\n\n- [1]\n...\n- b\n", "\uFEFF[ {\"a\":\r\n1}\r\n]\r\n",
	} {
		f.Add(s, uint8(3))
		f.Add(s, uint8(len(s)/2))
	}
	f.Fuzz(func(t *testing.T, in string, long uint8) {
		// An anchor holds for the whole document, not for an item alone. What is in
		// brackets and no JSON is not meant to be taken apart. And the parser lets
		// quoted text go on further left than YAML does.
		if strings.ContainsAny(in, "&*") || strings.ContainsAny(in, "[{'\"") && !isJSON(in) {
			t.Skip()
		}
		strip := func(list []string) []string {
			for i := range list {
				if _, rest, ok := strings.Cut(list[i], " "); ok {
					list[i] = rest
				}
			}
			return list
		}
		whole := true
		_ = Decode(strings.NewReader(in), Limits{}, func(_ *tree.Node, err *Error) bool {
			whole = whole && err == nil
			return true
		})
		if !whole {
			t.Skip()
		}
		want, _ := items(in, 0)
		got, _ := items(in, int(long)+1)
		if diff := cmp.Diff(strip(want), strip(got)); diff != "" {
			t.Errorf("in parts after %d bytes (-whole +parts):\n%s\n%q", long, diff, in)
		}
	})
}
