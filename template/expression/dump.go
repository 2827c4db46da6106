package expression

import (
	"strings"
	"unicode/utf8"
)

// dump returns a value as JSON, as JSON.stringify does: undefined is left out of objects
// and is null in lists.
func dump(m *machine, in value, a given, at int) value {
	if in == (undefined{}) {
		return undefined{}
	}
	d := &dumper{m: m, at: at}
	if s, ok := stringOf(a.at(0)); ok {
		d.indent = cut(s, 0, 10)
	}
	if f, ok := floatOf(a.at(0)); ok && f >= 1 {
		d.indent = strings.Repeat(" ", int(min(f, 10)))
	}
	d.value(in, 0)
	return m.made(string(d.out))
}

type dumper struct {
	m      *machine
	at     int
	indent string
	out    []byte
}

func (d *dumper) value(v value, depth int) {
	if depth > d.m.limits.Depth {
		panic(tooDeep(d.at))
	}
	d.m.spend(1)
	d.m.grown(len(d.out), d.at)
	switch v := v.(type) {
	case bool, number:
		if s := primitiveText(v); s != "NaN" && !strings.HasSuffix(s, "Infinity") {
			d.out = append(d.out, s...)
			return
		}
		d.out = append(d.out, "null"...)
	case exact:
		d.out = append(d.out, v.node.Text...)
	case string:
		d.quote(v)
	case safe:
		d.quote(string(v))
	case *list:
		d.list(v, depth)
	case *record:
		d.record(v, depth)
	case *pattern:
		d.out = append(d.out, "{}"...)
	case *function:
		bail(d.at, "call it: "+v.name+"(…)", "%s is a function, not a value", v.name)
	default:
		d.out = append(d.out, "null"...)
	}
}

func (d *dumper) newline(depth int) {
	if d.indent == "" {
		return
	}
	d.out = append(d.out, '\n')
	for range depth {
		d.out = append(d.out, d.indent...)
	}
}

func (d *dumper) list(l *list, depth int) {
	items := d.m.items(l)
	d.out = append(d.out, '[')
	for i, v := range items {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.newline(depth + 1)
		d.value(v, depth+1)
	}
	if len(items) > 0 {
		d.newline(depth)
	}
	d.out = append(d.out, ']')
}

func (d *dumper) record(r *record, depth int) {
	d.out = append(d.out, '{')
	first := true
	for _, k := range d.m.keysOf(r) {
		v, _ := d.m.get(r, k)
		if v == (undefined{}) {
			continue
		}
		if !first {
			d.out = append(d.out, ',')
		}
		first = false
		d.newline(depth + 1)
		d.quote(k)
		d.out = append(d.out, ':')
		if d.indent != "" {
			d.out = append(d.out, ' ')
		}
		d.value(v, depth+1)
	}
	if !first {
		d.newline(depth)
	}
	d.out = append(d.out, '}')
}

// quote writes a text as JSON.
func (d *dumper) quote(s string) {
	const longest = len(`\u0000`)
	// Quote in parts, so that an output that grows too large is detected early.
	const part = 64 << 10
	if len(s)*longest <= part {
		d.out = appendQuoted(d.out, s)
		return
	}
	d.out = append(d.out, '"')
	for len(s) > 0 {
		end := min(part, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		quoted := appendQuoted(nil, s[:end])
		d.out = append(d.out, quoted[1:len(quoted)-1]...)
		d.m.grown(len(d.out), d.at)
		s = s[end:]
	}
	d.out = append(d.out, '"')
}

// appendQuoted appends a text as JSON and escapes only what is necessary.
func appendQuoted(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		i++
		if j := strings.IndexByte("\"\\\b\f\n\r\t", c); j >= 0 {
			out = append(out, '\\', `"\bfnrt`[j])
			continue
		}
		if c < ' ' {
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		}
		out = append(out, c)
	}
	return append(out, '"')
}
