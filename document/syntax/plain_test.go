package syntax_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.dev/ingestor/document/syntax"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/test/sample"
)

// defaults are the limits that package parser sets by default.
var defaults = syntax.Limits{Depth: 100, Aliased: 200_000, Values: 1_000_000}

// differs reads doc with both readers, and returns whether the fast one took it, and if
// so, how its result differs from that of the full one.
func differs(doc []byte, line int, limits syntax.Limits) (taken bool, difference string) {
	n := syntax.Plain(bytes.Clone(doc), line, limits)
	if n == nil {
		return false, ""
	}
	nodes, err := syntax.Full(bytes.Clone(doc), line, limits)
	switch {
	case err != nil:
		return true, "the full reader reports " + err.Error()
	case len(nodes) != 1:
		return true, fmt.Sprintf("the full reader returns %d documents", len(nodes))
	}
	return true, firstDifference("", n, nodes[0])
}

// firstDifference returns where a and b differ in any way: also in position, in quotes, and in
// whether an empty list is nil.
func firstDifference(path string, a, b *tree.Node) string {
	flat := func(n *tree.Node) string {
		return fmt.Sprintf("%v plain=%v %q at %v, %d fields (nil: %v), %d items (nil: %v)",
			n.Kind, n.Plain, n.Text, n.Pos, len(n.Fields), n.Fields == nil, len(n.Items), n.Items == nil)
	}
	if flat(a) != flat(b) {
		return fmt.Sprintf("%s: plain %s, full %s", path, flat(a), flat(b))
	}
	for i, f := range a.Fields {
		if g := b.Fields[i]; f.Key != g.Key || f.Pos != g.Pos {
			return fmt.Sprintf("%s: key %d: plain %q at %v, full %q at %v", path, i, f.Key, f.Pos, g.Key, g.Pos)
		}
		if d := firstDifference(path+"."+f.Key, f.Value, b.Fields[i].Value); d != "" {
			return d
		}
	}
	for i, it := range a.Items {
		if d := firstDifference(fmt.Sprintf("%s[%d]", path, i), it, b.Items[i]); d != "" {
			return d
		}
	}
	return ""
}

// scalars are texts that YAML, or one of its versions, gives a meaning to.
var scalars = []string{
	"yes", "no", "on", "off", "y", "n", "Y", "N", "true", "True", "TRUE", "false", "False", "FALSE", "tRUE", "null", "Null", "NULL", "nULL", "~", "~~",
	"0", "-0", "+0", "00", "0755", "-0755", "0o17", "0O17", "-0o17", "0x1F", "0X1f", "-0x1", "0b11", "-0b11", "0B11", "1_000", "_1", "1_", "1__0", "0x_1",
	"12", "-12", "+12", "1e3", "1E3", "1e", "1e400", "-1e400", "e3", "1.5", "-1.5", "+1.5", "1.", ".5", "-.5", "+.5", "1.50", "0.1", "00.1", "1.0", "-0.0", "1.5e3",
	"1.2.3", "1.2.3.4", "1..2", "1,2", "9007199254740993", "9223372036854775808", "18446744073709551616", "0.30000000000000004", "123456789012345.6",
	".inf", "-.inf", "+.inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", "inf", "nan", "NaN", "-inf", "..", ".", ".a", "./a", ".e5", "._1", "-", "--", "+", "-a", "-f", "+a",
	"190:20:30", "1:20", "12:30:45", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "2001-1-1", "2001-13-45", "20011214",
	"10Gi", "500m", "5b", "3d", "1a", "0xg", "0o8", "0b2", "5f", "deadbeef", "1e3f", "10.0.0.0/16", "v1", "1h30m",
	"<<", "=", "a=b", "!", "!!str a", "&a", "&a b", "*a", "@a", "`a`", "%a", "|", ">", "|-", ">+", "|2", "?", "? a", "?a", ":", ": a", ":a", "::", "a:", "a: b", "a:b", "a::b",
	"-- a", "- a", "- - a", "[", "]", "{", "}", "[a", "a]", "{a", "a}", "a,b", ",a", "a, b", "[]", "{}", "[ ]", "{ }", "[,]", "[a,]", "[a,,b]", "[a b, c]", "[-1, -a, - a]", "[-]",
	"[a: b]", "[a:b]", "[a:]", "[a :b]", "[?a]", "[a?b]", "[a#b]", "[a #b]", "[a,#b", "[[a],[b]]", "[{a: 1}]", "[<<]", "[~, null, true, 1.5]", "[a\n]", "[a,\n  b]", "[a\n  b]", "[\n]", "[a]b", "[a] b", "[a]#b", "[a] #b",
	"{a: 1}", "{a: 1, b: 2}", "{a: 1,}", "{a}", "{a: }", "{a:}", "{a:1}", "{\"a\":1}", "{\"a\" : 1}", "{'a':1}", "{\"a\":\n1}", "{a:\n 1}", "{a: 1, a: 2}", "{<<: {}}", "{? a : b}", "{a: {b: [c]}}", "{a: b: c}", "{:a}",
	"#", "#a", "# a", "a #b", "a#b", "a # b", "a  ", "a \t", "a\tb", "\ta", "a\t#b", "\"\"", "''", "\"a\"", "'a'", "'a''b'", "''''", "'a'b", "'a' b", "\"a\"b", "\"a\" #b", "\"a\"#b", "'a", "\"a", "\"a\\\"b\"",
	`"\n\t\r\\\""`, `"\x41\u0041\U00000041"`, `"\0\a\b\e\f\v\N\_\L\P\/"`, `"\q"`, `"\u00e9\u2019\xE9\u0000"`, `"\ud83d\ude00"`, `"\uFFFF\ufffe\x0"`, `"\u00"`, `"\x1\x"`, `"\x1:\x1"`, "\"\\x\x10\x11\"", `"\ a"`, "\"a\\\n  b\"", "\"a \\\n  \\ b\"", "\"a\\\n\n\n  b\"", "\"\\\n\"", "\"a\\\n\\\n b\\\n\"", "\"a\n  b\"", "\"a  \n\n  b\"", "'a\n  b'", "'a\n\n\n b '", "\" \n \"", "\"a\nb\"", "'\n'",
	"a\n  b", "a\n\n  b", "a\n  b: c", "a\n  - b", "a\n  # b\n  c", "a # b\n  c", "a\n  b # c", "a\n b\n  c\n", "1\n 2", "a\n  'b'", "a\n  \"b", "a\n  #b", "a\n  &b", "a\n   :b", "a\n  b:",
	"|\n  a", "|\n  a\n", "|\n  a\n  b\n", "|-\n  a\n\n", "|+\n  a\n\n\n", ">\n  a\n  b\n", ">\n  a\n\n  b\n", ">\n  a\n   b\n  c\n", ">-\n  a\n  b\n\n", ">+\n  a\n\n", "|\n\n\n  a\n", "|\n    \n  a\n", "|\n \n  a\n", "|\n  a\n \n  b\n", "|\n  a\n    \n  b\n",
	"|\n  a\n # b\n", "|\n  # a\n", "|\n  a\n# b\n", "|\n    a\n  b\n", "| # a\n  b\n", "|  \n  a\n", "|a\n  b\n", "|2\n    a\n", "|+2\n   a\n", "|\n", "|\na\n", "|\n  ---\n  a\n", "|\n  ...\n", "|\n---\n", "|\n  %a\n", "|\n  a: b\n  - c\n", "|\n\ta\n", "|\n  \ta\n", "|\n  a\tb\n", "|\n  a\n\tb\n", ">\n  a\n  \tb\n", ">\n\n  a\n\n\n   b\n\n  c\n",
	"é", "\"é\"", "[é, b]", "{é: b, c: d}", "a\u00a0b", "a\u0085b", "a\u2028b", "a\u2029b", "\ufeffa", "\ufffe", "a\x00b", "a\x7fb", "a\x80b", "\xff", "a\x01", "😀", "\u200b",
}

// documents are whole documents with a trap in their structure.
var documents = []string{
	"", "\n", " ", "# a\n", "---\n", "---", "...\n", "--- a\n", "--- # a\na: 1\n", "---\na: 1\n", "--- \na: 1\n", "a: 1\n---\n", "a: 1\n---\nb: 1\n", "a: 1\n...\n", "---\n---\na: 1\n", "----\na: 1\n", "---a: 1\n", "# a\n---\n# b\na: 1\n", "%YAML 1.1\n---\na: 1\n", "a: 1\n%b\n", "a:\n%b: 1\n", "...a: 1\n", "---\n...\na: 1",
	"a: 1\n", "a: 1", "a:", "a:\n", "a: \n", "a: # b\n", "a:\n  b: 1\n", "a:\n  b:\n    c:\n", "a:\nb:\n", "a:\n  b:\nc:\n", "a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n", "a:\n-\n- b\n-\n", "-\n", "- a", "-", "- \n- b\n", "- # a\n  b: 1\n", "- # a\n- b\n", "- a\n-\n  b\n", "-\n  a: 1\n-\n  - b\n",
	"- a: 1\n  b: 2\n- c: 3\n", "- a: 1\n   b: 2\n", "- a: 1\n b: 2\n", "- a: 'x'\n   b: 2\n", "-   a: 1\n    b: 2\n", "- - a\n  - b\n- - c\n", "- - - a\n", "- - a\n  b: c\n", "- a:\n  - b\n  c: d\n", "- a:\n  - b\n- c\n", "- a:\n- b\n", "- a:\n    - b\n   - c\n", "- |\n  a\n- >\n  b\n", "- a: |\n    b\n  c: d\n", "a:\n  - b\n c\n", "a:\n  - b\n - c\n", "a:\n - b\n  - c\n",
	"a:\n  |\n  b\n", "a:\n  - |\n   b\n", "a:\n- |\n b\n", "a:\n- |\n  b\n  c\n- d\n", "a: - b\n", "a:\n  b\n", "a:\n  b\n  c\n", "a:\n b\n  c\nd: e\n", "a:\n  'b'\n", "a:\n  [b]\n", "a:\n  b c: d\n", "a:\n  # b\n  c: d\n", "a:\n# b\n  c: d\n", "a:\n  c: d\n # e\n  f: g\n", "a: 1\n# b\n", "a: 1\n  # b\nc: 2\n", "a: 1 # b\n  # c\n# d\n\n# e\nf: 1\n",
	"a: 1\n\n\n  \nb: 2\n", "a: 1\n \t\nb: 2\n", "a:\t1\n", "a: 1\t\n", "a: 1 \t# b\n", "\ta: 1\n", "a:\n\tb: 1\n", "-\ta\n", "a: 1\r\nb: 2\r\n", "a: |\r\n  b\r\n", "a: 1\rb: 2", "\ufeffa: 1\n", "a: 1\n\ufeffb: 2\n", "# \u2028a: 1\nb: 2\n", "# é\na: 1\n", "a: 1\nb",
	"a: 1\na: 2\n", "a: 1\n\"a\": 2\n", "a:\n  b: 1\n  b: 2\n", "<<: {a: 1}\n", "\"<<\": {a: 1}\n", "? a\n: b\n", "? a\n", ": a\n", "a : b\n", "\"a\" : b\n", "'a': b\n", "\"a\":b\n", "\"a\\nb\": c\n", "'a''b': c\n", "\"a: b\n", "1: a\n", "true: a\n", "null: a\n", "~: a\n", "-a: b\n", "-1: b\n", "a b: c\n", "a #b: c\n", "a#b: c\n", "[a]: b\n", "{a: b}: c\n", "[a]\n", "{a: b}\n", "# a\n[b]\n", "a\n", "'a'\n", "|\n a\n", "*a : b\n", "&a b: c\n", "!!map a: b\n", "a: &x 1\nb: *x\n", "é: b\nc: é # d\n", "é: [a, b]\n", "é:\n- a\n",
	"  a: 1\n  b: 2\n", "  a: 1\n b: 2\n", "  - a\n  - b\n", " - a: 1\n   b: 2\n", "  a: 1\n  b:\n  - c\n", "a: 1\nb: 2\n c: 3\n", "a: 'b'\n c: d\n", "a: [b]\n c: d\n", "a: [b,\nc]\nd: e\n", "a: [\n# b\nc]\n", "a: {b: c,\n  d: e}\nf: g\n", "a: [b\n---\n]\n", "a: \"b\n---\nc\"\n", "a: \"b\n%c\"\n", "a:\n  - b: [c]\n    d: {}\n  -\n    e: []\n",
	strings.Repeat("k", 1000) + ": a\n", strings.Repeat("k", 1023) + ": a\n", strings.Repeat("k", 1024) + ": a\n", strings.Repeat("k", 1025) + ": a\n", "a: {" + strings.Repeat("k", 1030) + ": a}\n", "\"" + strings.Repeat("k", 1030) + "\": a\n", "a: " + strings.Repeat("x ", 3000) + "\n", "a: [" + strings.Repeat("b, ", 2000) + "]\nb: 1\n", "a: # " + strings.Repeat("c", 2000) + "\n  b: 1\n", "a:" + strings.Repeat(" ", 2000) + "# c\nb:" + strings.Repeat(" ", 2000) + "d\n", "a: 1\n" + strings.Repeat("\n", 1000) + "b: 2\n", strings.Repeat("# a\n", 400) + "b: 1\n" + strings.Repeat("  # c\n\n", 400) + "d: 1\n",
	nested(99, "a:", " b"), nested(100, "a:", " b"), nested(101, "a:", " b"), "a: " + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "\n", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n", strings.Repeat("- ", 100) + "a\n", strings.Repeat("- ", 101) + "a\n", "a: " + strings.Repeat("1", 299) + "\nb: " + strings.Repeat("1", 310) + "\nc: " + strings.Repeat("9", 400) + "\nd: " + strings.Repeat("9", 400) + ".5\n",
}

// nested returns maps nested in each other.
func nested(depth int, key, value string) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + key)
		if i == depth-1 {
			b.WriteString(value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// places are where a scalar may be.
var places = []string{"a: %s", "a: %s\n", "a: %s\nb: c\n", "- %s\n- a\n", "a:\n  %s\nb: c\n", "a:\n- %s\n", "%s: a\n", "a: [%s]\n", "a: [b, %s , c]\n", "a: {b: %s}\n", "a: {%s: b}\n", "\"%s\": a\n", "a: '%s' # b\n", "a: \"%s\"\n", "- %s: a\n  b: c\n", "a:\n  b:\n    - %s\n  c: d\n", "%s\n", "a: b %s\nc: d\n", "a: b\n  %s\nc: d\n", "a: |\n  %s\n  b\nc: d\n", "a: >\n  b\n  %s\nc: d\n", "# %s\na: b\n", "a: b # %s\nc: d\n"}

func TestPlainTraps(t *testing.T) {
	taken, all := 0, 0
	check := func(doc string) {
		t.Helper()
		took, difference := differs([]byte(doc), 1, defaults)
		if all++; took {
			taken++
		}
		if difference != "" {
			t.Errorf("%q: %s", doc, difference)
		}
	}
	for _, doc := range documents {
		check(doc)
	}
	for _, place := range places {
		for _, s := range scalars {
			check(strings.Replace(place, "%s", s, 1))
		}
	}
	t.Logf("the fast reader took %d of %d documents", taken, all)
	if taken*3 < all {
		t.Errorf("the fast reader took only %d of %d documents", taken, all)
	}
}

func TestPlainTakes(t *testing.T) {
	for name, doc := range map[string]string{
		"Sample":   string(sample.Definition(0)),
		"Marker":   "# a\n---\n# b\na: 1\n",
		"Texts":    "a: |\n  b\n\n  c\nd: >-\n  e\n  f\ng: h\n  i\n\n  j\nk: \"l\n  m\"\n",
		"Flow":     "a: [b, {c: d, e: []}, 'f', \"g\\n\"]\nh: {}\n",
		"Lists":    "a:\n- b: c\n  d:\n  - - e\n    - f\n-\n  g\n",
		"Numbers":  "a: 1\nb: 1.5\nc: 1e3\nd: 0x1F\ne: 0755\nf: 1_000\ng: 2001-12-14\nh: 1.2.3\ni: -0\n",
		"Words":    "a: yes\nb: True\nc: ~\nd: NULL\ne: off\nf:\n",
		"Comments": "a: 1 # b\n\n  # c\nd:\n  # e\n  f: g\n",
		"Unicode":  "a: é – b # ü\né: [ü, b]\n",
	} {
		t.Run(name, func(t *testing.T) {
			if taken, difference := differs([]byte(doc), 7, defaults); !taken || difference != "" {
				t.Errorf("taken: %v, difference: %s\n%s", taken, difference, doc)
			}
		})
	}
}

// TestPlainLongLine counts the columns of a line with very many values.
func TestPlainLongLine(t *testing.T) {
	doc := "é: [" + strings.Repeat("é, ", 100_000) + "é]\n"
	if taken, difference := differs([]byte(doc), 1, defaults); !taken || difference != "" {
		t.Errorf("taken: %v, difference: %s", taken, difference)
	}
}

// FuzzPlain compares the two readers.
func FuzzPlain(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	for i, s := range scalars {
		f.Add([]byte(strings.Replace(places[i%len(places)], "%s", s, 1)))
		f.Add([]byte("a: " + s + "\nb:\n- " + s + "\n"))
	}
	f.Add(sample.Definition(0))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, difference := differs(doc, 1, defaults); difference != "" {
			t.Errorf("%s\n%q\n%s", difference, doc, doc)
		}
	})
}

// TestPlainCorpus compares the two readers on real files, of which the fast one must take
// nearly all.
func TestPlainCorpus(t *testing.T) {
	dir := os.Getenv("INGESTOR_CORPUS")
	if dir == "" {
		t.Skip("INGESTOR_CORPUS is not set to a folder of real files")
	}
	taken, all := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(rel, string(filepath.Separator))
		for _, doc := range split(data) {
			took, difference := differs(doc, 1, defaults)
			if difference != "" {
				t.Errorf("%s: %s", path, difference)
			}
			if all[kind]++; took {
				taken[kind]++
			} else if testing.Verbose() {
				t.Logf("refused: %s", rel)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, n := range all {
		t.Logf("the fast reader took %d of %d documents in %s", taken[kind], n, kind)
		if kind != "weird" && taken[kind]*10 < n*9 {
			t.Errorf("the fast reader took only %d of %d documents in %s", taken[kind], n, kind)
		}
	}
}

// split returns the documents of a stream that have content.
func split(data []byte) (docs [][]byte) {
	start, at := 0, 0
	add := func(doc []byte) {
		if len(bytes.TrimSpace(doc)) > 0 {
			docs = append(docs, doc)
		}
	}
	for line := range bytes.Lines(data) {
		if syntax.IsMarker(line, "---") {
			add(data[start:at])
			start = at
		}
		at += len(line)
	}
	add(data[start:])
	return docs
}
