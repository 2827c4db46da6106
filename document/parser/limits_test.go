package parser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

func TestDecodeErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		docs   []string
		errs   []string
	}{
		"Between": {
			"An invalid document does not affect the others, and lines are counted in the file.",
			"a: 1\n---\nb: [\nc: }\n---\nd: 4\n---\ne: 5: 6\n",
			[]string{`{"a":1}`, `{"d":4}`},
			[]string{"line 4, column 1: did not find expected node content", "line 8, column 1: mapping values are not allowed in this context"},
		},
		"BetweenNDJSON": {
			"A truncated line does not affect the others.",
			"{\"a\":1}\n{\"b\":\n{\"c\":3}\n{\"d\"\n{\"e\":5}\n",
			[]string{`{"a":1}`, `{"c":3}`, `{"e":5}`},
			[]string{"line 2, column 6: unexpected end of input", "line 4, column 5: unexpected end of input"},
		},
		"BetweenPretty": {
			"An invalid object does not affect the others.",
			"{\n  \"a\": 1\n}\n{\n  \"b\": \"x\"\n  \"c\": 2\n}\n{\n  \"d\": 4\n}\n",
			[]string{`{"a":1}`, `{"d":4}`},
			[]string{"line 6, column 3: invalid character '\"' after object key:value pair"},
		},
		"AfterValues": {
			"Values before the error are kept.",
			`{"a":1} {"b":2} {"c"`,
			[]string{`{"a":1}`, `{"b":2}`},
			[]string{"line 1, column 21: unexpected end of input"},
		},
		"Trailing": {
			"Content after a document without a marker is reported.",
			"{a: 1}\nb: 2\n",
			nil,
			[]string{"line 2, column 1: did not find expected <document start>"},
		},
		"Key": {
			"The position is that of the invalid line, not of the start of the map.",
			"a:\n  b: 1\n  c: 2\n d: 3\n",
			nil,
			[]string{"line 4, column 2: did not find expected key"},
		},
		"Dash": {
			"The position is that of the invalid line, not of the start of the list.",
			"x: 1\ny:\n  - a\n  - b\n  c: d\n",
			nil,
			[]string{"line 5, column 3: did not find expected '-' indicator"},
		},
		"FirstLine": {
			"An error on the first line has a line number.",
			"a: b: c\n",
			nil,
			[]string{"line 1, column 1: mapping values are not allowed in this context"},
		},
		"Quote": {
			"An unclosed quote is reported where it was opened.",
			"a: \"b\nc: 1\nd: 2\n",
			nil,
			[]string{"line 1, column 1: found unexpected end of stream"},
		},
		"QuoteLater": {
			"An unclosed quote on a later line is reported where it was opened.",
			"a: 1\n\nb:\n  c: 'd\ne: 2\n",
			nil,
			[]string{"line 4, column 3: found unexpected end of stream"},
		},
		"Bracket": {
			"An unclosed bracket is reported where it was opened.",
			"a: 1\nb: [1, 2\nc: 3\n",
			nil,
			[]string{"line 2, column 1: did not find expected ',' or ']'"},
		},
		"Tab": {
			"Tabs are not allowed as indentation.",
			"a:\n\tb: 1\n",
			nil,
			[]string{"line 2, column 2: found character that cannot start any token"},
		},
		"Template": {
			"A template is not a document.",
			"a: 1\nb: {{ .Values.x }}\n",
			nil,
			[]string{"line 2, column 5: a key must be a scalar, not a map or a list"},
		},
		"Anchor": {
			"An alias needs an anchor.",
			"a: 1\nb: [x, *gone]\n",
			nil,
			[]string{"line 2, column 8: unknown anchor 'gone' referenced"},
		},
		"Cycle": {
			"A value cannot contain itself.",
			"a: 1\nb: &x\n  c: [*x]\n",
			nil,
			[]string{"line 3, column 7: alias *x refers to an anchor that contains it"},
		},
		"CycleMerge": {
			"A value cannot merge itself.",
			"b: &x\n  <<: *x\n",
			nil,
			[]string{"line 2, column 7: alias *x refers to an anchor that contains it"},
		},
		"Merge": {
			"Only maps can be merged.",
			"a:\n  <<: [1]\n",
			nil,
			[]string{"line 2, column 7: << must be a map, or a list of maps"},
		},
		"DuplicateYAML": {
			"A duplicate key is reported, and the last value is used, as in a cluster.",
			"a:\n  b: 1\n  c: 2\n  \"b\": 3\n",
			[]string{`{"a":{"b":3,"c":2}}`},
			[]string{`line 4, column 3: key "b" is given twice, first on line 2`},
		},
		"DuplicateFlow": {
			"A duplicate key in flow style is reported.",
			"{a: 1, b: {c: 1, c: 2}}\n",
			[]string{`{"a":1,"b":{"c":2}}`},
			[]string{`line 1, column 18: key "c" is given twice, first on line 1`},
		},
		"DuplicateAlias": {
			"A duplicate key that is an alias is reported.",
			"&k a: 1\nb: 2\n*k : 3\n",
			[]string{`{"a":3,"b":2}`},
			[]string{`line 3, column 1: key "a" is given twice, first on line 1`},
		},
		"DuplicateJSON": {
			"A duplicate key in JSON is reported, even if it is escaped.",
			"{\n \"a\": 1,\n \"\\u0061\": 2\n}\n",
			[]string{`{"a":2}`},
			[]string{`line 3, column 2: key "a" is given twice, first on line 2`},
		},
		"Infinity": {
			"JSON does not support this number.",
			"a: .inf\n---\nb: [1, .NaN]\n",
			nil,
			[]string{"line 1, column 4: .inf cannot be written as a JSON number", "line 3, column 8: .NaN cannot be written as a JSON number"},
		},
		"NumberJSON": {
			"A number that is too large is reported.",
			`{"a":1e999}`,
			nil,
			[]string{"line 1, column 6: cannot read number 1e999: out of range"},
		},
		"Boolean": {
			"A boolean tag needs a boolean value.",
			"a: !!bool maybe\n",
			nil,
			[]string{`line 1, column 4: "maybe" is not a boolean`},
		},
		"Control": {
			"Control characters are refused.",
			"a: 1\nb: x\x01\n",
			nil,
			[]string{"line 2, column 5: control characters are not allowed"},
		},
		"Encoding": {
			"Bytes in another encoding are refused.",
			"a: 1\nb: caf\xe9 \n",
			nil,
			[]string{"line 2, column 7: invalid trailing UTF-8 octet"},
		},
		"UTF16": {
			"Another encoding is recognized by its byte order mark.",
			"\xff\xfea\x00:\x00",
			nil,
			[]string{"line 1, column 1: file is UTF-16, not UTF-8"},
		},
		"Binary": {
			"A binary file is not read at all.",
			"\x7fELF\x02\x00\n---\na: 1\n",
			nil,
			[]string{"line 1, column 1: file is not text: it contains a zero byte"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := decode(t, tc.in)
			if diff := cmp.Diff(tc.docs, docs); diff != "" {
				t.Errorf("%s\ndocuments: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("%s\nerrors: -want, +got:\n%s", tc.reason, diff)
			}
			_, bad := parser.DecodeBytes([]byte(tc.in))
			for _, e := range bad {
				if e.Hint == "" {
					t.Errorf("error %q has no hint", e.Msg)
				}
			}
		})
	}
}

func TestDecodeBytesLimit(t *testing.T) {
	big := "a: 1\n---\nb: " + strings.Repeat("x", 17<<20) + "\n---\nc: 3\n"
	docs, errs := decode(t, big)
	if diff := cmp.Diff([]string{`{"a":1}`, `{"c":3}`}, docs); diff != "" {
		t.Errorf("documents around one that is too large: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"line 2, column 1: document is larger than 16 MiB"}, errs); diff != "" {
		t.Errorf("errors: -want, +got:\n%s", diff)
	}

	var got []string
	limits := parser.Limits{Bytes: 10}
	if err := parser.Decode(strings.NewReader("a: 1\n---\nb: 123456789\n---\nc: 3\n"), limits, func(n *tree.Node, bad *parser.Error) bool {
		if bad != nil {
			got = append(got, bad.Error())
			return true
		}
		got = append(got, string(tree.AppendJSON(nil, n, "")))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"a":1}`, "line 2, column 1: document is larger than 10 bytes", `{"c":3}`}, got); diff != "" {
		t.Errorf("limit of 10 bytes: -want, +got:\n%s", diff)
	}
}

func TestDecodeDepth(t *testing.T) {
	nested := func(depth int, open, inner, end string) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
	}
	cases := map[string]struct {
		reason string
		in     string
		bad    bool
	}{
		"JSON100":    {"A depth of 100 is accepted.", nested(100, "[", "1", "]"), false},
		"JSON101":    {"A depth of 101 is refused.", nested(101, "[", "", "]"), true},
		"Object100":  {"Objects have the same limit as lists.", nested(100, `{"a":`, "1", "}"), false},
		"Object101":  {"Objects have the same limit as lists.", nested(101, `{"a":`, "1", "}"), true},
		"YAML100":    {"YAML has the same limit as JSON.", nested(100, "- ", "x", ""), false},
		"YAML101":    {"YAML has the same limit as JSON.", nested(101, "- ", "x", ""), true},
		"Flow100":    {"Flow style has the same limit as JSON.", "a: " + nested(99, "[", "x", "]"), false},
		"Flow101":    {"Flow style has the same limit as JSON.", "a: " + nested(100, "[", "x", "]"), true},
		"AliasFlat":  {"An alias of a scalar is a scalar.", "x: &x 1\na: " + nested(99, "[", "*x", "]"), false},
		"AliasDeep":  {"An alias has the depth of its anchor.", "x: &x [[1]]\na: " + nested(98, "[", "*x", "]"), true},
		"Attack":     {"A million brackets are refused quickly.", strings.Repeat("[", 1_000_000), true},
		"AttackYAML": {"A million brackets in YAML are refused quickly.", "a: " + strings.Repeat("[", 1_000_000), true},
		"AttackMap":  {"A million nested maps are refused quickly.", strings.Repeat("{a: ", 1_000_000), true},
		"AttackDash": {"A million dashes are refused quickly.", strings.Repeat("- ", 1_000_000), true},
		"AttackKey":  {"A million explicit keys are refused quickly.", strings.Repeat("? ", 1_000_000), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			docs, errs := parser.DecodeBytes([]byte(tc.in))
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s\nDecode took %v", tc.reason, took)
			}
			if bad := len(errs) > 0; bad != tc.bad || bad == (len(docs) > 0) {
				t.Fatalf("%s\nDecode returned %d documents and errors %v", tc.reason, len(docs), errs)
			}
			if tc.bad && !strings.Contains(errs[0].Msg, "deep") && !strings.Contains(errs[0].Msg, "max depth") {
				t.Errorf("%s\nerror is %q, want one about the depth", tc.reason, errs[0].Msg)
			}
		})
	}
}

func TestDecodeAttacks(t *testing.T) {
	laughs := func(width, depth int) string {
		var b strings.Builder
		b.WriteString("a0: &a0 ha\n")
		for i := 1; i <= depth; i++ {
			fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), width), ","))
		}
		return b.String()
	}
	keys := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	cases := map[string]struct {
		reason string
		in     string
		bad    bool
	}{
		"Laughs":     {"An exponential expansion of aliases is refused.", laughs(10, 9), true},
		"LaughsDeep": {"A deep exponential expansion of aliases is refused.", laughs(2, 50), true},
		"LaughsFew":  {"A thousand expanded values are accepted.", laughs(10, 3), false},
		"LongText":   {"Long expanded strings count as many values.", "a: &a " + strings.Repeat("x", 8<<20) + "\nb: [" + strings.Repeat("*a,", 1000) + "]\n", true},
		"LongKey":    {"Long expanded keys count as many values.", "a: &a {? " + strings.Repeat("x", 1<<20) + " : 1}\nb: [" + strings.Repeat("*a,", 1000) + "]\n", true},
		"Merge":      {"Merging many keys is not quadratic.", "a: &a\n" + keys(90_000, "  k%d: 1\n") + "b:\n  <<: *a\n", false},
		"Keys":       {"Finding duplicate keys is not quadratic.", keys(200_000, "k%d: 1\n"), false},
		"Lines":      {"Finding the end of a value is not quadratic.", `{"a":[` + strings.Repeat("1,", 500_000) + "{}\n" + strings.Repeat("{}\n", 1000), true},
		"Comments":   {"Reading comments is not quadratic.", "a:\n" + strings.Repeat("  # x\n", 500_000) + "  b: 1\n", false},
		"Quotes":     {"Finding the start of a string is not quadratic.", `["` + strings.Repeat(`\"`, 500_000) + `","` + strings.Repeat(`\\`, 500_000) + `"]`, false},
		"OneLine":    {"Counting columns is not quadratic.", "[" + strings.Repeat(`"é",`, 300_000) + "1]", false},
		"Error":      {"Finding the line of an error is not quadratic.", "a:\n" + strings.Repeat("  - b: 1\n", 200_000) + "  c: d\n", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, errs := parser.DecodeBytes([]byte(tc.in))
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%s\nDecode took %v", tc.reason, took)
			}
			if bad := len(errs) > 0; bad != tc.bad {
				t.Errorf("%s\nDecode returned errors %.200v, want some: %t", tc.reason, errs, tc.bad)
			}
		})
	}
}
