package index

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/db"
)

// The fields of an entity are in postings, by key and value, and again in fields, by
// entity: packed into one string, since postings has no index by entity. In it, a field is
//
//	record kid unit value end original
//
// with the values of a key in order. A field without a value has a minus before its
// number. If a key has several values, the last one is repeated with a plus before the
// number, so that the first and the last can be found without reading the rest.
const (
	packedRecord = db.RecordSeparator
	packedUnit   = db.UnitSeparator
	ValueEnd     = db.GroupSeparator
	MarkNone     = "-"
	MarkLast     = "+"
)

// Field is a field as it is in the database.
type Field struct {
	Kid             int64
	Value, Original string
}

// Compare orders fields by key and value.
func Compare(a, b Field) int {
	return cmp.Or(cmp.Compare(a.Kid, b.Kid), strings.Compare(a.Value, b.Value))
}

// Distinct sorts fields. Of several spellings of a value, it keeps the first.
func Distinct(fields []Field) []Field {
	slices.SortStableFunc(fields, Compare)
	return slices.CompactFunc(fields, func(a, b Field) bool { return Compare(a, b) == 0 })
}

// Pack packs fields, which it sorts, and returns them as Unpack would.
func Pack(fields []Field) (string, []Field) {
	fields = Distinct(fields)
	var b []byte
	put := func(mark string, f *Field) {
		b = append(b, packedRecord...)
		b = append(b, mark...)
		b = strconv.AppendInt(b, f.Kid, 10)
		b = append(b, packedUnit...)
		b = append(b, f.Value...)
		b = append(b, ValueEnd...)
		b = append(b, f.Original...)
	}
	valued := 0
	for i := range fields {
		f := &fields[i]
		if i > 0 && fields[i-1].Kid != f.Kid {
			valued = 0
		}
		if f.Value == NoValue {
			put(MarkNone, &Field{Kid: f.Kid})
			continue
		}
		put("", f)
		valued++
		last := i+1 == len(fields) || fields[i+1].Kid != f.Kid || fields[i+1].Value == NoValue
		if valued > 1 && last {
			put(MarkLast, &Field{Kid: f.Kid, Value: f.Value})
		}
	}
	return string(b), fields
}

// Unpack is the reverse of Pack.
func Unpack(packed string) []Field {
	fields := make([]Field, 0, strings.Count(packed, packedRecord))
	for record := range strings.SplitSeq(packed, packedRecord) {
		key, rest, ok := strings.Cut(record, packedUnit)
		if !ok || strings.HasPrefix(key, MarkLast) {
			continue
		}
		var f Field
		f.Value, f.Original, _ = strings.Cut(rest, ValueEnd)
		number, none := strings.CutPrefix(key, MarkNone)
		if none {
			f.Value = NoValue
		}
		var err error
		if f.Kid, err = strconv.ParseInt(number, 10, 64); err != nil {
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// Values yields the values of a key, in order, in lower case and in their original
// spelling.
func Values(packed string, kid int64) iter.Seq2[string, string] {
	key := Prefix("", kid)
	return func(yield func(value, original string) bool) {
		for {
			_, rest, ok := strings.Cut(packed, key)
			if !ok {
				return
			}
			value, rest, _ := strings.Cut(rest, ValueEnd)
			original, _, _ := strings.Cut(rest, packedRecord)
			if !yield(value, cmp.Or(original, value)) {
				return
			}
			packed = rest
		}
	}
}

// First returns the first value of a key, or the last one, and whether it has any.
func First(packed string, kid int64, last bool) (string, bool) {
	if last {
		if _, rest, ok := strings.Cut(packed, Prefix(MarkLast, kid)); ok {
			value, _, _ := strings.Cut(rest, ValueEnd)
			return value, true
		}
	}
	for value := range Values(packed, kid) {
		return value, true
	}
	return "", false
}

// Prefix returns the string that precedes the values of a key.
func Prefix(mark string, kid int64) string {
	return packedRecord + mark + strconv.FormatInt(kid, 10) + packedUnit
}
