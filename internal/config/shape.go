package config

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/document/tree"
)

// mapOr reads a key that holds a map, or a short form, whose type is kind. It returns
// the effective map; the caller decides what is shown.
func (o *object) mapOr(v value, key, kind string, def *tree.Node, short func(value), read func(*object)) *tree.Node {
	o.note(key, kind, def)
	if v.node != nil && v.node.Kind != tree.Map {
		short(v)
		v.node = nil
	}
	child := o.child(v)
	child.doc = join(o.doc, key)
	read(child)
	child.finish()
	return child.out
}

// rest returns the keys that have not been read yet and are not typos of those that
// are, for maps that plugins of a portal extend. name is the placeholder for such a
// key.
func (o *object) rest(name string) []string {
	o.note("<"+name+">", typeIdle, nil)
	if o.node == nil {
		return nil
	}
	var out []string
	for i := range o.node.Fields {
		key := o.node.Fields[i].Key
		if slices.Contains(o.known, key) || slices.Contains(o.idle, key) || nearest(key, o.known) != "" {
			continue
		}
		out = append(out, key)
	}
	return out
}

// unsupported reports keys of Backstage that have an effect there, and that must not be
// ignored silently.
func (o *object) unsupported(hint string, keys ...string) {
	o.idle = append(o.idle, keys...)
	for _, key := range keys {
		if o.has(key) {
			o.r.report(RuleUnsupported, o.keyAt(key), o.pathTo(key), hint, "%s is not supported", o.pathTo(key))
		}
	}
}

// never reads a boolean of Backstage that must be false.
func (o *object) never(key, hint string) {
	on := false
	if v := o.get(key); v.node != nil {
		o.r.flagOf(v, &on)
	}
	if on {
		o.r.report(RuleUnsupported, o.valueAt(key), o.pathTo(key), hint, "%s is not supported", o.pathTo(key))
	}
	o.done(key, "boolean", tree.Boolean(false))
}

var (
	sizeText = regexp.MustCompile(`^(\d{1,15})\s*([A-Za-z]*)$`)
	// sizeUnits are in lower case.
	sizeUnits = map[string]int64{
		"": 1, "b": 1, "kb": 1000, "mb": 1000 * 1000, "gb": 1000 * 1000 * 1000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}
)

// size reads a number of bytes within bounds, such as 1048576 or "1MiB".
func (o *object) size(key string, to *int64, least, most int64) {
	if v := o.get(key); v.node != nil {
		n, ok := sizeOf(v)
		switch {
		case !ok:
			o.r.wrongType(v, "a size", `write it as in 4MiB, or as a number of bytes`)
		case n < least || n > most:
			o.r.wrong(v, "a size from "+showSize(least)+" to "+showSize(most), "")
		default:
			*to = n
		}
	}
	o.done(key, "size", tree.Str(showSize(*to)))
}

// sizeOf returns the number of bytes in v.
func sizeOf(v value) (int64, bool) {
	if v.node.Kind != tree.String && v.node.Kind != tree.Int {
		return 0, false
	}
	m := sizeText.FindStringSubmatch(strings.TrimSpace(v.node.Text))
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
