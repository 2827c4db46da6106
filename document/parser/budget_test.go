package parser_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"example.dev/ingestor/document/parser"
	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/test/cost"
)

// repeater reads a text repeatedly, up to a number of bytes, without holding it
// in memory.
type repeater struct {
	text string
	at   int
	left int
}

// Read fails at the end, which no test should reach.
func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && n < r.left {
		c := copy(p[n:min(len(p), r.left)], r.text[r.at:])
		r.at = (r.at + c) % len(r.text)
		n += c
	}
	if r.left -= n; r.left == 0 {
		return n, errEnd
	}
	return n, nil
}

var errEnd = errors.New("the stream goes on")

// TestBudget reads 256 MiB of empty or almost empty documents. They are refused
// early, and need little memory until then.
func TestBudget(t *testing.T) {
	const documents = 50_000
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Markers":  {"A marker begins a document.", "---\n", "input has more than 50000 documents, including empty ones"},
		"Ends":     {"An end marker begins a document.", "...\n", "input has more than 50000 documents, including empty ones"},
		"Both":     {"A marker followed by an end marker is one document.", "---\n...\n", "input has more than 50000 documents, including empty ones"},
		"Nulls":    {"A null counts as a document, although it is skipped.", "--- ~\n", "input has more than 50000 documents, including empty ones"},
		"Tagged":   {"A tagged null counts as a document.", "--- !!null\n", "input has more than 50000 documents, including empty ones"},
		"Comments": {"A document may contain only a comment.", "--- # x\n# y\n", "input has more than 50000 documents, including empty ones"},
		"Objects":  {"An empty object is a document.", "{}\n", "input has more than 50000 documents, including empty ones"},
		"OneLine":  {"Several documents on a line are counted.", "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", "input has more than 50000 documents, including empty ones"},
		"Lines":    {"Comments outside documents are limited.", "# x\n", "input has more than 1000000 empty lines and comments"},
		"Blank":    {"Empty lines outside documents are limited.", "\n", "input has more than 1000000 empty lines and comments"},
		"Windows":  {"Empty lines with Windows line breaks are limited.", " \r\n", "input has more than 1000000 empty lines and comments"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var budget *parser.Budget
			var err error
			took := cost.Within(t, cost.Cost{CPU: 5 * time.Second, Memory: 128 << 20}, func() {
				budget = parser.NewBudget(documents)
				err = parser.Decode(&repeater{text: tc.text, left: 256 << 20}, parser.Limits{Budget: budget}, func(*tree.Node, *parser.Error) bool { return true })
			})
			t.Log(took)
			over, ok := errors.AsType[*parser.Error](err)
			if !ok || over.Msg != tc.want || over.Pos.Line == 0 {
				t.Errorf("%s\ngot %v, want %s", tc.reason, err, tc.want)
			}
			if err := parser.Decode(strings.NewReader("a: 1\n"), parser.Limits{Budget: budget}, func(*tree.Node, *parser.Error) bool { return true }); err == nil {
				t.Error("exhausted budget accepted another stream")
			}
		})
	}
}

// TestValues reads documents of 16 MiB with millions of values.
func TestValues(t *testing.T) {
	const size = 16 << 20
	fill := func(before, text, after string) string {
		return before + strings.Repeat(text, (size-len(before)-len(after))/len(text)) + after
	}
	cases := map[string]struct{ reason, text string }{
		"Items": {"Each line has one value.", fill("", "- a\n", "")},
		"Keys":  {"Each line has a key and a value.", fill("", "a: b\n", "")},
		"Flow":  {"A value follows each comma.", fill("[a", ",a", "]")},
		"Lists": {"Empty lists are counted.", fill("[[]", ",[]", "]")},
		"Lines": {"A carriage return is a line break.", fill("", "- a\r", "")},
		"Wide":  {"A Unicode line separator is a line break.", fill("", "- a\u2028", "")},
		"JSON":  {"Values in JSON are counted.", fill(`{"a":[1`, ",1", "]}")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var failed *parser.Error
			took := cost.Of(func() {
				_ = parser.Decode(strings.NewReader(tc.text), parser.Limits{}, func(_ *tree.Node, bad *parser.Error) bool {
					failed = bad
					return true
				})
			})
			t.Log(took)
			if failed == nil || failed.Msg != "document has more than 1000000 values" {
				t.Errorf("%s\ngot %v", tc.reason, failed)
			}
			if took.Memory > 256<<20 {
				t.Errorf("%s\ndecoding took %v", tc.reason, took)
			}
		})
	}
	if _, err := (wire.Decoder{}).DecodeText(fill("[1", ",1", "]")); err == nil || !strings.Contains(err.Error(), "more than 1000000 values") {
		t.Errorf("Wire read a list of millions of values: %v", err)
	}
}

// TestBudgetRoom reads as many documents as allowed, with comments, and texts
// that look like many values.
func TestBudgetRoom(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "---\n# the next\n\na: %d\n", i)
	}
	docs := 0
	budget := parser.NewBudget(1001)
	for range 2 {
		err := parser.Decode(strings.NewReader(text.String()), parser.Limits{Budget: budget}, func(n *tree.Node, bad *parser.Error) bool {
			docs++
			return bad == nil
		})
		if docs == 1000 && err != nil {
			t.Fatal(err)
		}
		text.Reset()
		text.WriteString("a: 1\n")
	}
	if docs != 1001 {
		t.Errorf("got %d documents, want 1001", docs)
	}
	long := "apiVersion: v1\nmetadata:\n  title: it's\n  tags: [a, b]\n  name: \"x\"\nspec:\n  list:\n    - a: >-\n        text\n  a: |\n" +
		strings.Repeat("    \"name\": [1, 2], \"other\": \"some text\",\n\n", 300_000) + "  b: 1\n"
	if _, errs := parser.DecodeBytes([]byte(long)); len(errs) > 0 {
		t.Errorf("text of %d MiB was counted as values: %v", len(long)>>20, errs[0])
	}
}

// TestBudgetBad checks that invalid documents count.
func TestBudgetBad(t *testing.T) {
	bad := 0
	err := parser.Decode(strings.NewReader(strings.Repeat("a: b: c\n---\n", 20)), parser.Limits{Budget: parser.NewBudget(10)}, func(*tree.Node, *parser.Error) bool {
		bad++
		return true
	})
	if err == nil || bad != 10 {
		t.Errorf("got %d errors and %v, want 10 and one about too many documents", bad, err)
	}
}

// TestValuesHidden tries to disguise values as a block of text.
func TestValuesHidden(t *testing.T) {
	many := strings.Repeat("a,", 1_000_001)
	lines := strings.Repeat("      - a\n", 1_000_001)
	cases := map[string]string{
		"Quote":      "[ \"k: |\n  x\", " + many + "]",
		"QuoteAbove": "x: [\"y\n  k: |\n    \", " + many + "]",
		"Apostrophe": "- it's: [\"x',\n  k: |\n    \", " + many + "]",
		"HalfQuoted": "b 'c: [\"x'\n  k: |\n    \", " + many + "]",
		"Merge":      "<<: [\"x'\n  k: |\n    \", " + many + "]",
		"Key":        "my key: [\"\n  k: |\n    \", " + many + "]",
		"KeyTab":     "my key:\t[\"\n  k: |\n    \", " + many + "]",
		"Return":     "k: |\r[" + many + "]",
		"Comment":    "# x\ry: [\"\n  k: |\n    \", " + many + "]",
		"Items":      "- k: \"z: |\"\n  b:\n" + lines,
		"Dash":       "- |\n  x\n- k:\n" + lines,
		"Deep":       "- - k: |\n      x\n    l:\n" + lines,
		"Flow":       "a: {b: [\n  k: |\n    " + many + "]}",
		"Second":     "a: |\n  x\nb: \"\n  c: |\n    \"\nd:\n" + lines,
		"Literal":    "a: 'x: |\n  b: |\n    '\nd:\n" + lines,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			docs, errs := parser.DecodeBytes([]byte(text))
			if len(docs) > 0 || len(errs) == 0 {
				t.Errorf("million values were accepted: %d documents, %v", len(docs), errs)
			}
		})
	}
}

// TestEmpty checks that a document which is skipped as empty contains nothing
// that a parser would find.
func TestEmpty(t *testing.T) {
	parts := []string{"# x", "#", "\n", "\r", "\r\n", "~", "null", " ", "\t", "a", "a: 1\n", "\u2028", "- ", "'", ":"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "")
		var got, want any
		docs, errs := parser.DecodeBytes([]byte(text))
		if err := yaml.Unmarshal([]byte(text), &want); err != nil || len(errs) > 0 {
			return
		}
		for _, n := range docs {
			got = n.Any()
		}
		if (got == nil) != (want == nil) {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
	})
}
