package texts

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sort"

	"example.dev/ingestor/internal/idset"
)

// Range is a part of a set, in the order of a field's values.
type Range struct {
	Desc bool
	// From is the value that the range begins with; nil for the first one.
	From *string
	// Skip entities are skipped, without From, and then Limit are wanted.
	Skip, Limit int
}

// Candidates are the entities of a Range, in any order. Those that have the first or the last
// of their values are complete, or have a value close to it.
type Candidates struct {
	IDs []uint32
	// Before is how many entities come before all of them.
	Before int
}

// mostEqual is how many candidates there are at most besides the wanted ones.
const mostEqual = 2048

// Order returns the candidates of a range of a set. It reports false if that is unknown: the
// values are not in memory, or not as of this revision; entities have several values; those
// without one may be in the range; or there would be too many. If current is set, the revision is the
// present one, and values in memory are brought up to date.
func (t *Texts) Order(ctx context.Context, revision int64, current bool, kid int64, set *idset.Set, r Range) (Candidates, bool, error) {
	for range 2 {
		c, known, at := t.order(revision, kid, set, r)
		if known != nil {
			return c, *known, nil
		}
		if at == 0 || at > revision || !current {
			break
		}
		current = false
		if err := t.update(ctx, at, []int64{kid}); err != nil {
			return Candidates{}, false, err
		}
	}
	return Candidates{}, false, nil
}

// order is Order for values in memory. It returns nil if they are missing or have another
// revision, and that revision: 0 if they are missing.
func (t *Texts) order(revision int64, kid int64, set *idset.Set, r Range) (Candidates, *bool, int64) {
	now := t.clock.Add(1)
	t.mu.RLock()
	defer t.mu.RUnlock()
	f := t.byKid[kid]
	if f == nil {
		return Candidates{}, nil, 0
	}
	f.used.Store(now)
	if t.revision != revision {
		return Candidates{}, nil, t.revision
	}
	c, known := f.order(set, r)
	return c, &known, revision
}

// Ask says that reading the order of a field from the database took a number of rows. As soon
// as that was as often as many rows as reading the values takes, they are read: so the work
// is twice the least possible at most, however the requests come.
func (t *Texts) Ask(ctx context.Context, kid int64, rows, price int) error {
	t.mu.Lock()
	t.asked[kid] += rows
	due := t.byKid[kid] == nil && t.asked[kid] >= price
	if due {
		delete(t.asked, kid)
	}
	at := t.revision
	t.mu.Unlock()
	if !due || !t.fit([]int64{kid}) {
		return nil
	}
	return t.update(ctx, at, []int64{kid})
}

// setPlaces sets the places of entities, unless some have several values, or their ids are
// too far apart.
func (f *field) setPlaces() {
	const spread = 8
	if len(f.ids) == 0 {
		return
	}
	last := slices.Max(f.ids)
	if int(last) > spread*len(f.ids)+mostEqual {
		return
	}
	places := make([]uint32, last+1)
	for n := range f.starts {
		for _, id := range f.ids[f.firsts[n]:f.firsts[n+1]] {
			if places[id] != 0 {
				return
			}
			places[id] = placeOf(n)
		}
	}
	f.places = places
}

// placeOf returns the place of the value with an index.
func placeOf(n int) uint32 { return 2*uint32(n) + 2 }

// place returns the place of a value: if the field did not have it when it was read, the one
// between two others, which such values share.
func (f *field) place(value string) uint32 {
	wanted := []byte(value)
	n, found := sort.Find(len(f.starts), func(i int) int {
		end := len(f.text)
		if i+1 < len(f.starts) {
			end = int(f.starts[i+1])
		}
		return bytes.Compare(wanted, f.text[f.starts[i]:end-len(separator)])
	})
	if found {
		return placeOf(n)
	}
	return placeOf(n) - 1
}

// move gives an entity the place of its value, or none.
func (f *field) move(id uint32, values []string) {
	if f.places == nil {
		return
	}
	if len(values) > 1 || int(id) >= len(f.places)+maxLater*8 {
		f.places = nil
		return
	}
	for int(id) >= len(f.places) {
		f.places = append(f.places, 0)
	}
	f.places[id] = 0
	if len(values) == 1 {
		f.places[id] = f.place(values[0])
	}
}

// order returns the candidates of a range.
func (f *field) order(set *idset.Set, r Range) (Candidates, bool) {
	if f.places == nil || r.From != nil && r.Skip > 0 {
		return Candidates{}, false
	}
	key := func(place uint32) uint32 {
		if r.Desc {
			return math.MaxUint32 - place
		}
		return place
	}
	s := selection{want: r.Skip + r.Limit}
	var same []uint32
	from, none := uint32(0), false
	if r.From != nil {
		from = key(f.place(*r.From))
	}
	each(set, func(id uint32) bool {
		if int(id) >= len(f.places) || f.places[id] == 0 {
			none = true
			return true
		}
		switch k := key(f.places[id]); {
		case r.From != nil && k == from:
			same = append(same, id)
		case k >= from:
			s.add(k, id)
		}
		return len(same) <= mostEqual && !s.over
	})
	if s.cut(); s.over || len(same) > mostEqual || none && len(s.keys) < s.want {
		return Candidates{}, false
	}
	c := Candidates{IDs: same, Before: s.before(r.Skip)}
	for _, k := range s.keys[c.Before:] {
		c.IDs = append(c.IDs, uint32(k))
	}
	return c, true
}

// each calls do for each id of a set, until it returns false.
func each(set *idset.Set, do func(id uint32) bool) {
	some := make([]uint32, 512)
	for it := set.ManyIterator(); ; {
		n := it.NextMany(some)
		if n == 0 {
			return
		}
		for _, id := range some[:n] {
			if !do(id) {
				return
			}
		}
	}
}

// selection selects the first of the entities that are added, and all others with the key of
// the last of these.
type selection struct {
	want int
	// keys are those of entities, above their ids. A key above limit is not among the first.
	keys  []uint64
	limit uint32
	full  bool
	// over reports that too many have the key of the last.
	over bool
}

func (s *selection) add(key, id uint32) {
	if s.full && key > s.limit {
		return
	}
	s.keys = append(s.keys, uint64(key)<<32|uint64(id))
	if len(s.keys) >= 2*s.want+2*mostEqual {
		s.cut()
	}
}

// cut sorts the keys, and drops those after the first.
func (s *selection) cut() {
	slices.Sort(s.keys)
	if s.want < 1 || len(s.keys) < s.want {
		return
	}
	s.full, s.limit = true, uint32(s.keys[s.want-1]>>32)
	n, _ := slices.BinarySearch(s.keys, (uint64(s.limit)+1)<<32)
	s.keys = s.keys[:n]
	s.over = n > s.want+mostEqual
}

// before returns how many of the sorted keys come before all that have the key of the one
// after skip others.
func (s *selection) before(skip int) int {
	if skip >= len(s.keys) {
		return len(s.keys)
	}
	n, _ := slices.BinarySearch(s.keys, s.keys[skip]>>32<<32)
	return n
}
