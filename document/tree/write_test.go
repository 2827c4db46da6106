package tree_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
)

// reread checks that n, written as YAML and JSON in every format, is read back
// equal by this package and by standard parsers.
func reread(t interface {
	Helper()
	Errorf(format string, args ...any)
}, n *tree.Node) {
	t.Helper()
	texts := map[string][]byte{
		"YAML":          tree.AppendYAML(nil, n),
		"YAML in list":  tree.AppendYAML(nil, tree.Arr(n, tree.Arr(n), n)),
		"JSON":          tree.AppendJSON(nil, n, ""),
		"indented JSON": tree.AppendJSON(nil, n, "  "),
		"canonical":     tree.AppendCanonical(nil, n),
	}
	for how, text := range texts {
		want := n
		if how == "YAML in list" {
			want = tree.Arr(n, tree.Arr(n), n)
		}
		docs, errs := parser.DecodeBytes(text)
		if len(errs) > 0 {
			t.Errorf("%s cannot be read back: %v\n%q", how, errs, text)
			continue
		}
		if want.IsNull() {
			continue
		}
		if len(docs) != 1 || !docs[0].Equal(want) {
			t.Errorf("%s was read back as another value:\n%q", how, text)
		}
		var plain any
		if err := yaml.Unmarshal(text, &plain); err != nil {
			t.Errorf("%s cannot be read by yaml: %v\n%q", how, err, text)
		}
		if again, err := tree.From(plain); err != nil || !again.Equal(want) {
			t.Errorf("%s is read by yaml as %#v (%v):\n%q", how, plain, err, text)
		}
		if strings.HasPrefix(how, "YAML") {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&plain); err != nil {
			t.Errorf("%s cannot be read by encoding/json: %v\n%q", how, err, text)
		}
		if again, err := tree.From(plain); err != nil || !again.Equal(want) {
			t.Errorf("%s is read by encoding/json as %#v (%v):\n%q", how, plain, err, text)
		}
	}
}

// awkward are strings that some parsers read as another type.
var awkward = []string{
	"", " ", "  ", "\n", "\n\n", "\t", "\r", "\r\n", "a", "a b", " a", "a ", "a\n", "a\n\n", "a\n\n\n", "\na", "\n a", " \na", "a\n b", "a\n  b\n c",
	"a\nb", "a\nb\n", "a\n\nb", "a\n \nb", "a\n  ", "a\n  \n", "a\n\t", "a\n\tb", "a\tb", "a\rb", "a\r\nb\r\n", "  a\nb", "a \nb ", "# a\nb", "a\n# b", "- a\n- b", "---\na", "a\n---\nb", "a\n...\n", "a: b\nc: d\n",
	"a\u0085b", "a\u2028b", "a\u2029b", "\uFEFFa", "a\uFEFFb", "a\n\uFEFFb", "a\u0085\nb", "a\u2028\nb", "\u00a0a", "a\u00a0", "\u00ad", "é", "日本", "😀", "😀\n😀", "\U0010FFFF", "\uFFFD", "\uFFFE", "\uFFFF", "\x00", "\x01", "\x1b[0m", "\x7f", "\u0080", "\u009f",
	"0", "1", "-1", "+1", "01", "007", "0644", "08", "1.0", "1.", ".5", "-.5", "+.5", "1e3", "1E3", "1e+3", "1.5e-3", "12e03", "0x1F", "0X1F", "0xg", "0o17", "0O17", "0b11", "0B11", "-0x1", "-0b1", "-0o1", "1_000", "1__0", "1,000", "0_", "0x_1", "1.2.3", "10.0.0.1", "10.0.0.0/8", "1/2", "123abc", "1a", "1Gi", "500m", "5%", "1 2", "1 # 2", "0 0", "٣", "1:30", "12:30:45", "190:20:30.15", "1:2:x", "2024-01-01", "2024-1-1", "2024-01-01T10:20:30Z", "2024-01-01 10:20:30", "2001-12-14t21:59:43.10-05:00", "2024-01-01x", "2024-x", "99999999999999999999", "123456789012345678901234567890", "1e999", "-0", "00", "0.0", "0e0", "1e", "1e-", "e1", "_1", "0.", "..", "...", ". a", ".a", ".inf", "-.inf", "+.INF", ".nan", ".NaN", "inf", "Infinity", "nan", "NaN",
	"y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "true", "True", "TRUE", "false", "False", "null", "Null", "NULL", "~", "~a", "nULL", "tRuE", "nothing", "t", "f",
	"<<", "<", "<a", "=", "==", "=a", "-", "--", "---", "--- a", "- a", "-a", "?", "? x", "?x", ":", ": a", ":a", "a:", "a: b", "a:b", "a :b", "a : b", "a::b", "a:\tb", "#", "#a", "a#b", "a #b", "a# b", "a\t#b", ",", ",a", "a,b", "[", "[a]", "a[0]", "]", "{", "{a}", "{a: b}", "{{ x }}", "a}", "}", "&", "&a", "a&b", "*", "*a", "a*b", "!", "!a", "!!str a", "a!", "|", "|a", "|-", "a|b", ">", ">a", ">-", "a>b", "'", "''", "'a'", "a'b", "it's", "\"", "\"a\"", "a\"b", "%", "%a", "%YAML 1.2", "a%", "@", "@x", "a@b", "`", "`x", "a`b", "\\", "a\\b", "\\n", "C:\\x", "/", "a/b", "http://x", "$", "${x}", "$a", "(", "a;b", "^", "^a$", "é: b", "a\n: b", "a\n- b", "\"a\nb\"",
}

func TestWriteStrings(t *testing.T) {
	for _, s := range awkward {
		t.Run(fmt.Sprintf("%q", s), func(t *testing.T) {
			reread(t, tree.Str(s))
			reread(t, tree.Obj(tree.F("k", tree.Str(s)), tree.F("l", tree.Arr(tree.Str(s), tree.Obj(tree.F("m", tree.Str(s)))))))
			reread(t, tree.Obj(tree.F(s, tree.Number(1))))
			reread(t, tree.Obj(tree.F(s, tree.Str(s)), tree.F("x"+s, tree.Arr(tree.Obj(tree.F(s, tree.Obj(tree.F(s, tree.Nil()))))))))
		})
	}
}

// TestWriteOtherReaders checks that strings which older parsers read as another
// type are quoted.
func TestWriteOtherReaders(t *testing.T) {
	for _, s := range []string{
		"y", "N", "yes", "No", "on", "OFF", "1:30", "190:20:30.15", "12:30:45", "1,000", "0o17", "0O17", "0b11", "1_000", ".5", "+1", "1e3", "12e03", "2024-01-01", "2001-12-14 21:59:43.10 -5",
		"=", "<<", "~", ".inf", "NaN", "0x", "@x", "`x", "%a", "123abc", "1.2..3", "1.2.", "-", "? x", "a: b", "a #b", "#a", "\u0085", "a\u2028",
	} {
		got := string(tree.AppendYAML(nil, tree.Str(s)))
		if !strings.HasPrefix(got, `"`) {
			t.Errorf("%q is written as %s, want it quoted", s, got)
		}
	}
	for _, s := range []string{"a", "a b", "v1", "v1alpha1", "1Gi", "500m", "10.0.0.0/8", "a:b", "a#b", "http://x.io/y?z=1", "it's", "nothing", "offline", "é", "x{y}", "C:\\x", "a, b", "3 of them"} {
		if got := string(tree.AppendYAML(nil, tree.Str(s))); got != s+"\n" {
			t.Errorf("%q is written as %s, want it plain", s, got)
		}
	}
}

// TestWriteLongKeys checks keys around and beyond the length at which YAML
// parsers stop looking for a colon, plain and escaped, before every kind of
// value. JSON has no explicit keys, so only JSON parsers read those.
func TestWriteLongKeys(t *testing.T) {
	for _, n := range []int{170, 990, 1000, 1001, 1023, 1024, 1025, 5000} {
		for _, c := range []string{"k", "é", "\x01", "\n", "\"", "k "} {
			key := strings.Repeat(c, n)
			for _, v := range []*tree.Node{tree.Number(1), tree.Str("a\nb\n"), tree.Obj(), tree.Arr(tree.Str("x\ny"), tree.Obj(tree.F(key, tree.Nil()))), tree.Obj(tree.F(key, tree.Str("z")))} {
				want := tree.Obj(tree.F("a", tree.Number(1)), tree.F(key, v), tree.F("b", tree.Number(2)))
				text := tree.AppendYAML(nil, tree.Arr(want))
				docs, errs := parser.DecodeBytes(text)
				if len(errs) > 0 || len(docs) != 1 || !docs[0].Items[0].Equal(want) {
					t.Errorf("%d times %q is not read back: %v\n%.300q", n, c, errs, text)
				}
				var plain []any
				if err := yaml.Unmarshal(text, &plain); err != nil {
					t.Errorf("%d times %q cannot be read by yaml: %v\n%.300q", n, c, err, text)
					continue
				}
				if again, err := tree.From(plain[0]); err != nil || !again.Equal(want) {
					t.Errorf("%d times %q is read by yaml as something else: %v\n%.300q", n, c, err, text)
				}
			}
		}
	}
}

func TestWriteYAML(t *testing.T) {
	long := strings.Repeat("k", 2000)
	cases := map[string]struct {
		reason string
		in     *tree.Node
		want   string
	}{
		"Nil":       {"Nil is null.", nil, "null\n"},
		"Empty":     {"Empty collections are written on the line of their key.", tree.Obj(tree.F("a", tree.Obj()), tree.F("b", tree.Arr())), "a: {}\nb: []\n"},
		"Nested":    {"Lists are indented below their key, and maps begin on the line of their dash.", tree.Obj(tree.F("a", tree.Arr(tree.Obj(tree.F("b", tree.Number(1)), tree.F("c", tree.Arr(tree.Str("d")))), tree.Arr(tree.Arr(tree.Str("e")), tree.Nil())))), "a:\n  - b: 1\n    c:\n      - d\n  - - - e\n    - null\n"},
		"Literal":   {"A string with several lines is a literal block.", tree.Obj(tree.F("a", tree.Str("x\ny\n")), tree.F("b", tree.Arr(tree.Str("x\n\n  y")))), "a: |\n  x\n  y\nb:\n  - |-\n    x\n\n      y\n"},
		"Keep":      {"Trailing line breaks are kept.", tree.Obj(tree.F("a", tree.Str("x\n\n\n")), tree.F("b", tree.Number(1))), "a: |+\n  x\n\n\nb: 1\n"},
		"Root":      {"A literal block at the root is indented.", tree.Str("x\n---\ny\n"), "|\n  x\n  ---\n  y\n"},
		"Quoted":    {"A string that a literal block would change is quoted.", tree.Arr(tree.Str(" x\ny"), tree.Str("\nx"), tree.Str("x\n\ty"), tree.Str("x\r\n")), "- \" x\\ny\"\n- \"\\nx\"\n- \"x\\n\\ty\"\n- \"x\\r\\n\"\n"},
		"LongKey":   {"A key that is longer than the lookahead of parsers is written as an explicit key.", tree.Arr(tree.Obj(tree.F(long, tree.Number(1)), tree.F("b", tree.Number(2)))), "- ? \"" + long + "\"\n  : 1\n  b: 2\n"},
		"Scalars":   {"Scalars are written unchanged.", tree.Arr(tree.Boolean(true), tree.Number(-5), tree.Nil(), tree.Str("true")), "- true\n- -5\n- null\n- \"true\"\n"},
		"NilValues": {"A nested nil is null.", &tree.Node{Kind: tree.List, Items: []*tree.Node{nil}}, "- null\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(tree.AppendYAML(nil, tc.in))); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWriteJSON(t *testing.T) {
	n := tree.Obj(tree.F("b", tree.Arr(tree.Number(1), tree.Obj())), tree.F("a", tree.Str("<&> \"\\\n\u2028")), tree.F("c", tree.Arr()))
	if diff := cmp.Diff(`{"b":[1,{}],"a":"<&> \"\\\n\u2028","c":[]}`, string(tree.AppendJSON(nil, n, ""))); diff != "" {
		t.Errorf("AppendJSON: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(`{"a":"<&> \"\\\n\u2028","b":[1,{}],"c":[]}`, string(tree.AppendCanonical(nil, n))); diff != "" {
		t.Errorf("AppendCanonical: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("{\n\t\"b\": [\n\t\t1,\n\t\t{}\n\t],\n\t\"a\": \"<&> \\\"\\\\\\n\\u2028\",\n\t\"c\": []\n}", string(tree.AppendJSON(nil, n, "\t"))); diff != "" {
		t.Errorf("AppendJSON with an indent: -want, +got:\n%s", diff)
	}
	if got := string(tree.AppendJSON([]byte("x"), nil, "")); got != "xnull" {
		t.Errorf("AppendJSON of nil appends %q, want null", got)
	}
	if n.Fields[0].Key != "b" {
		t.Error("AppendCanonical changed the order of the keys of its argument")
	}
}

func TestWriteInvalidUTF8(t *testing.T) {
	for _, s := range []string{"\xff", "a\xc3", "a\n\xffb", "\xed\xa0\x80"} {
		want := tree.Str(strings.ToValidUTF8(s, "\uFFFD"))
		for _, text := range [][]byte{tree.AppendYAML(nil, tree.Arr(tree.Str(s))), tree.AppendJSON(nil, tree.Arr(tree.Str(s)), "")} {
			docs, errs := parser.DecodeBytes(text)
			if len(errs) > 0 || len(docs) != 1 || !utf8.ValidString(docs[0].Items[0].Text) {
				t.Errorf("%q is written as %q, which reads as %v (%v), want %q", s, text, docs, errs, want.Text)
			}
		}
	}
}

// anyText draws strings that are likely to break a writer.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom(awkward),
		rapid.StringOf(rapid.SampledFrom([]rune("ab \t\n\r:#-?,[]{}&*!|>'\"%@`0123456789.eExXoO_+~=<\u0085\u2028\uFEFFé😀\\/"))),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 3).Draw(t, "pieces"), "")
	})
}

// anyNode draws nodes of at most the given depth.
func anyNode(depth int) *rapid.Generator[*tree.Node] {
	text := anyText()
	return rapid.Custom(func(t *rapid.T) *tree.Node {
		top := 6
		if depth == 0 {
			top = 4
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return tree.Nil()
		case 1:
			return tree.Boolean(rapid.Bool().Draw(t, "bool"))
		case 2:
			return tree.Number(rapid.Int64().Draw(t, "int"))
		case 3:
			n, err := tree.From(rapid.Float64().Draw(t, "float"))
			if err != nil {
				return tree.Nil()
			}
			return n
		case 4:
			return tree.Str(text.Draw(t, "text"))
		case 5:
			return tree.Arr(rapid.SliceOfN(anyNode(depth-1), 0, 4).Draw(t, "items")...)
		}
		n := tree.Obj()
		for _, k := range rapid.SliceOfNDistinct(text, 0, 4, rapid.ID[string]).Draw(t, "keys") {
			n.Set(k, anyNode(depth-1).Draw(t, "value"))
		}
		return n
	})
}

func TestWriteAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reread(t, tree.Str(anyText().Draw(t, "text")))
	})
}

func TestWriteAnyNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reread(t, anyNode(4).Draw(t, "node"))
	})
}

func TestWriteAllocates(t *testing.T) {
	docs, _ := parser.DecodeBytes(document(7 << 10))
	buf := make([]byte, 0, 64<<10)
	for name, write := range map[string]func(){
		"AppendYAML": func() { tree.AppendYAML(buf, docs[0]) },
		"AppendJSON": func() { tree.AppendJSON(buf, docs[0], "  ") },
	} {
		if got := testing.AllocsPerRun(10, write); got > 0 {
			t.Errorf("%s allocates %v times, want never", name, got)
		}
	}
}
