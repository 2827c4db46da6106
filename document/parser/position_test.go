package parser_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// places lists the positions of all keys and values of n.
func places(path string, n *tree.Node) []string {
	out := []string{fmt.Sprintf("%s %d:%d", path, n.Pos.Line, n.Pos.Column)}
	for _, f := range n.Fields {
		out = append(out, fmt.Sprintf("%s.%s: %d:%d", path, f.Key, f.Pos.Line, f.Pos.Column))
		out = append(out, places(path+"."+f.Key, f.Value)...)
	}
	for i, it := range n.Items {
		out = append(out, places(fmt.Sprintf("%s[%d]", path, i), it)...)
	}
	return out
}

func TestPositions(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   []string
	}{
		"Block": {
			"Keys and values in block style have positions.",
			"# comment\na: 1\nbé:\n  - x\n  - c: \"y\"\n    d:   |\n      z\n",
			[]string{" 2:1", ".a: 2:1", ".a 2:4", ".bé: 3:1", ".bé 4:3", ".bé[0] 4:5", ".bé[1] 5:5", ".bé[1].c: 5:5", ".bé[1].c 5:8", ".bé[1].d: 6:5", ".bé[1].d 6:10"},
		},
		"Flow": {
			"Columns in flow style are counted in characters.",
			"a: {é: [1, 'x'],\n  \"b\": ü}\n",
			[]string{" 1:1", ".a: 1:1", ".a 1:4", ".a.é: 1:5", ".a.é 1:8", ".a.é[0] 1:9", ".a.é[1] 1:12", ".a.b: 2:3", ".a.b 2:8"},
		},
		"Later": {
			"Lines are counted across documents.",
			"---\n# nothing\n---\n...\n\n--- # three\n\na: b\n",
			[]string{" 8:1", ".a: 8:1", ".a 8:4"},
		},
		"Directive": {
			"Lines of directives and comments are counted.",
			"%YAML 1.2\n# comment\n---\na: b\n",
			[]string{" 4:1", ".a: 4:1", ".a 4:4"},
		},
		"CRLF": {
			"A Windows line break is one line break.",
			"a:\r\n  b: 1\r\n---\r\n",
			[]string{" 1:1", ".a: 1:1", ".a 2:3", ".a.b: 2:3", ".a.b 2:6"},
		},
		"ByteOrder": {
			"A byte order mark is not a column.",
			"\uFEFFa: b\n",
			[]string{" 1:1", ".a: 1:1", ".a 1:4"},
		},
		"Merged": {
			"Merged values and aliases have the positions of their originals.",
			"x: &x {a: 1}\ny:\n  <<: *x\nz: *x\n",
			[]string{" 1:1", ".x: 1:1", ".x 1:4", ".x.a: 1:8", ".x.a 1:11", ".y: 2:1", ".y 3:3", ".y.a: 1:8", ".y.a 1:11", ".z: 4:1", ".z 1:4", ".z.a: 1:8", ".z.a 1:11"},
		},
		"AliasKey": {
			"A key that is an alias has the position of its use.",
			"&k a: 1\nb:\n  *k : 2\n",
			[]string{" 1:1", ".a: 1:1", ".a 1:7", ".b: 2:1", ".b 3:3", ".b.a: 3:3", ".b.a 3:8"},
		},
		"JSON": {
			"Every kind of value in indented JSON has a position.",
			"{\n  \"a\": 12,\n  \"b\" : [true, false,\n    null, -1.5e3, \"x\"],\n  \"c\": {\"d\": {}}\n}\n",
			[]string{" 1:1", ".a: 2:3", ".a 2:8", ".b: 3:3", ".b 3:9", ".b[0] 3:10", ".b[1] 3:16", ".b[2] 4:5", ".b[3] 4:11", ".b[4] 4:19", ".c: 5:3", ".c 5:8", ".c.d: 5:9", ".c.d 5:14"},
		},
		"JSONQuotes": {
			"Quotes and backslashes in strings do not affect columns, which are counted in characters.",
			`{"é\"": "a\\", "\\\"b": "\"", "c": ["", ""]}`,
			[]string{" 1:1", `.é": 1:2`, `.é" 1:9`, `.\"b: 1:16`, `.\"b 1:25`, ".c: 1:31", ".c 1:36", ".c[0] 1:37", ".c[1] 1:41"},
		},
		"JSONMarked": {
			"A marker before JSON is counted as columns.",
			"a: 1\n--- {\"b\":\n 2}\n",
			[]string{" 1:1", ".a: 1:1", ".a 1:4", " 2:5", ".b: 2:6", ".b 3:2"},
		},
		"NDJSON": {
			"Each value has the position of its line.",
			"{\"a\":1}\n\n{\"b\":2} {\"c\":3}\n",
			[]string{" 1:1", ".a: 1:2", ".a 1:6", " 3:1", ".b: 3:2", ".b 3:6", " 3:9", ".c: 3:10", ".c 3:14"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte(tc.in))
			if len(errs) > 0 {
				t.Fatalf("%s\nunexpected errors: %v", tc.reason, errs)
			}
			var got []string
			for _, n := range docs {
				got = append(got, places("", n)...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	docs, errs := parser.DecodeBytes([]byte("[a, 'b', \"c\", 1, '1', true]\n---\n- |\n  x\n- >\n  y\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []bool
	for _, d := range docs {
		for _, it := range d.Items {
			got = append(got, it.Plain)
		}
	}
	if diff := cmp.Diff([]bool{true, false, false, true, false, true, false, false}, got); diff != "" {
		t.Errorf("scalars without quotes: -want, +got:\n%s", diff)
	}
}
