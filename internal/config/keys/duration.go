package keys

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
	"example.dev/ingestor/internal/config/rule"
)

// longest is the maximum of all durations.
const longest = 366 * 24 * time.Hour

// TimeUnits are the keys of a duration that is written as a map.
var TimeUnits = []struct {
	Key  string
	unit time.Duration
}{
	{"weeks", 7 * 24 * time.Hour}, {"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute},
	{"seconds", time.Second}, {"milliseconds", time.Millisecond},
}

const wantDuration = `a duration, such as { minutes: 5 } or "5m"`

// Duration reads a duration of at least least: a map of units, "5m", or "PT5M".
func (m *Map) Duration(key string, to *time.Duration, least time.Duration) {
	m.Between(key, to, least, longest)
}

// Between reads a duration from least to most.
func (m *Map) Between(key string, to *time.Duration, least, most time.Duration) {
	v := m.Get(key)
	d, ok := m.durationOf(v)
	switch {
	case !ok:
	case d > most:
		v.Report(rule.Value, "", "%s: want at most %s, found more", v.Path, showDuration(most))
	case d < least:
		v.Report(rule.Value, "", "%s: want at least %s, found less", v.Path, showDuration(least))
	default:
		*to = d
	}
	m.Done(key, "duration", tree.Str(showDuration(*to)))
}

// durationOf returns the duration in v. It returns false if there is none, and reports
// an invalid one.
func (m *Map) durationOf(v input.Value) (time.Duration, bool) {
	if v.Node == nil {
		return 0, false
	}
	switch v.Node.Kind {
	case tree.Map:
		return m.unitsOf(v)
	case tree.String:
		if d, ok := parseDuration(v.Node.Text); ok {
			return d, true
		}
	case tree.Int, tree.Float:
		v.WrongType(wantDuration, "add a unit")
		return 0, false
	}
	v.WrongType(wantDuration, "")
	return 0, false
}

// unitsOf adds up a map of units.
func (m *Map) unitsOf(v input.Value) (time.Duration, bool) {
	// Only errors inside the map matter; its keys are not listed.
	child := m.child(v)
	total, ok := 0.0, true
	for _, u := range TimeUnits {
		part := child.Get(u.Key)
		if part.Node == nil {
			ok = ok && !child.Has(u.Key)
			continue
		}
		n, isNumber := part.Number()
		switch {
		case !isNumber:
			part.WrongType("a number of "+u.Key, "")
			ok = false
		case n < 0:
			part.Wrong("a number of "+u.Key+" that is not negative", "")
			ok = false
		}
		total += n * float64(u.unit)
	}
	child.finish()
	if len(v.Node.Fields) == 0 {
		v.WrongType(wantDuration, "add a unit")
		return 0, false
	}
	return duration(total), ok
}

// duration rounds to whole milliseconds. A value above longest becomes just more than
// longest, since it might overflow.
func duration(ns float64) time.Duration {
	if ns > float64(longest) {
		return longest + time.Millisecond
	}
	return time.Duration(ns).Round(time.Millisecond)
}

var (
	isoDuration   = regexp.MustCompile(`^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$`)
	isoUnits      = []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second}
	plainDuration = regexp.MustCompile(`^(?:[\d.]+\s*(?:ms|d|h|m|s)\s*)+$`)
	plainPart     = regexp.MustCompile(`([\d.]+)\s*(ms|d|h|m|s)`)
	plainUnits    = map[string]time.Duration{
		"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond,
	}
)

// parseDuration parses "1h30m", also with days, and "PT1H30M".
func parseDuration(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	total, parts := 0.0, 0
	add := func(digits string, unit time.Duration) bool {
		n, err := strconv.ParseFloat(digits, 64)
		total += n * float64(unit)
		parts++
		return err == nil
	}
	if m := isoDuration.FindStringSubmatch(s); m != nil {
		for i, digits := range m[1:] {
			if digits != "" && !add(digits, isoUnits[i]) {
				return 0, false
			}
		}
		return duration(total), parts > 0 && !strings.HasSuffix(s, "T")
	}
	if !plainDuration.MatchString(s) {
		return 0, false
	}
	for _, m := range plainPart.FindAllStringSubmatch(s, -1) {
		if !add(m[1], plainUnits[m[2]]) {
			return 0, false
		}
	}
	return duration(total), true
}

// showDuration formats a duration without zero units: 5m, not 5m0s.
func showDuration(d time.Duration) string {
	if d >= 24*time.Hour && d%(24*time.Hour) == 0 {
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
