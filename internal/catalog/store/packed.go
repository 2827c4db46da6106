package store

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"example.dev/ingestor/internal/db"
)

// The fields of an entity are in search, by key and value, and again in fields, by
// entity: packed into one string, which is a fraction of the work of a second index of
// search. In it each field is
//
//	record kid unit value end original
//
// with the values of a key in order. A field without a value has a minus before its
// number. If a key has several values, the last one is repeated with a plus before the
// number, so that the first and the last can be found without reading the rest.
const (
	packedRecord = db.RecordSeparator
	packedUnit   = db.UnitSeparator
	packedEnd    = db.GroupSeparator
	packedNone   = "-"
	packedLast   = "+"
)

// stored is a field as it is in the database.
type stored struct {
	kid             int64
	value, original string
}

func compareStored(a, b stored) int {
	return cmp.Or(cmp.Compare(a.kid, b.kid), strings.Compare(a.value, b.value))
}

// distinctFields sorts fields. Of several spellings of a value, it keeps the first.
func distinctFields(fields []stored) []stored {
	slices.SortStableFunc(fields, compareStored)
	return slices.CompactFunc(fields, func(a, b stored) bool { return compareStored(a, b) == 0 })
}

// pack packs fields, which it sorts, and returns them as unpack would.
func pack(fields []stored) (string, []stored) {
	fields = distinctFields(fields)
	var b []byte
	put := func(mark string, f *stored) {
		b = append(b, packedRecord...)
		b = append(b, mark...)
		b = strconv.AppendInt(b, f.kid, 10)
		b = append(b, packedUnit...)
		b = append(b, f.value...)
		b = append(b, packedEnd...)
		b = append(b, f.original...)
	}
	valued := 0
	for i := range fields {
		f := &fields[i]
		if i > 0 && fields[i-1].kid != f.kid {
			valued = 0
		}
		if f.value == noValue {
			put(packedNone, &stored{kid: f.kid})
			continue
		}
		put("", f)
		valued++
		last := i+1 == len(fields) || fields[i+1].kid != f.kid || fields[i+1].value == noValue
		if valued > 1 && last {
			put(packedLast, &stored{kid: f.kid, value: f.value})
		}
	}
	return string(b), fields
}

// unpack is the reverse of pack.
func unpack(packed string) []stored {
	fields := make([]stored, 0, strings.Count(packed, packedRecord))
	for record := range strings.SplitSeq(packed, packedRecord) {
		key, rest, ok := strings.Cut(record, packedUnit)
		if !ok || strings.HasPrefix(key, packedLast) {
			continue
		}
		var f stored
		f.value, f.original, _ = strings.Cut(rest, packedEnd)
		number, none := strings.CutPrefix(key, packedNone)
		if none {
			f.value = noValue
		}
		var err error
		if f.kid, err = strconv.ParseInt(number, 10, 64); err != nil {
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// valuesOf yields the values of a key in their original spelling.
func valuesOf(packed string, kid int64) iter.Seq[string] {
	key := packedKey("", kid)
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(packed, key)
			if !ok {
				return
			}
			value, rest, _ := strings.Cut(rest, packedEnd)
			original, _, _ := strings.Cut(rest, packedRecord)
			if !yield(cmp.Or(original, value)) {
				return
			}
			packed = rest
		}
	}
}

// packedKey returns the string that precedes the values of a key.
func packedKey(mark string, kid int64) string {
	return packedRecord + mark + strconv.FormatInt(kid, 10) + packedUnit
}

// within returns the condition that the packed fields of the reference contain one of
// the texts.
func (w *sqlWriter) within(ref string, texts ...string) string {
	found := make([]string, len(texts))
	for i, text := range texts {
		found[i] = w.find + "(p.packed, " + w.args.Add(text) + ") > 0"
	}
	return "EXISTS (SELECT 1 FROM fields p WHERE p.ref = " + ref + " AND (" + strings.Join(found, " OR ") + ")" + onlyRow
}

// best returns the value of the packed fields p that comes first in the direction of a
// column, or NULL if there is none.
func (w *sqlWriter) best(col sortColumn) string {
	keys := []string{packedKey("", col.kid)}
	if col.desc {
		keys = []string{packedKey(packedLast, col.kid), keys[0]}
	}
	text := "CASE"
	for _, key := range keys {
		text += " WHEN " + w.find + "(p.packed, " + w.args.Add(key) + ") > 0 THEN " + w.cut(key)
	}
	return text + " END"
}

// cut returns the value that follows a text in the packed fields, up to its end. The
// text must be there.
func (w *sqlWriter) cut(text string) string {
	rest := func() string {
		return fmt.Sprintf("substr(p.packed, %s(p.packed, %s) + %d)", w.find, w.args.Add(text), len(text))
	}
	return "substr(" + rest() + ", 1, " + w.find + "(" + rest() + ", " + w.args.Add(packedEnd) + ") - 1)"
}
