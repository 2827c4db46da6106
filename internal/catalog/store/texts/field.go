package texts

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/idset"
)

const (
	// separator is between values. No value contains it.
	separator = db.UnitSeparator
	// maxLater is for how many changed entities values are held beside the others. Reading
	// all values again costs less than searching more of them.
	maxLater = 8192
)

// field has the values of a key in one text, so that finding a text in all of them is one
// search.
type field struct {
	text []byte
	// starts are where values begin in text, and firsts where their ids begin in ids.
	starts, firsts []uint32
	ids            []uint32
	// later has the current values of entities that changed after the others were read.
	// laterBytes is the memory that these values take.
	later      map[uint32][]string
	laterBytes int
	// places are those of entities in the order of values, by id: 0 for none. It is nil if
	// some have several values.
	places []uint32
	// used is the time of the last use, by the clock of Texts.
	used atomic.Int64
}

// append appends ids that have a value. The ids of a value come one after the other.
func (f *field) append(value []byte, block int64, ids []byte) error {
	if last := len(f.starts) - 1; last < 0 || !bytes.Equal(value, f.text[f.starts[last]:len(f.text)-len(separator)]) {
		f.starts, f.firsts = append(f.starts, uint32(len(f.text))), append(f.firsts, uint32(len(f.ids)))
		f.text = append(append(f.text, value...), separator...)
	}
	var err error
	if block == idset.List {
		f.ids, err = idset.AppendIDs(f.ids, ids)
		return err
	}
	var set idset.Set
	if err := idset.Add(&set, block, ids); err != nil {
		return err
	}
	f.ids = append(f.ids, set.ToArray()...)
	return nil
}

// finish is called after the last value. It copies the slices, to free the memory that
// append allocated in advance.
func (f *field) finish() {
	f.text, f.starts, f.ids = slices.Clone(f.text), slices.Clone(f.starts), slices.Clone(f.ids)
	f.firsts = slices.Clone(append(f.firsts, uint32(len(f.ids))))
	f.setPlaces()
}

// bytes returns about how much memory the finished field takes.
func (f *field) bytes() int {
	return len(f.text) + 4*(len(f.starts)+len(f.firsts)+len(f.ids)+len(f.places)) + 100*len(f.later) + f.laterBytes
}

// put replaces the values of an entity.
func (f *field) put(id uint32, values []string) {
	if f.later == nil {
		f.later = map[uint32][]string{}
	}
	f.laterBytes += sizeOf(values) - sizeOf(f.later[id])
	f.later[id] = values
	f.move(id, values)
}

// sizeOf returns about how much memory values take.
func sizeOf(values []string) int {
	n := 0
	for _, v := range values {
		n += 16 + len(v)
	}
	return n
}

// find adds the entities with a value that contains a text.
func (f *field) find(set *idset.Set, text string) {
	var found []uint32
	for at := 0; at < len(f.text); {
		i := bytes.Index(f.text[at:], []byte(text))
		if i < 0 {
			break
		}
		n, exact := slices.BinarySearch(f.starts, uint32(at+i))
		if !exact {
			n--
		}
		for _, id := range f.ids[f.firsts[n]:f.firsts[n+1]] {
			if _, changed := f.later[id]; !changed {
				found = append(found, id)
			}
		}
		if at = len(f.text); n+1 < len(f.starts) {
			at = int(f.starts[n+1])
		}
	}
	for id, values := range f.later {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, text) }) {
			found = append(found, id)
		}
	}
	set.AddMany(found)
}
