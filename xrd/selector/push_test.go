package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.dev/ingestor/words"
)

func TestPushed(t *testing.T) {
	cases := map[string]struct {
		reason, in string
		want       []string
	}{
		"Everything": {"A selector without terms makes one list of everything.", "", []string{""}},
		"Own":        {"A key outside of the vocabularies has one spelling.", "team=red,env in (dev,test),!old", []string{"env in (dev,test),!old,team=red"}},
		"Two":        {"A key with two spellings makes two lists.", "example.dev/ingest=true", []string{"example.dev/ingest=true", "openportal.dev/ingest=true"}},
		"Upstream":   {"Either spelling of the key makes both lists.", "openportal.dev/ingest=true,team=red", []string{"team=red,example.dev/ingest=true", "team=red,openportal.dev/ingest=true"}},
		"Three":      {"A label with three spellings makes three lists.", "portal.io/cluster-id", []string{"portal.io/cluster-id", "backstage.io/kubernetes-id", "backstage.io/cluster-id"}},
		"Absent":     {"An absent key must be absent in every spelling.", "!example.dev/ingest", []string{"!example.dev/ingest,!openportal.dev/ingest"}},
		"NotEqual":   {"An inequality of a key with two spellings is not pushed to the server.", "example.dev/ingest!=true,a=b", []string{"a=b"}},
		"Both":       {"Only one of several keys with two spellings is pushed.", "example.dev/ingest,portal.io/template-type=x", []string{"example.dev/ingest", "openportal.dev/ingest"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.Pushed()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPushedLosesNothing draws labels and selectors: a server with the pushed
// selector returns every object that the selector matches.
func TestPushedLosesNothing(t *testing.T) {
	keys := []string{"example.dev/ingest", "openportal.dev/ingest", "portal.io/cluster-id", "backstage.io/kubernetes-id", "backstage.io/cluster-id", "team"}
	values := []string{"true", "false", "7"}
	terms := []string{"=", "!=", " in (true,7)", " notin (true)", "", "!", ">5", "<5"}
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOf(rapid.SampledFrom(keys), rapid.SampledFrom(values)).Draw(t, "labels")
		text := ""
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			key, op := rapid.SampledFrom(keys).Draw(t, "key"), rapid.SampledFrom(terms).Draw(t, "op")
			if text != "" {
				text += ","
			}
			switch op {
			case "=", "!=":
				text += key + op + rapid.SampledFrom(values).Draw(t, "value")
			case "!":
				text += op + key
			default:
				text += key + op
			}
		}
		s, err := Parse(text)
		if err != nil {
			t.Skip(err)
		}
		if !s.Matches(words.KeysIn(labels)) {
			return
		}
		for _, pushed := range s.Pushed() {
			if asked(t, pushed, labels) {
				return
			}
		}
		t.Fatalf("%q matches %v, but the pushed selector is only %q", text, labels, s.Pushed())
	})
}

// asked simulates the response of a server, which treats each spelling as a
// separate label. Parsing would join them, so terms are tried one by one.
func asked(t *rapid.T, pushed string, labels map[string]string) bool {
	s, err := Parse(pushed)
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range s.terms {
		// The parser has translated the key; the text has the original one.
		for _, key := range words.Spellings(words.Key, term.key) {
			raw := term
			raw.key = key
			if !contains(pushed, raw.String()) {
				continue
			}
			if !raw.matches(labels) {
				return false
			}
		}
	}
	return true
}

func contains(pushed, term string) bool {
	for len(pushed) >= len(term) {
		if pushed[:len(term)] == term && (len(pushed) == len(term) || pushed[len(term)] == ',') {
			return true
		}
		pushed = pushed[1:]
	}
	return false
}
