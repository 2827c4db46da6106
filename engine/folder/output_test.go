package folder

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.dev/ingestor/document/parser"
)

const long = `{"title":"a long value, long enough to be taken out","n":[1,2.5,true,null]}`

// TestDecode compares the fast decoder with the plain one: both must give the
// same result, wherever a value is.
func TestDecode(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		taken        int
	}{
		"Value":       {"the value of a key", "a: " + long + "\nb: 1\n", 1},
		"Item":        {"an entry of a list", "- " + long + "\n- - " + long + "\n", 2},
		"Text":        {"text in quotes", `a: "` + strings.Repeat("x", 60) + `: \"{ \u2028"` + "\n", 1},
		"Document":    {"a document on one line", "---\n" + long + "\n---\n" + long, 2},
		"First":       {"without a marker", long + "\n", 1},
		"Lines":       {"documents on lines are told apart by the parser", long + "\n" + long + "\n", 0},
		"Literal":     {"text over several lines keeps what only looks like a value", "a: |\n  b: " + long + "\n  - " + long + "\nc: d\n", 2},
		"OneLine":     {"a literal of one line is text", "a: |-\n  - " + long + "\n", 1},
		"Folded":      {"folded text too", "a: >-\n  b: " + long + "\n  more\n", 1},
		"Single":      {"text in single quotes", "a: 'x\n  b: " + long + "\n  y'\n", 1},
		"Comment":     {"a comment is none", "a: 1 # b: " + long + "\n", 1},
		"Trailing":    {"blanks behind", "a: " + long + "  \t\nb: 2\n", 1},
		"Windows":     {"line ends of another system", "a: " + long + "\r\nb: 2\r\n", 1},
		"Commented":   {"something behind is left to the parser", "a: " + long + " # why\nb: 2\n", 0},
		"FlowStyle":   {"flow style that is not JSON", "a: {title: a long value, written without any quotes at all, n: [1]}\n", 0},
		"QuotedKey":   {"a key in quotes", `"a: b": ` + long + "\n", 0},
		"Marked":      {"a text that has a mark already", "a: " + long + "\nb: \uE0A00\uE0A1\n", 0},
		"Short":       {"short values are not worth it", `a: {"b": 1}` + "\n", 0},
		"InFlow":      {"inside a list over several lines", "a: [\n  {b: " + long + "\n  }]\n", 1},
		"NumberForms": {"numbers of all forms", `a: {"a":1e3,"b":-0.5,"c":12345678901234567890,"d":1.0,"pad":"................."}` + "\n", 1},
		"Key":         {"a long key", "? " + long + "\n: 1\n", 0},
		"Wrong":       {"not YAML", "a: b: " + long + "\n", 1},
		"WrongLater":  {"a mistake on another line", "a: " + long + "\n\tb: 1\n", 1},
		"Directive":   {"a directive is about what follows its marker", "%YAML 1.2\n# why\n---\n" + long + "\n", 1},
		"Unclosed":    {"a mistake in the document before", "a: 'b\n---\n" + long + "\n---\n" + long + "\n", 2},
		"Kept":        {"text with all its line ends before", "a: |+\n  b\n\n---\n" + long + "\n", 1},
		"Behind":      {"something else behind", "a: b\n---\n" + long + "\n---\nc: d\n", 1},
		"Nested":      {"deep in the document", "a:\n  b:\n  - c: " + long + "\n    d: 1\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, bad := parser.DecodeBytes([]byte(tc.text))
			got, errs := decode(tc.text, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -parser +quick\n%s", tc.reason, diff)
			}
			if (len(bad) > 0) != (len(errs) > 0) {
				t.Fatalf("%s: errors %v, want %v", tc.reason, errs, bad)
			}
			if len(bad) > 0 && bad[0].Pos.Line != errs[0].Pos.Line {
				t.Errorf("%s: line %d, want %d", tc.reason, errs[0].Pos.Line, bad[0].Pos.Line)
			}
			var m marks
			if !strings.Contains(tc.text, markOpens) {
				m.take(tc.text)
			}
			if len(m.values) != tc.taken {
				t.Errorf("%s: %d values were extracted, want %d", tc.reason, len(m.values), tc.taken)
			}
		})
	}
}

// TestDecodePlaces checks the positions of values.
func TestDecodePlaces(t *testing.T) {
	docs, _ := decode("a: 1\nb:\n- x\n- "+long+"\n---\n"+long+"\n", nil)
	if got := docs[0].Get("b").Items[1].Pos.Line; got != 4 {
		t.Errorf("value is on line %d, want 4", got)
	}
	if got := docs[1].Pos.Line; got != 6 {
		t.Errorf("document is on line %d, want 6", got)
	}
}

// FuzzDecode compares the two decoders.
func FuzzDecode(f *testing.F) {
	f.Add("a: " + long + "\n")
	f.Add("- " + long + "\n--- \n" + long)
	f.Add("a: |\n  b: " + long)
	f.Add(`k: "` + strings.Repeat("\\u00e9", 20) + `"`)
	f.Fuzz(func(t *testing.T, s string) {
		want, bad := parser.DecodeBytes([]byte(s))
		got, errs := decode(s, nil)
		if len(bad) > 0 || len(errs) > 0 {
			return // The fast decoder accepts some input that the parser refuses.
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -parser +quick\n%s", s, diff)
		}
	})
}
