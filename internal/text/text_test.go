package text

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	cases := map[string]struct {
		reason, in string
		most       int
		want       string
	}{
		"Short":   {"what fits stays", "abc", 3, "abc"},
		"Long":    {"the rest is an ellipsis", "abcd", 3, "abc…"},
		"Whole":   {"no character is cut", "äöü", 3, "ä…"},
		"Invalid": {"invalid bytes are dropped", "a\xffbcd", 3, "ab…"},
		"Nothing": {"nothing stays nothing", "", 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Shorten(tc.in, tc.most); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "s"), rapid.IntRange(0, 20).Draw(t, "most")
		if got := Shorten(s, most); len(got) > most+len("…") || got != s && (len(s) <= most || !utf8.ValidString(got)) {
			t.Fatalf("%q", got)
		}
	})
}

func TestNearest(t *testing.T) {
	words := []string{"properties", "required", "type", "x-kubernetes-map-type"}
	cases := map[string]struct{ reason, in, want string }{
		"Typo":    {"one letter too many", "propertiess", "properties"},
		"Swapped": {"neighbours that changed places", "requierd", "required"},
		"Case":    {"case alone is no difference", "TYPE", "type"},
		"Short":   {"a short word allows one edit", "tpe", "type"},
		"Far":     {"another word is no typo", "tax", ""},
		"Empty":   {"nothing is no typo", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tc.in, words); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDistance holds Distance to what defines a distance.
func TestDistance(t *testing.T) {
	letters := rapid.StringMatching(`[abc]{0,7}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a)-len(b), len(b)-len(a)) {
			t.Fatalf("%q and %q: %d", a, b, d)
		}
		if len(a) > 1 {
			swapped := a[1:2] + a[:1] + a[2:]
			if got := Distance(a, swapped); got > 1 {
				t.Fatalf("%q and %q: %d", a, swapped, got)
			}
		}
	})
}
