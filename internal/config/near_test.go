package config

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"composerIngestor", "crossplaneIngestor", "orchestrator", "ttl", "url", "enabled", "clientId"}
	cases := map[string]struct {
		reason string
		word   string
		want   string
	}{
		"Change":    {"one letter changed", "composerIngester", "composerIngestor"},
		"Two":       {"two letters", "compserIngester", "composerIngestor"},
		"Three":     {"three are too many", "cmpserIngester", ""},
		"Swap":      {"two letters that changed places", "orchestartor", "orchestrator"},
		"Case":      {"case alone", "CLIENTID", "clientId"},
		"Short":     {"in a short word one letter", "tll", "ttl"},
		"ShortFar":  {"and no more", "tl1", ""},
		"Longer":    {"a letter too many", "enabledd", "enabled"},
		"Nothing":   {"nothing is near nothing", "", ""},
		"Unrelated": {"something else", "backend", ""},
		"Long":      {"very long words are no slips", strings.Repeat("x", 1000), ""},
		"Umlaut":    {"letters of more than one byte", "ürl", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := nearest(tc.word, words); got != tc.want {
				t.Errorf("%s\nnearest(%q) = %q, want %q", tc.reason, tc.word, got, tc.want)
			}
		})
	}
}
