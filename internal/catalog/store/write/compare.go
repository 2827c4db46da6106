package write

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"example.dev/ingestor/internal/db"
)

// upsert is a document that is to be written.
type upsert struct {
	candidate
	// id is that of an entity that exists.
	id            uint32
	uid, provider string
	added         bool
}

// changeSet is the difference between changes and the catalog.
type changeSet struct {
	// put and removed are in the order of references.
	put     []upsert
	removed []string
	// added is how many references are new.
	added   int
	results []Result
}

func (d *changeSet) empty() bool { return len(d.put)+len(d.removed) == 0 }

// refs returns the references that are put and removed.
func (d *changeSet) refs() map[string]bool {
	refs := make(map[string]bool, len(d.put)+len(d.removed))
	for i := range d.put {
		refs[d.put[i].ref] = true
	}
	for _, ref := range d.removed {
		refs[ref] = true
	}
	return refs
}

// same reports whether two change sets of the same changes are equal, apart from the
// uids of new entities.
func (d *changeSet) same(as *changeSet) bool {
	return slices.Equal(d.removed, as.removed) && slices.EqualFunc(d.put, as.put, func(a, b upsert) bool {
		return a.change == b.change && a.index == b.index && a.added == b.added && (a.added || a.uid == b.uid)
	}) && slices.EqualFunc(d.results, as.results, func(a, b Result) bool {
		return a.Added == b.Added && a.Updated == b.Updated && a.Removed == b.Removed && a.Unchanged == b.Unchanged &&
			slices.Equal(a.Refused, b.Refused)
	})
}

// known is an entity that is in the store.
type known struct {
	id                          uint32
	uid, provider, hash, parent string
}

// compare compares changes with what is in the store.
func (s *Writer) compare(ctx context.Context, ask db.Asker, changes []Change, candidates []candidate) (*changeSet, error) {
	d := &changeSet{results: make([]Result, len(changes))}
	have, err := s.haves(ctx, ask, changes, candidates)
	if err != nil {
		return nil, err
	}
	givenUp := releases(changes, candidates, have)
	// taken maps a reference to the provider that puts it in one of the changes.
	taken := make(map[string]string, len(candidates))
	for _, o := range candidates {
		provider, result := changes[o.change].Provider, &d.results[o.change]
		k, there := have[o.ref]
		_, free := givenUp[o.ref]
		owner, refused := taken[o.ref]
		if !refused && there && k.provider != provider && !free {
			owner, refused = k.provider, true
		}
		if refused {
			result.Refused = append(result.Refused, Refusal{Index: o.index, Ref: o.ref, Owner: owner})
			continue
		}
		taken[o.ref] = provider
		e := upsert{candidate: o, id: k.id, uid: k.uid, provider: provider}
		switch {
		case !there:
			// Version 7 uids begin with the time, so that new ones are neighbors in indexes:
			// random ones would touch every page with each change.
			uid, err := uuid.NewV7()
			if err != nil {
				return nil, err
			}
			e.uid, e.added = uid.String(), true
			result.Refs.Added = append(result.Refs.Added, o.ref)
			d.added++
		case k.provider != provider:
			result.Refs.Added = append(result.Refs.Added, o.ref)
		case k.hash != o.hash || k.parent != o.parent:
			result.Refs.Updated = append(result.Refs.Updated, o.ref)
		default:
			result.Unchanged++
			continue
		}
		d.put = append(d.put, e)
	}
	for ref, change := range givenUp {
		d.results[change].Refs.Removed = append(d.results[change].Refs.Removed, ref)
		if _, ok := taken[ref]; !ok {
			d.removed = append(d.removed, ref)
		}
	}
	for i := range d.results {
		r := &d.results[i]
		r.Added, r.Updated, r.Removed = len(r.Refs.Added), len(r.Refs.Updated), len(r.Refs.Removed)
	}
	if err := s.reuseUIDs(ctx, ask, d); err != nil {
		return nil, err
	}
	slices.Sort(d.removed)
	slices.SortFunc(d.put, func(a, b upsert) int { return strings.Compare(a.ref, b.ref) })
	return d, nil
}

// releases returns the references that their owners release, and by which change. A
// reference that its owner puts is not released.
func releases(changes []Change, candidates []candidate, have map[string]known) map[string]int {
	full := map[string]int{}
	for i := range changes {
		if _, ok := full[changes[i].Provider]; changes[i].Full && !ok {
			full[changes[i].Provider] = i
		}
	}
	givenUp := map[string]int{}
	for ref, k := range have {
		if i, ok := full[k.provider]; ok {
			givenUp[ref] = i
		}
	}
	for i := range changes {
		for _, ref := range changes[i].Remove {
			ref = refKey(ref)
			if _, ok := givenUp[ref]; !ok && have[ref].provider == changes[i].Provider {
				if _, there := have[ref]; there {
					givenUp[ref] = i
				}
			}
		}
	}
	for i := range changes {
		for _, ref := range changes[i].Keep {
			if ref = refKey(ref); have[ref].provider == changes[i].Provider {
				delete(givenUp, ref)
			}
		}
	}
	for i := range candidates {
		if have[candidates[i].ref].provider == changes[candidates[i].change].Provider {
			delete(givenUp, candidates[i].ref)
		}
	}
	return givenUp
}

// refKey returns a reference as it is stored.
func refKey(ref string) string { return strings.ToLower(db.Storable(ref)) }

// haves returns the stored entities that changes concern: all of a provider whose
// change is full, and those that are named.
func (s *Writer) haves(ctx context.Context, ask db.Asker, changes []Change, candidates []candidate) (map[string]known, error) {
	const columns = "SELECT ref, id, uid, provider, hash, parent FROM entities WHERE "
	have := make(map[string]known, len(candidates))
	scan := func(rows *db.Rows) error {
		var ref string
		var k known
		if err := rows.Scan(&ref, &k.id, &k.uid, &k.provider, &k.hash, &k.parent); err != nil {
			return err
		}
		have[ref] = k
		return nil
	}
	var full, named []string
	for i := range changes {
		if changes[i].Full {
			full = append(full, changes[i].Provider)
		}
	}
	slices.Sort(full)
	if err := s.db.SelectIn(ctx, ask, columns+"provider IN ", slices.Compact(full), scan); err != nil {
		return nil, err
	}
	if s.betweenReads != nil {
		s.betweenReads()
	}
	for i := range candidates {
		if _, ok := have[candidates[i].ref]; !ok {
			named = append(named, candidates[i].ref)
		}
	}
	for i := range changes {
		if changes[i].Full {
			continue
		}
		for _, ref := range changes[i].Remove {
			named = append(named, refKey(ref))
		}
	}
	return have, s.db.SelectIn(ctx, ask, columns+"ref IN ", named, scan)
}
