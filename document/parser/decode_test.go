package parser_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// decode returns the documents of in as JSON and the errors as text.
func decode(t *testing.T, in string) (docs, errs []string) {
	t.Helper()
	nodes, bad := parser.DecodeBytes([]byte(in))
	for _, n := range nodes {
		docs = append(docs, string(tree.AppendJSON(nil, n, "")))
	}
	for _, e := range bad {
		errs = append(errs, e.Error())
	}
	return docs, errs
}

func TestDecodeDocuments(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   []string
	}{
		"One":          {"A document needs no marker.", "a: 1\n", []string{`{"a":1}`}},
		"Several":      {"Markers separate documents.", "a: 1\n---\nb: 2\n---\nc: 3\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"Empty":        {"Documents without content are skipped.", "---\n\n---\n# only a comment\n---\na: 1\n---\n...\n---\n", []string{`{"a":1}`}},
		"Nothing":      {"An empty stream has no documents.", "", nil},
		"Null":         {"A null document is skipped in YAML and in JSON.", "---\nnull\n---\n~\n---\n{\"a\":1}\nnull\n", []string{`{"a":1}`}},
		"NoNewline":    {"The last line needs no line break.", "a: 1\n---\nb: 2", []string{`{"a":1}`, `{"b":2}`}},
		"ByteOrder":    {"A byte order mark is not content.", "\uFEFFa: 1\n", []string{`{"a":1}`}},
		"ByteOrders":   {"Concatenated files may each have a byte order mark.", "\uFEFFa: 1\n\uFEFF---\nb: 2\n---\n\uFEFFc: 3\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"ByteOrderCR":  {"A byte order mark and Windows line breaks may be combined.", "\uFEFF---\r\na: 1\r\n---\r\nb: 2\r\n", []string{`{"a":1}`, `{"b":2}`}},
		"CRLF":         {"Line breaks do not become part of values.", "a: x\r\nb: |\r\n  y\r\n  z\r\n---\r\nc: 1\r\n", []string{`{"a":"x","b":"y\nz\n"}`, `{"c":1}`}},
		"CR":           {"A lone carriage return ends a line too.", "a: 1\rb: 2\r---\rc: 3\r", []string{`{"a":1,"b":2}`, `{"c":3}`}},
		"Directive":    {"A directive applies to the document that follows it.", "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", []string{`{"a":1}`, `{"b":2}`}},
		"Directive12":  {"YAML 1.2 is accepted.", "# comment\n%YAML 1.2\n---\na: 1\n", []string{`{"a":1}`}},
		"DirectiveTag": {"Other directives are kept.", "%YAML 1.2\n%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n", []string{`{"a":"1"}`}},
		"Percent":      {"Only text before a document is a directive.", "a: |\n  x\n  %YAML 1.2\n", []string{`{"a":"x\n%YAML 1.2\n"}`}},
		"End":          {"Three dots end a document.", "a: 1\n...\nb: 2\n... # bye\n", []string{`{"a":1}`, `{"b":2}`}},
		"SameLine":     {"Content may follow the marker.", "--- {a: 1}\n--- [b]\n--- |\n  c\n--- \"d\"\n---\te\n", []string{`{"a":1}`, `["b"]`, `"c\n"`, `"d"`, `"e"`}},
		"NotMarker":    {"Three dashes followed by text are text.", "---a: 1\n", []string{`{"---a":1}`}},
		"InLiteral":    {"An indented marker is text.", "a: |\n  ---\n  b\n", []string{`{"a":"---\nb\n"}`}},
		"Flow":         {"Flow style is not JSON.", "{a: b, c: [d, 'e', \"f\"], g: {h: i,},}\n", []string{`{"a":"b","c":["d","e","f"],"g":{"h":"i"}}`}},
		"FlowComment":  {"JSON with a comment is YAML.", "{\"a\": 1} # one\n", []string{`{"a":1}`}},
		"FlowLines":    {"A list of objects may start its lines with braces.", "[\n{\"a\":1},\n{\"b\":2}\n]\n", []string{`[{"a":1},{"b":2}]`}},
		"JSON":         {"A JSON document is decoded.", `{"a":[1,true,null,"x",{"b":{}}],"c":[]}`, []string{`{"a":[1,true,null,"x",{"b":{}}],"c":[]}`}},
		"JSONEscapes":  {"Escapes that YAML does not know are decoded.", `{"a":"\ud83d\ude00 \/ \b\f\u0000"}`, []string{`{"a":"😀 / \u0008\u000c\u0000"}`}},
		"JSONMarked":   {"JSON after a marker is decoded as JSON.", "---\n{\"a\":\"\\ud83d\\ude00\"}\n--- {\"b\":\"\\/\"}\n", []string{`{"a":"😀"}`, `{"b":"/"}`}},
		"JSONLoneHalf": {"Half a surrogate pair is not a character.", `{"a":"\ud83d"}`, []string{`{"a":"` + "\uFFFD" + `"}`}},
		"JSONTab":      {"JSON may be indented with tabs.", "{\n\t\"a\":\t1\n}\n", []string{`{"a":1}`}},
		"NDJSON":       {"Each line is a document.", "{\"a\":1}\n{\"b\":2}\n\n{\"c\":3}\r\n{\"d\":4}", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`, `{"d":4}`}},
		"SameLineJSON": {"Several values may be on one line.", `{"a":1}{"b":2} [3]`, []string{`{"a":1}`, `{"b":2}`, `[3]`}},
		"PrettyJSON":   {"Several values may be indented.", "{\n  \"a\": {\n    \"x\": 1\n  }\n}\n{\n  \"b\": 2\n}\n", []string{`{"a":{"x":1}}`, `{"b":2}`}},
		"Mixed":        {"Each document may have its own format.", "a: 1\n---\n{\"b\":2}\n---\n{c: 3}\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		"List":         {"A list of objects is one document.", "kind: List\nitems:\n- a: 1\n- b: 2\n", []string{`{"kind":"List","items":[{"a":1},{"b":2}]}`}},
		"Anchors":      {"Aliases are expanded.", "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n", []string{`{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}`}},
		"AnchorKey":    {"Keys may be anchored and be aliases.", "&k a: &v 1\nb: *k\n*v : c\n", []string{`{"a":1,"b":"a","1":"c"}`}},
		"AnchorAgain":  {"An alias refers to the last anchor of its name.", "a: &x 1\nb: &x 2\nc: *x\n", []string{`{"a":1,"b":2,"c":2}`}},
		"AnchorNull":   {"An anchor may be on an empty value.", "a: &x\nb: *x\n", []string{`{"a":null,"b":null}`}},
		"Merge":        {"Entries of a map override merged ones.", "x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n", []string{`{"x":{"a":1,"b":2},"y":{"b":3,"a":1}}`}},
		"MergeList":    {"Earlier merged maps override later ones.", "a:\n  <<: [{x: 1}, {x: 2, y: 3}]\n", []string{`{"a":{"x":1,"y":3}}`}},
		"MergeTwice":   {"A map may merge more than once.", "<<: {a: 1}\n<<: {b: 2}\nc: 3\n", []string{`{"c":3,"a":1,"b":2}`}},
		"MergeAnchor":  {"An anchor inside a merge can be used.", "a:\n  <<: &d {x: 1}\n  e: *d\n", []string{`{"a":{"e":{"x":1},"x":1}}`}},
		"MergeQuoted":  {"A quoted << is an ordinary key.", "\"<<\": {a: 1}\n", []string{`{"<<":{"a":1}}`}},
		"Multiline":    {"Plain text may span several lines.", "a: x\n  y\n\n  z\nb: >-\n  p\n  q\n", []string{`{"a":"x y\nz","b":"p q"}`}},
		"Complex":      {"Explicit keys are supported.", "? a\n: 1\n? b\n", []string{`{"a":1,"b":null}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, errs := decode(t, tc.in)
			if len(errs) > 0 {
				t.Fatalf("%s\nunexpected errors: %q", tc.reason, errs)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeScalars(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Hex":         {"Numbers are normalized to JSON.", "0x1F", "31"},
		"Octal":       {"YAML 1.2 octals are numbers.", "0o17", "15"},
		"OldOctal":    {"YAML 1.1 octals are numbers, as in Kubernetes.", "0644", "420"},
		"Binary":      {"Binary literals are numbers.", "0b101", "5"},
		"Underscore":  {"Digits may be grouped.", "1_000", "1000"},
		"Plus":        {"A number may have a plus sign.", "+12", "12"},
		"MinusZero":   {"Negative zero is zero.", "-0", "0"},
		"Whole":       {"A float without a fraction is an integer.", "1.0", "1"},
		"Exponent":    {"A float with an exponent and no fraction is an integer.", "1e3", "1000"},
		"Fraction":    {"Trailing zeros of fractions are removed.", "1.50", "1.5"},
		"Point":       {"A number may begin with a decimal point.", ".5", "0.5"},
		"Huge":        {"Integers keep their digits.", "12345678901234567890", "12345678901234567890"},
		"Huger":       {"Integers of any size keep their digits.", "123456789012345678901234567890", "123456789012345678901234567890"},
		"LargeFloat":  {"Large floats stay floats.", "1e100", "1e+100"},
		"TooLarge":    {"A number that is too large for a float is a string.", "1e999", `"1e999"`},
		"Yes":         {"Only true and false are booleans.", "yes", `"yes"`},
		"No":          {"no is a string.", "no", `"no"`},
		"On":          {"on is a string.", "on", `"on"`},
		"Off":         {"OFF is a string.", "OFF", `"OFF"`},
		"Y":           {"y is a string.", "y", `"y"`},
		"True":        {"Booleans have three spellings.", "TRUE", "true"},
		"False":       {"Booleans have three spellings.", "False", "false"},
		"Null":        {"Null has several spellings.", "[null, Null, NULL, ~, ]", "[null,null,null,null]"},
		"Date":        {"Timestamps are strings, as in Kubernetes.", "2024-01-01", `"2024-01-01"`},
		"Time":        {"Timestamps are strings, as in Kubernetes.", "2024-01-01T10:20:30Z", `"2024-01-01T10:20:30Z"`},
		"Sexagesimal": {"Base 60 numbers are strings.", "1:30", `"1:30"`},
		"Version":     {"A version with two dots is a string.", "1.2.3", `"1.2.3"`},
		"Quoted":      {"Quoted scalars are strings.", `["1", 'true', "null"]`, `["1","true","null"]`},
		"TagStr":      {"Scalars with the tag !!str are strings.", "!!str 12", `"12"`},
		"TagInt":      {"A tag converts a string to a number.", `!!int "12"`, "12"},
		"TagFloat":    {"A tag on a number is accepted.", "!!float 3", "3"},
		"TagBinary":   {"Binary values are strings.", "!!binary aGVsbG8=", `"aGVsbG8="`},
		"TagOwn":      {"Custom tags are ignored.", "!Ref x", `"x"`},
		"TagMap":      {"Custom tags on collections are ignored.", "!Sub {a: [!x b]}", `{"a":["b"]}`},
		"Keys":        {"Keys are always strings.", "{on: 1, y: 2, no: 3, 12: 4, true: 5, 1.0: 6, 2024-01-01: 7, null: 8}", `{"on":1,"y":2,"no":3,"12":4,"true":5,"1.0":6,"2024-01-01":7,"null":8}`},
		"EmptyKey":    {"A key may be empty.", "\"\": 1", `{"":1}`},
		"Escapes":     {"Escapes of YAML are decoded.", `"\x41\u00e9\U0001F600\e\N\_\L\P"`, "\"Aé😀\\u001b\\u0085\u00a0\\u2028\\u2029\""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, errs := decode(t, "- "+tc.in+"\n")
			if len(errs) > 0 {
				t.Fatalf("%s\nunexpected errors: %q", tc.reason, errs)
			}
			if diff := cmp.Diff([]string{"[" + tc.want + "]"}, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeStops(t *testing.T) {
	seen := 0
	err := parser.Decode(strings.NewReader("a: 1\n---\nb: 2\n---\nc: 3\n"), parser.Limits{}, func(*tree.Node, *parser.Error) bool {
		seen++
		return seen < 2
	})
	if err != nil || seen != 2 {
		t.Errorf("Decode called yield %d times and returned %v, want twice and nil", seen, err)
	}
	seen = 0
	err = parser.Decode(strings.NewReader(`{"a":1} {"b":2} {"c":3}`), parser.Limits{}, func(*tree.Node, *parser.Error) bool {
		seen++
		return false
	})
	if err != nil || seen != 1 {
		t.Errorf("Decode called yield %d times and returned %v, want once and nil", seen, err)
	}
}

func TestDecodeReader(t *testing.T) {
	broken := errors.New("broken pipe")
	in := io.MultiReader(strings.NewReader("a: 1\n---\nb: 2\n"), iotest.ErrReader(broken))
	var docs []*tree.Node
	err := parser.Decode(in, parser.Limits{}, func(n *tree.Node, _ *parser.Error) bool {
		docs = append(docs, n)
		return true
	})
	if !errors.Is(err, broken) {
		t.Errorf("Decode returned %v, want the reader's error", err)
	}
	if len(docs) != 1 {
		t.Errorf("Decode read %d documents, want the one that was complete", len(docs))
	}
	docs = nil
	err = parser.Decode(iotest.OneByteReader(strings.NewReader("a: 1\n---\n{\"b\":\n2}\n")), parser.Limits{}, func(n *tree.Node, _ *parser.Error) bool {
		docs = append(docs, n)
		return true
	})
	if err != nil || len(docs) != 2 {
		t.Errorf("Decode read %d documents and returned %v, want 2 and nil", len(docs), err)
	}
}
