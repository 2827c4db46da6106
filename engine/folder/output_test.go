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
		"Value":       {"The value of a key is extracted.", "a: " + long + "\nb: 1\n", 1},
		"Item":        {"An item of a list is extracted.", "- " + long + "\n- - " + long + "\n", 2},
		"Text":        {"Quoted text is extracted.", `a: "` + strings.Repeat("x", 60) + `: \"{ \u2028"` + "\n", 1},
		"Document":    {"A document on one line is extracted.", "---\n" + long + "\n---\n" + long, 2},
		"First":       {"A document without a marker is extracted.", long + "\n", 1},
		"Lines":       {"Several documents without markers are left to the parser.", long + "\n" + long + "\n", 0},
		"Literal":     {"Lines of block text that look like values stay text.", "a: |\n  b: " + long + "\n  - " + long + "\nc: d\n", 2},
		"OneLine":     {"Block text of one line stays text.", "a: |-\n  - " + long + "\n", 1},
		"Folded":      {"Folded text stays text.", "a: >-\n  b: " + long + "\n  more\n", 1},
		"Single":      {"Text in single quotes stays text.", "a: 'x\n  b: " + long + "\n  y'\n", 1},
		"Comment":     {"A comment that looks like a value stays a comment.", "a: 1 # b: " + long + "\n", 1},
		"Trailing":    {"Trailing white space is ignored.", "a: " + long + "  \t\nb: 2\n", 1},
		"Windows":     {"Windows line breaks are accepted.", "a: " + long + "\r\nb: 2\r\n", 1},
		"Commented":   {"A value with a comment behind it is left to the parser.", "a: " + long + " # why\nb: 2\n", 0},
		"FlowStyle":   {"Flow style that is not JSON is left to the parser.", "a: {title: a long value, written without any quotes at all, n: [1]}\n", 0},
		"QuotedKey":   {"A value with a quoted key is left to the parser.", `"a: b": ` + long + "\n", 0},
		"Marked":      {"Text that already contains a mark is left to the parser.", "a: " + long + "\nb: \uE0A00\uE0A1\n", 0},
		"Short":       {"Short values are left to the parser.", `a: {"b": 1}` + "\n", 0},
		"InFlow":      {"A value inside a list over several lines is decoded.", "a: [\n  {b: " + long + "\n  }]\n", 1},
		"NumberForms": {"All forms of numbers are decoded.", `a: {"a":1e3,"b":-0.5,"c":12345678901234567890,"d":1.0,"pad":"................."}` + "\n", 1},
		"Key":         {"A long key is left to the parser.", "? " + long + "\n: 1\n", 0},
		"Wrong":       {"Invalid YAML is reported on its line.", "a: b: " + long + "\n", 1},
		"WrongLater":  {"An error on another line is reported on that line.", "a: " + long + "\n\tb: 1\n", 1},
		"Directive":   {"A directive applies to the document after its marker.", "%YAML 1.2\n# why\n---\n" + long + "\n", 1},
		"Unclosed":    {"An error in the previous document is reported on its line.", "a: 'b\n---\n" + long + "\n---\n" + long + "\n", 2},
		"Kept":        {"The previous document may end in text that keeps its line breaks.", "a: |+\n  b\n\n---\n" + long + "\n", 1},
		"Behind":      {"Another document may follow.", "a: b\n---\n" + long + "\n---\nc: d\n", 1},
		"Nested":      {"A nested value is extracted.", "a:\n  b:\n  - c: " + long + "\n    d: 1\n", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, bad := parser.DecodeBytes([]byte(tc.text))
			got, errs := decode(tc.text, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n-parser +quick\n%s", tc.reason, diff)
			}
			if (len(bad) > 0) != (len(errs) > 0) {
				t.Fatalf("%s\nerrors %v, want %v", tc.reason, errs, bad)
			}
			if len(bad) > 0 && bad[0].Pos.Line != errs[0].Pos.Line {
				t.Errorf("%s\nline %d, want %d", tc.reason, errs[0].Pos.Line, bad[0].Pos.Line)
			}
			var m marks
			if !strings.Contains(tc.text, markOpens) {
				m.take(tc.text)
			}
			if len(m.values) != tc.taken {
				t.Errorf("%s\n%d values were extracted, want %d", tc.reason, len(m.values), tc.taken)
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
