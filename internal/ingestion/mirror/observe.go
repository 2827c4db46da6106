package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.dev/ingestor/internal/db"
)

// seen is the stored state of an object, without the large columns.
type seen struct {
	unit, kind, claim, of string
	version               int64
	gone                  bool
	hash                  string
	// put is the object that causes this state, nil if the state is unchanged.
	put *Object
}

// yields reports whether the known state loses against an observation with the given
// version.
func (k seen) yields(version int64, anew bool) bool {
	return anew || k.version == 0 || version == 0 || k.version < version
}

// sighting is an observation ready to be stored.
type sighting struct {
	Observation
	// hashes are those of Put.
	hashes []string
}

// outcome is the result of comparing an observation with the mirror.
type outcome struct {
	// have are the objects concerned, as they are afterwards; was are those of them that
	// are written, as they were before, nil if they did not exist.
	have map[string]seen
	was  map[string]*seen
	// horizon is the version up to which unknown objects are gone.
	horizon int64
}

// Observe stores what was seen of a list, in one transaction, and returns how many
// units became dirty. An object that differs only in its version makes none dirty,
// unless Look is set. If there is nothing to write, no transaction is started.
func (s *Mirror) Observe(ctx context.Context, o Observation) (units int, err error) {
	doing := fmt.Sprintf("store observed objects of %q in %q", o.List, o.Source)
	at := sightingOf(o)
	before, err := s.stamp(ctx)
	if err != nil {
		return 0, db.Fail(doing, err)
	}
	// The stamp was read first, so any write from here on is detected.
	out, err := s.weigh(ctx, s.Query, &at)
	if err != nil {
		return 0, db.Fail(doing, err)
	}
	if len(out.was) == 0 {
		s.horizons.raise(&at.Observation)
		return 0, nil
	}
	err = s.change(ctx, func(w *writer) error {
		if w.N != before+1 {
			if out, err = s.weigh(ctx, w.Ask, &at); err != nil {
				return err
			}
		}
		if len(out.was) == 0 {
			return errNothing
		}
		units, err = w.record(ctx, &at, out)
		return err
	})
	if err != nil && !errors.Is(err, errNothing) {
		return 0, db.Fail(doing, err)
	}
	s.horizons.raise(&at.Observation)
	return units, nil
}

func (s *Mirror) stamp(ctx context.Context) (n int64, err error) {
	err = s.Read.QueryRowContext(ctx, "SELECT n FROM stamp").Scan(&n)
	return n, err
}

// sightingOf prepares an observation for storage.
func sightingOf(o Observation) sighting {
	o.Source, o.List = db.Storable(o.Source), db.Storable(o.List)
	put := make([]Object, len(o.Put))
	hashes := make([]string, len(o.Put))
	for i, p := range o.Put {
		p.Key, p.Unit, p.Kind, p.Claim, p.Of = db.Storable(p.Key), db.Storable(p.Unit), db.Storable(p.Kind), db.Storable(p.Claim), db.Storable(p.Of)
		put[i], hashes[i] = p, hashObject(&p)
	}
	o.Put = put
	return sighting{o, hashes}
}

// hashObject hashes everything that entities may be built from.
func hashObject(o *Object) string {
	h := sha256.New()
	var text []byte
	for _, s := range []string{o.Unit, o.Kind, o.Claim, o.Of, string(o.Note)} {
		text = binary.AppendUvarint(text, uint64(len(s)))
		text = append(text, s...)
	}
	h.Write(text)
	h.Write(o.Body)
	return string(h.Sum(nil))
}

// weigh compares an observation with the mirror.
func (s *Mirror) weigh(ctx context.Context, ask db.Asker, o *sighting) (*outcome, error) {
	have, err := s.seen(ctx, ask, o)
	if err != nil {
		return nil, err
	}
	out := &outcome{have: have, was: map[string]*seen{}, horizon: s.horizons.before(&o.Observation)}
	for i := range o.Put {
		out.put(&o.Put[i], o.hashes[i], o.Anew)
	}
	for _, g := range o.Gone {
		out.gone(db.Storable(g.Key), g.Version, o.Anew)
	}
	if o.Complete {
		out.complete(o)
	}
	// An object that appeared and disappeared leaves nothing to write.
	maps.DeleteFunc(out.was, func(key string, was *seen) bool {
		_, there := out.have[key]
		return was == nil && !there
	})
	return out, nil
}

// seen reads the known states of the objects that an observation concerns.
func (s *Mirror) seen(ctx context.Context, ask db.Asker, o *sighting) (map[string]seen, error) {
	const query = "SELECT key, unit, kind, claim, of_kind, version, gone, hash FROM objects WHERE source = $1 AND list = $2"
	have := make(map[string]seen, len(o.Put))
	scan := func(rows *db.Rows) error {
		var key string
		var k seen
		var hash []byte
		if err := rows.Scan(&key, &k.unit, &k.kind, &k.claim, &k.of, &k.version, &k.gone, &hash); err != nil {
			return err
		}
		k.hash = string(hash)
		have[key] = k
		return nil
	}
	if o.Complete {
		return have, db.Each(ctx, ask, query, []any{o.Source, o.List}, scan)
	}
	keys := make([]string, 0, len(o.Put)+len(o.Gone))
	for i := range o.Put {
		keys = append(keys, o.Put[i].Key)
	}
	for _, g := range o.Gone {
		keys = append(keys, db.Storable(g.Key))
	}
	return have, s.SelectIn(ctx, ask, query+" AND key IN ", keys, scan, o.Source, o.List)
}

// set changes the state of an object to k, or removes it if k is nil.
func (out *outcome) set(key string, k *seen) {
	if _, ok := out.was[key]; !ok {
		out.was[key] = nil
		if was, there := out.have[key]; there {
			out.was[key] = &was
		}
	}
	if k == nil {
		delete(out.have, key)
		return
	}
	out.have[key] = *k
}

func (out *outcome) put(p *Object, hash string, anew bool) {
	k, there := out.have[p.Key]
	if !there && p.Version > 0 && p.Version <= out.horizon {
		return
	}
	if there && !k.yields(p.Version, anew) {
		return
	}
	if there && !k.gone && k.hash == hash && k.version == p.Version {
		return
	}
	out.set(p.Key, &seen{
		unit: p.Unit, kind: p.Kind, claim: p.Claim, of: p.Of, version: p.Version, hash: hash, put: p,
	})
}

func (out *outcome) gone(key string, version int64, anew bool) {
	k, there := out.have[key]
	switch {
	case there && k.version != version && !k.yields(version, anew):
	case there && k.gone && k.version == version:
	case version > 0:
		out.set(key, &seen{gone: true, version: version})
	case there:
		// Without a version there is no deletion to store.
		out.set(key, nil)
	}
}

func (out *outcome) complete(o *sighting) {
	listed := make(map[string]bool, len(o.Keys)+len(o.Put))
	for _, key := range o.Keys {
		listed[db.Storable(key)] = true
	}
	for i := range o.Put {
		listed[o.Put[i].Key] = true
	}
	for _, key := range slices.Collect(maps.Keys(out.have)) {
		k := out.have[key]
		if past := o.Anew || o.Version == 0 || k.version <= o.Version; past && (k.gone || !listed[key]) {
			out.set(key, nil)
		}
	}
}

// record writes an outcome and returns how many units it makes dirty.
func (w *writer) record(ctx context.Context, o *sighting, out *outcome) (int, error) {
	var written, bodies []*Object
	var rows []seen
	var keys, dropped, bare []string
	changed := newTouched()
	for _, key := range slices.Sorted(maps.Keys(out.was)) {
		was := out.was[key]
		k, there := out.have[key]
		same := was != nil && !was.gone && there && !k.gone && was.hash == k.hash
		if was != nil && !was.gone && !same {
			changed.add(was.unit, was.of)
		}
		changed.moveBetween(was, k, there)
		if there && !k.gone && (!same || o.Look && k.version != was.version) {
			changed.add(k.unit, k.of)
		}
		if !there {
			dropped = append(dropped, key)
			continue
		}
		keys, rows, written = append(keys, key), append(rows, k), append(written, k.put)
		switch {
		case same && (k.put == nil || len(k.put.Status) == 0):
		case k.put != nil && len(k.put.Body) > 0:
			bodies = append(bodies, k.put)
		case was != nil && !same:
			bare = append(bare, key)
		}
	}
	here := []db.Equal{{Column: "source", Value: o.Source}, {Column: "list", Value: o.List}}
	if err := w.DeleteIn(ctx, "objects", "key", dropped, here...); err != nil {
		return 0, err
	}
	if err := w.DeleteIn(ctx, "object_bodies", "key", append(bare, dropped...), here...); err != nil {
		return 0, err
	}
	err := w.Insert(ctx, "objects (source, list, key, unit, kind, claim, of_kind, version, gone, hash, note)",
		` ON CONFLICT (source, list, key) DO UPDATE SET unit = excluded.unit, kind = excluded.kind, claim = excluded.claim,
		of_kind = excluded.of_kind, version = excluded.version, gone = excluded.gone, hash = excluded.hash, note = excluded.note`,
		11, len(rows), func(i int, args []any) []any {
			k := &rows[i]
			gone, note := 0, []byte(nil)
			if k.gone {
				gone = 1
			}
			if written[i] != nil {
				note = written[i].Note
			}
			return append(args, o.Source, o.List, keys[i], k.unit, k.kind, k.claim, k.of, k.version, gone, []byte(k.hash), note)
		})
	if err != nil {
		return 0, err
	}
	err = w.Insert(ctx, "object_bodies (source, list, key, body, status)",
		" ON CONFLICT (source, list, key) DO UPDATE SET body = excluded.body, status = excluded.status", 5, len(bodies),
		func(i int, args []any) []any {
			return append(args, o.Source, o.List, bodies[i].Key, bodies[i].Body, bodies[i].Status)
		})
	if err != nil {
		return 0, err
	}
	if err := w.addParts(ctx, o, written); err != nil {
		return 0, err
	}
	return w.touch(ctx, changed, placeKept)
}

// moveBetween adds the kinds that only one of two states of an object belongs to or
// defines.
func (t touched) moveBetween(was *seen, k seen, there bool) {
	before := seen{}
	if was != nil && !was.gone {
		before = *was
	}
	if !there || k.gone {
		k = seen{}
	}
	for _, pair := range [][2]string{{before.of, k.of}, {before.kind, k.kind}, {before.claim, k.claim}} {
		if pair[0] != pair[1] {
			t.move(pair[0], pair[1])
		}
	}
}
