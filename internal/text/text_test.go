package text

import (
	"strings"
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
		"Short":   {"A text that fits is unchanged.", "abc", 3, "abc"},
		"Long":    {"A longer text ends in an ellipsis.", "abcd", 3, "abc…"},
		"Whole":   {"Characters are not cut.", "äöü", 3, "ä…"},
		"Invalid": {"Invalid bytes are dropped.", "a\xffbcd", 3, "ab…"},
		"Nothing": {"An empty text stays empty.", "", 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Shorten(tc.in, tc.most); got != tc.want {
				t.Errorf("%s: text is %q, want %q", tc.reason, got, tc.want)
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
	words := []string{"composerIngestor", "crossplaneIngestor", "orchestrator", "ttl", "url", "enabled", "clientId"}
	cases := map[string]struct {
		reason string
		word   string
		want   string
	}{
		"Change":    {"One changed letter is near.", "composerIngester", "composerIngestor"},
		"Two":       {"Two changed letters are near.", "compserIngester", "composerIngestor"},
		"Three":     {"Three changed letters are too many.", "cmpserIngester", ""},
		"Swap":      {"Two swapped letters are near.", "orchestartor", "orchestrator"},
		"Case":      {"A difference in case is near.", "CLIENTID", "clientId"},
		"Short":     {"In a short word one letter is near.", "tll", "ttl"},
		"ShortFar":  {"In a short word two letters are too many.", "tl1", ""},
		"Longer":    {"An additional letter is near.", "enabledd", "enabled"},
		"Nothing":   {"An empty word is near nothing.", "", ""},
		"Unrelated": {"Another word is not near.", "backend", ""},
		"Long":      {"A very long word is near nothing.", strings.Repeat("x", 1000), ""},
		"Umlaut":    {"A letter of several bytes counts as several edits.", "ürl", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tc.word, words); got != tc.want {
				t.Errorf("%s\nNearest(%q) = %q, want %q", tc.reason, tc.word, got, tc.want)
			}
		})
	}
}

// TestDistance checks that Distance is a metric.
func TestDistance(t *testing.T) {
	letters := rapid.StringMatching(`[abc]{0,7}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a)-len(b), len(b)-len(a)) {
			t.Fatalf("distance of %q and %q is %d", a, b, d)
		}
		if len(a) > 1 {
			swapped := a[1:2] + a[:1] + a[2:]
			if got := Distance(a, swapped); got > 1 {
				t.Fatalf("distance of %q and %q is %d, want at most 1", a, swapped, got)
			}
		}
	})
}

func TestEnumerate(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Enumerate(words, "or"); got != want {
			t.Errorf("Enumerate(%q) = %q, want %q", words, got, want)
		}
	}
}
