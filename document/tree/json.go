package tree

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends n as JSON to dst. With an indent, each entry is on its own line;
// without one, there is no white space. Text is not HTML-escaped.
func AppendJSON(dst []byte, n *Node, indent string) []byte {
	return appendJSON(dst, n, indent, 0, false)
}

// AppendCanonical appends n as JSON without white space and with sorted keys, so that
// equal values give equal bytes.
func AppendCanonical(dst []byte, n *Node) []byte {
	return appendJSON(dst, n, "", 0, true)
}

func appendJSON(dst []byte, n *Node, indent string, depth int, sorted bool) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Int, Float:
		return append(dst, n.Text...)
	case String:
		return appendQuoted(dst, n.Text)
	case List:
		if len(n.Items) == 0 {
			return append(dst, "[]"...)
		}
		dst = append(dst, '[')
		for i, it := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = newline(dst, indent, depth+1)
			dst = appendJSON(dst, it, indent, depth+1, sorted)
		}
		dst = newline(dst, indent, depth)
		return append(dst, ']')
	}
	if len(n.Fields) == 0 {
		return append(dst, "{}"...)
	}
	var few [16]uint32
	var order []uint32
	if sorted && !keysSorted(n.Fields) {
		order = keyOrder(few[:0], n.Fields)
	}
	dst = append(dst, '{')
	for i := range n.Fields {
		f := &n.Fields[i]
		if order != nil {
			f = &n.Fields[order[i]]
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = newline(dst, indent, depth+1)
		dst = appendQuoted(dst, f.Key)
		dst = append(dst, ':')
		if indent != "" {
			dst = append(dst, ' ')
		}
		dst = appendJSON(dst, f.Value, indent, depth+1, sorted)
	}
	dst = newline(dst, indent, depth)
	return append(dst, '}')
}

// keyOrder returns the indexes of fields in key order, and uses dst as far as its
// capacity allows: sorting indexes moves less memory than sorting fields, and copies no
// fields.
func keyOrder(dst []uint32, fields []Field) []uint32 {
	const few = 16
	if len(fields) > few {
		for i := range fields {
			dst = append(dst, uint32(i))
		}
		slices.SortFunc(dst, func(a, b uint32) int { return strings.Compare(fields[a].Key, fields[b].Key) })
		return dst
	}
	// Nearly all maps are small, so use an insertion sort.
	for i := range fields {
		dst = append(dst, uint32(i))
		for j := i; j > 0 && fields[dst[j]].Key < fields[dst[j-1]].Key; j-- {
			dst[j], dst[j-1] = dst[j-1], dst[j]
		}
	}
	return dst
}

func keysSorted(fields []Field) bool {
	for i := 1; i < len(fields); i++ {
		if fields[i-1].Key > fields[i].Key {
			return false
		}
	}
	return true
}

func newline(dst []byte, indent string, depth int) []byte {
	if indent == "" {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, indent...)
	}
	return dst
}

const hex = "0123456789abcdef"

// asItIs marks the bytes that need no escape in a JSON string.
var asItIs = func() (t [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendQuoted appends s as a JSON string that is also a valid YAML string: characters
// that YAML parsers reject unescaped (C1 controls, line separators, byte order marks)
// are escaped too.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if asItIs[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\r':
				dst = append(dst, '\\', 'r')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !yamlPrintable(r) {
			dst = append(dst, s[start:i]...)
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// yamlPrintable reports whether the non-ASCII rune r may be unescaped in YAML. All
// others are in the basic plane, so \uXXXX can always express them.
func yamlPrintable(r rune) bool {
	switch {
	case r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true
}
