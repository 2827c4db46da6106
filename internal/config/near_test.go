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
			if got := nearest(tc.word, words); got != tc.want {
				t.Errorf("%s\nnearest(%q) = %q, want %q", tc.reason, tc.word, got, tc.want)
			}
		})
	}
}
