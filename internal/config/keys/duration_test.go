package keys

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
		"Minutes":    {"One unit is accepted.", "5m", 5 * time.Minute, false},
		"Several":    {"Several units are accepted.", "1h30m15s", time.Hour + 30*time.Minute + 15*time.Second, false},
		"Days":       {"Days are accepted, which Go does not have.", "2d12h", 60 * time.Hour, false},
		"Millis":     {"Milliseconds are not minutes.", "250ms", 250 * time.Millisecond, false},
		"Fraction":   {"A fraction is accepted.", "1.5h", 90 * time.Minute, false},
		"Spaces":     {"White space is accepted.", " 5 m 10 s ", 5*time.Minute + 10*time.Second, false},
		"ISO":        {"ISO 8601 is accepted as in Backstage.", "PT5M", 5 * time.Minute, false},
		"ISODays":    {"ISO 8601 with date and time is accepted.", "P1DT2H3M4.5S", 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, false},
		"ISOWeeks":   {"weeks", "P2W", 14 * 24 * time.Hour, false},
		"ISOMonth":   {"A month is refused, as it has no fixed length.", "P1M", 0, true},
		"ISOEmpty":   {"ISO 8601 without parts is refused.", "P", 0, true},
		"ISOTail":    {"ISO 8601 with an empty time is refused.", "P1DT", 0, true},
		"ISOCase":    {"ISO 8601 in lower case is refused.", "pt5m", 0, true},
		"NoUnit":     {"A number without a unit is refused.", "5", 0, true},
		"Unit":       {"A unit without a number is refused.", "m", 0, true},
		"Word":       {"Words as units are refused.", "5 minutes", 0, true},
		"Negative":   {"A negative duration is refused.", "-5m", 0, true},
		"Dots":       {"An invalid number is refused.", "1.2.3m", 0, true},
		"Empty":      {"nothing", "", 0, true},
		"Exponent":   {"An exponent is refused.", "1e3s", 0, true},
		"TooLong":    {"A duration out of range is above any limit.", "99999999999999999999d", longest + time.Millisecond, false},
		"Round":      {"A duration is rounded to milliseconds.", "1.0004ms", time.Millisecond, false},
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

// TestShowDuration checks that a formatted duration is parsed as the same value.
func TestShowDuration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(longest/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		if got, ok := parseDuration(showDuration(d)); !ok || got != d {
			t.Fatalf("%v is formatted as %q, which is parsed as %v", d, showDuration(d), got)
		}
	})
	for text, d := range map[string]time.Duration{"5m": 5 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second, "10s": 10 * time.Second, "0s": 0, "366d": longest} {
		if got := showDuration(d); got != text {
			t.Errorf("%v is formatted as %q, want %q", d, got, text)
		}
	}
}
