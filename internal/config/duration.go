package config

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
)

// longest is the maximum of all durations.
const longest = 366 * 24 * time.Hour

// timeUnits are the keys of a duration that is written as a map.
var timeUnits = []struct {
	key  string
	unit time.Duration
}{
	{"weeks", 7 * 24 * time.Hour}, {"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute},
	{"seconds", time.Second}, {"milliseconds", time.Millisecond},
}

const wantDuration = `a duration, such as { minutes: 5 } or "5m"`

// duration reads a duration of at least least: a map of units, "5m", or "PT5M".
func (o *object) duration(key string, to *time.Duration, least time.Duration) {
	o.between(key, to, least, longest)
}

// between reads a duration from least to most.
func (o *object) between(key string, to *time.Duration, least, most time.Duration) {
	v := o.get(key)
	d, ok := o.durationOf(v)
	switch {
	case !ok:
	case d > most:
		o.r.report(RuleValue, v.at, v.path, "", "%s: want at most %s, found more", v.path, showDuration(most))
	case d < least:
		o.r.report(RuleValue, v.at, v.path, "", "%s: want at least %s, found less", v.path, showDuration(least))
	default:
		*to = d
	}
	o.done(key, "duration", tree.Str(showDuration(*to)))
}

// durationOf returns the duration in v. It returns false if there is none, and reports
// an invalid one.
func (o *object) durationOf(v value) (time.Duration, bool) {
	if v.node == nil {
		return 0, false
	}
	switch v.node.Kind {
	case tree.Map:
		return o.unitsOf(v)
	case tree.String:
		if d, ok := parseDuration(v.node.Text); ok {
			return d, true
		}
	case tree.Int, tree.Float:
		o.r.wrongType(v, wantDuration, "add a unit")
		return 0, false
	}
	o.r.wrongType(v, wantDuration, "")
	return 0, false
}

// unitsOf adds up a map of units.
func (o *object) unitsOf(v value) (time.Duration, bool) {
	// Only errors inside the map matter; its keys are not listed.
	child := o.child(v)
	total, ok := 0.0, true
	for _, u := range timeUnits {
		part := child.get(u.key)
		if part.node == nil {
			ok = ok && !child.has(u.key)
			continue
		}
		n, isNumber := part.number()
		switch {
		case !isNumber:
			o.r.wrongType(part, "a number of "+u.key, "")
			ok = false
		case n < 0:
			o.r.wrong(part, "a number of "+u.key+" that is not negative", "")
			ok = false
		}
		total += n * float64(u.unit)
	}
	child.finish()
	if len(v.node.Fields) == 0 {
		o.r.wrongType(v, wantDuration, "add a unit")
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
