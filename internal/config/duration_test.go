package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   time.Duration
		bad    bool
	}{
		"Minutes":    {"one unit", "5m", 5 * time.Minute, false},
		"Several":    {"several units", "1h30m15s", time.Hour + 30*time.Minute + 15*time.Second, false},
		"Days":       {"days, which Go does not have", "2d12h", 60 * time.Hour, false},
		"Millis":     {"milliseconds are not minutes", "250ms", 250 * time.Millisecond, false},
		"Fraction":   {"a fraction", "1.5h", 90 * time.Minute, false},
		"Spaces":     {"with white space", " 5 m 10 s ", 5*time.Minute + 10*time.Second, false},
		"ISO":        {"as Backstage takes it", "PT5M", 5 * time.Minute, false},
		"ISODays":    {"a date and a time", "P1DT2H3M4.5S", 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, false},
		"ISOWeeks":   {"weeks", "P2W", 14 * 24 * time.Hour, false},
		"ISOMonth":   {"a month has no length", "P1M", 0, true},
		"ISOEmpty":   {"no part", "P", 0, true},
		"ISOTail":    {"a T with nothing behind it", "P1DT", 0, true},
		"ISOCase":    {"lower case is not ISO 8601", "pt5m", 0, true},
		"NoUnit":     {"a number says nothing", "5", 0, true},
		"Unit":       {"nor does a unit", "m", 0, true},
		"Word":       {"words are for people", "5 minutes", 0, true},
		"Negative":   {"not backwards", "-5m", 0, true},
		"Dots":       {"not a number", "1.2.3m", 0, true},
		"Empty":      {"nothing", "", 0, true},
		"Exponent":   {"not that way", "1e3s", 0, true},
		"TooLong":    {"more than can be counted is more than is allowed", "99999999999999999999d", longest + time.Millisecond, false},
		"Round":      {"nobody waits for less than a millisecond", "1.0004ms", time.Millisecond, false},
		"ZeroIsZero": {"zero", "0s", 0, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := parseDuration(tc.text)
			if ok == tc.bad || ok && got != tc.want {
				t.Errorf("%s\nparseDuration(%q) = %v, %v; want %v, %v", tc.reason, tc.text, got, ok, tc.want, !tc.bad)
			}
		})
	}
}

// TestShowDuration wants what is shown to be read as the same.
func TestShowDuration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(longest/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		if got, ok := parseDuration(showDuration(d)); !ok || got != d {
			t.Fatalf("%v is shown as %q, which is read as %v", d, showDuration(d), got)
		}
	})
	for text, d := range map[string]time.Duration{"5m": 5 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second, "10s": 10 * time.Second, "0s": 0, "366d": longest} {
		if got := showDuration(d); got != text {
			t.Errorf("%v is shown as %q, want %q", d, got, text)
		}
	}
}
