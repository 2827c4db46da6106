package keys

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/internal/config/input"
)

// Number reads a whole number within bounds.
func (m *Map) Number(key string, to *int, least, most int) {
	n := int64(*to)
	m.whole(key, "integer", "", &n, int64(least), int64(most))
	*to = int(n)
}

// Seconds reads a whole number of seconds, within bounds.
func (m *Map) Seconds(key string, to *time.Duration, least, most int64) {
	m.units(key, "seconds", to, time.Second, least, most)
}

// Milliseconds reads a whole number of milliseconds, within bounds.
func (m *Map) Milliseconds(key string, to *time.Duration, least, most int64) {
	m.units(key, "milliseconds", to, time.Millisecond, least, most)
}

func (m *Map) units(key, name string, to *time.Duration, unit time.Duration, least, most int64) {
	n := int64(*to / unit)
	m.whole(key, name, " of "+name, &n, least, most)
	*to = time.Duration(n) * unit
}

// whole reads a whole number of something.
func (m *Map) whole(key, kind, of string, to *int64, least, most int64) {
	if v := m.Get(key); v.Node != nil {
		if n, ok := v.Whole(of, least, most); ok {
			*to = n
		}
	}
	m.Done(key, kind, tree.Number(*to))
	m.bounds(least, most)
}

// Ratio reads a number from 0 to 1.
func (m *Map) Ratio(key string, to *float64) {
	if v := m.Get(key); v.Node != nil {
		const want = "a number from 0 to 1"
		switch n, ok := v.Number(); {
		case !ok:
			v.WrongType(want, "write the number alone, such as 0.1")
		case n < 0 || n > 1:
			v.Wrong(want, "")
		default:
			*to = n
		}
	}
	m.Done(key, TypeRatio, &tree.Node{Kind: tree.Float, Text: strconv.FormatFloat(*to, 'f', -1, 64)})
}

var (
	sizeText = regexp.MustCompile(`^(\d{1,15})\s*([A-Za-z]*)$`)
	// sizeUnits are in lower case.
	sizeUnits = map[string]int64{
		"": 1, "b": 1, "kb": 1000, "mb": 1000 * 1000, "gb": 1000 * 1000 * 1000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}
)

// Size reads a number of bytes within bounds, such as 1048576 or "1MiB".
func (m *Map) Size(key string, to *int64, least, most int64) {
	if v := m.Get(key); v.Node != nil {
		n, ok := sizeOf(v)
		switch {
		case !ok:
			v.WrongType("a size", `write it as in 4MiB, or as a number of bytes`)
		case n < least || n > most:
			v.Wrong("a size from "+showSize(least)+" to "+showSize(most), "")
		default:
			*to = n
		}
	}
	m.Done(key, "size", tree.Str(showSize(*to)))
}

// sizeOf returns the number of bytes in v.
func sizeOf(v input.Value) (int64, bool) {
	if v.Node.Kind != tree.String && v.Node.Kind != tree.Int {
		return 0, false
	}
	m := sizeText.FindStringSubmatch(strings.TrimSpace(v.Node.Text))
	if m == nil {
		return 0, false
	}
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	n, err := strconv.ParseInt(m[1], 10, 64)
	if !ok || err != nil {
		return 0, false
	}
	if n > math.MaxInt64/unit {
		return math.MaxInt64, true
	}
	return n * unit, true
}

// showSize formats a size with a unit: 4MiB, not 4194304.
func showSize(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size && n%unit.size == 0 {
			return strconv.FormatInt(n/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
