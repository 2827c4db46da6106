package expression

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// truthy returns the boolean value of v in a condition. Lists and objects are true, even
// if they are empty.
func truthy(v value) bool {
	switch v := v.(type) {
	case undefined, none:
		return false
	case bool:
		return v
	case number:
		return v != 0 && !math.IsNaN(float64(v))
	case string:
		return v != ""
	}
	return true
}

// primitive converts a value to a bool, number, string, none or undefined.
func (m *machine) primitive(v value, at int) value { return m.flatten(v, at, 0) }

func (m *machine) flatten(v value, at, depth int) value {
	switch v := v.(type) {
	case exact:
		m.spendText(len(v.node.Text))
		f, _ := strconv.ParseFloat(v.node.Text, 64)
		return number(f)
	case safe:
		return string(v)
	case *list:
		return m.joined(m.items(v), ",", at, depth)
	case *record:
		return "[object Object]"
	case *pattern:
		return "/" + v.source + "/" + v.flags
	case *function:
		bail(at, "call it: "+v.name+"(…)", "%s is a function, not a value", v.name)
	}
	return v
}

// joined joins values; undefined and null are written as nothing.
func (m *machine) joined(items []value, separator string, at, depth int) string {
	if depth > m.limits.Depth {
		panic(tooDeep(at))
	}
	var b strings.Builder
	for i, it := range items {
		if i > 0 {
			b.WriteString(separator)
		}
		m.spend(1)
		switch it.(type) {
		case undefined, none:
		default:
			b.WriteString(primitiveText(m.flatten(it, at, depth+1)))
		}
		m.grown(b.Len(), at)
	}
	m.spendText(b.Len())
	return b.String()
}

func primitiveText(v value) string {
	switch v := v.(type) {
	case none:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case number:
		return numberText(float64(v))
	case string:
		return v
	}
	return "undefined"
}

// textOf converts a value to text as JavaScript does.
func (m *machine) textOf(v value, at int) string {
	if e, ok := v.(exact); ok {
		return e.node.Text
	}
	return primitiveText(m.primitive(v, at))
}

// shown returns the output of a value: nothing for undefined and null.
func (m *machine) shown(v value, at int) string {
	switch v.(type) {
	case undefined, none:
		return ""
	}
	return m.textOf(v, at)
}

// numberOf converts a value to a number.
func (m *machine) numberOf(v value, at int) float64 {
	switch p := m.primitive(v, at).(type) {
	case none:
		return 0
	case bool:
		if p {
			return 1
		}
		return 0
	case number:
		return float64(p)
	case string:
		m.spendText(len(p))
		return readNumber(p)
	}
	return math.NaN()
}

// integerOf converts a value to an integer within ±2^53.
func (m *machine) integerOf(v value, at int) int {
	f := m.numberOf(v, at)
	if math.IsNaN(f) {
		return 0
	}
	const most = 1 << 53
	return int(math.Max(-most, math.Min(most, math.Trunc(f))))
}

// stringOf returns the text of a string, and whether v is one.
func stringOf(v value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case safe:
		return string(v), true
	}
	return "", false
}

// same implements ===. It charges for comparing texts.
func (m *machine) same(a, b value) bool {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		if !ok || len(s) != len(t) {
			return false
		}
		m.spendText(len(s))
		return s == t
	}
	if f, ok := floatOf(a); ok {
		g, ok := floatOf(b)
		return ok && f == g
	}
	switch a.(type) {
	case safe:
		return false
	}
	return a == b
}

// floatOf returns the value of a number, and whether v is one.
func floatOf(v value) (float64, bool) {
	switch v := v.(type) {
	case number:
		return float64(v), true
	case exact:
		f, _ := strconv.ParseFloat(v.node.Text, 64)
		return f, true
	}
	return 0, false
}

// alike implements ==.
func (m *machine) alike(a, b value, at int) bool {
	if m.same(a, b) {
		return true
	}
	if isObject(a) && isObject(b) {
		return false
	}
	a, b = m.primitive(a, at), m.primitive(b, at)
	if isNothing(a) || isNothing(b) {
		return isNothing(a) && isNothing(b)
	}
	s, isA := a.(string)
	t, isB := b.(string)
	if isA && isB {
		m.spendText(min(len(s), len(t)))
		return s == t
	}
	return m.numberOf(a, at) == m.numberOf(b, at)
}

func isObject(v value) bool {
	switch v.(type) {
	case safe, *list, *record, *pattern, *function:
		return true
	}
	return false
}

func isNothing(v value) bool {
	switch v.(type) {
	case undefined, none:
		return true
	}
	return false
}

// compare returns -1, 0 or 1, and false if the values have no order.
func (m *machine) compare(a, b value, at int) (int, bool) {
	a, b = m.primitive(a, at), m.primitive(b, at)
	s, isA := a.(string)
	t, isB := b.(string)
	if isA && isB {
		m.spendText(len(s) + len(t))
		return compareText(s, t), true
	}
	f, g := m.numberOf(a, at), m.numberOf(b, at)
	switch {
	case f < g:
		return -1, true
	case f > g:
		return 1, true
	}
	return 0, f == g
}

// compareText compares texts by UTF-16 code units.
func compareText(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	x, y := units(a), units(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return int(x[i]) - int(y[i])
		}
	}
	return len(x) - len(y)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// units returns the UTF-16 code units of a text, which JavaScript counts.
func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// length returns the number of code units of a text.
func length(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return len(units(s))
}

// cut returns the code units of a text between two offsets, clamped to its length.
func cut(s string, from, to int) string {
	if isASCII(s) {
		from, to = max(0, min(from, len(s))), max(0, min(to, len(s)))
		return s[from:max(from, to)]
	}
	u := units(s)
	from, to = max(0, min(from, len(u))), max(0, min(to, len(u)))
	return string(utf16.Decode(u[from:max(from, to)]))
}

// letters returns each code unit of a text as a text.
func letters(s string) []value {
	if isASCII(s) {
		out := make([]value, len(s))
		for i := range len(s) {
			out[i] = s[i : i+1]
		}
		return out
	}
	u := units(s)
	out := make([]value, len(u))
	for i := range u {
		out[i] = string(utf16.Decode(u[i : i+1]))
	}
	return out
}

// upper converts a text to upper case. ß becomes SS.
func upper(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }
