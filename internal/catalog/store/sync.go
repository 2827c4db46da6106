package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"example.dev/ingestor/document/tree"
	"example.dev/ingestor/document/wire"
	"example.dev/ingestor/entity"
	"example.dev/ingestor/internal/db"
)

// candidate is a document of a change.
type candidate struct {
	// change and index are the indices of the change, and of the document in it.
	change, index     int
	doc               Document
	ref, hash, parent string
	edges             []edge
}

// upsert is a document that is to be written.
type upsert struct {
	candidate
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

// errNothing ends a transaction that turns out to have nothing to do.
var errNothing = errors.New("no changes to write")

// Sync applies the change of a provider to the catalog, in one transaction that writes
// only what differs. If nothing differs, no transaction is begun. Documents whose
// reference belongs to another provider are refused and change nothing. A reference
// that is both put and removed is put.
func (s *Store) Sync(ctx context.Context, c Change) (Result, error) {
	doing := fmt.Sprintf("store the entities of %q", c.Provider)
	if s.isLarge(c.Put) {
		res, err := s.syncLarge(ctx, c)
		return res, db.Fail(doing, err)
	}
	results, err := s.syncAll(ctx, []Change{c})
	if err != nil {
		return Result{}, db.Fail(doing, err)
	}
	return results[0], nil
}

// SyncAll is Sync for several providers at once, all in one transaction, with the
// results in their order. A reference that one provider releases may be taken by
// another, and the entity keeps its uid; it counts as removed for the first and as
// added for the second. If two providers put an entity without an owner, the first one
// gets it.
func (s *Store) SyncAll(ctx context.Context, changes []Change) ([]Result, error) {
	results, err := s.syncAll(ctx, changes)
	return results, db.Fail(fmt.Sprintf("store the entities of %d providers", len(changes)), err)
}

func (s *Store) syncAll(ctx context.Context, changes []Change) ([]Result, error) {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Provider = db.Storable(changes[i].Provider)
	}
	offers, err := candidatesOf(changes)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		// The candidates hold the documents, only as long as they are needed.
		changes[i].Put = nil
	}
	before, d, l, err := s.look(ctx, changes, offers)
	if err != nil || before == settled {
		return d.results, err
	}
	drafting, stop := context.WithCancel(ctx)
	defer stop()
	// Drafts are prepared while this change waits for other writers.
	drafts := s.drafts(drafting, d, l)
	err = s.change(ctx, func(w *writer) error {
		if d.empty() || w.N != before+1 && !s.traces.conflictFree(before, w.N, readSetOf(changes, offers, d, l)) {
			// A concurrent write may affect the plan: compute it again.
			now, links, err := s.consider(ctx, w.Ask, changes, offers)
			if err != nil {
				return err
			}
			if !now.same(d) || !links.same(l) {
				stop()
				d, l = now, links
				redrafting, stop := context.WithCancel(ctx)
				defer stop()
				drafts = s.drafts(redrafting, d, l)
			}
		}
		if d.empty() {
			return errNothing
		}
		w.trace = traceOf(changes, d, l)
		return w.apply(ctx, d, l, drafts)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return nil, err
	}
	return d.results, nil
}

const (
	// settled is the revision that look returns if there is nothing to change.
	settled = -1
	// mostLooks is how often an empty plan is recomputed because of concurrent writes,
	// before it is computed in a transaction.
	mostLooks = 3
)

// look plans changes and returns the revision that the plan is based on, or settled if
// there is nothing to change. Planning takes several reads, which are one snapshot only
// if the revision is the same before and after: an empty plan counts only then.
func (s *Store) look(ctx context.Context, changes []Change, offers []candidate) (before int64, d *changeSet, l *linkage, err error) {
	d = &changeSet{}
	for range mostLooks {
		if before, err = s.revision(ctx); err != nil {
			return before, d, nil, err
		}
		found, links, err := s.consider(ctx, s.DB.Query, changes, offers)
		if err != nil {
			return before, d, nil, err
		}
		if d, l = found, links; !d.empty() {
			return before, d, l, nil
		}
		now, err := s.revision(ctx)
		if err != nil {
			return before, d, nil, err
		}
		if now == before {
			return settled, d, nil, nil
		}
	}
	return before, d, l, nil
}

// DeleteByUID removes an entity, whichever provider owns it.
func (s *Store) DeleteByUID(ctx context.Context, uid string) error {
	err := s.change(ctx, func(w *writer) error {
		var ref string
		if err := w.Tx.QueryRowContext(ctx, "SELECT ref FROM entities WHERE uid = $1", db.Storable(uid)).Scan(&ref); err != nil {
			return err
		}
		return w.remove(ctx, []string{ref})
	})
	return db.Fail(fmt.Sprintf("remove the entity with uid %q", uid), err)
}

// consider computes the change set of changes, and its effect on relations.
func (s *Store) consider(ctx context.Context, ask db.Asker, changes []Change, offers []candidate) (*changeSet, *linkage, error) {
	d, err := s.compare(ctx, ask, changes, offers)
	if err != nil || d.empty() {
		return d, nil, err
	}
	l, err := s.relate(ctx, ask, d)
	return d, l, err
}

// node returns the document as a value.
func (d Document) node() (*tree.Node, error) {
	if d.Node != nil {
		return d.Node, nil
	}
	text := d.JSON
	if d.Spooled.Size() > 0 {
		var err error
		if text, err = d.Spooled.Load(); err != nil {
			return nil, err
		}
	}
	return wire.Decoder{}.Decode(text)
}

// prepared returns the document as Prepared, and prepares it if necessary.
func (o *candidate) prepared() (*Prepared, error) {
	if o.doc.Prepared != nil {
		return o.doc.Prepared, nil
	}
	n, err := o.doc.node()
	if err != nil {
		return nil, err
	}
	return Prepare(n), nil
}

// candidatesOf reads all documents of changes, on all processors.
func candidatesOf(changes []Change) ([]candidate, error) {
	n := 0
	for i := range changes {
		n += len(changes[i].Put)
	}
	offers := make([]candidate, 0, n)
	for i := range changes {
		for j, d := range changes[i].Put {
			offers = append(offers, candidate{change: i, index: j, doc: d})
		}
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	size := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for start := 0; start < n; start += size {
		wg.Go(func() {
			for i := start; i < min(start+size, n); i++ {
				errs[i] = offers[i].read(n <= mostNodes)
			}
		})
	}
	wg.Wait()
	return offers, errors.Join(errs...)
}

// mostNodes is up to how many documents are held as values while they are written,
// rather than decoded again: that is faster, and takes five times the memory.
const mostNodes = 2048

// read computes what the comparison needs of the document, and keeps the decoded
// document if few is set.
func (o *candidate) read(few bool) error {
	o.parent = db.Storable(o.doc.Parent)
	if p := o.doc.Prepared; p != nil {
		o.ref, o.hash, o.edges = p.ref, p.hash, p.edges
		o.doc = Document{Prepared: p}
		return nil
	}
	n, err := o.doc.node()
	if err != nil {
		return err
	}
	if few {
		o.doc.Node = n
	}
	o.ref = entity.RefOf(n).String()
	o.hash, o.edges = entity.HashDocument(n), edgesOf(o.ref, n)
	return nil
}

// known is an entity that is in the store.
type known struct{ uid, provider, hash, parent string }

// compare compares changes with what is in the store.
func (s *Store) compare(ctx context.Context, ask db.Asker, changes []Change, offers []candidate) (*changeSet, error) {
	d := &changeSet{results: make([]Result, len(changes))}
	have, err := s.haves(ctx, ask, changes, offers)
	if err != nil {
		return nil, err
	}
	givenUp := releases(changes, offers, have)
	// taken maps a reference to the provider that puts it in one of the changes.
	taken := make(map[string]string, len(offers))
	for _, o := range offers {
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
		e := upsert{candidate: o, uid: k.uid, provider: provider}
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
func releases(changes []Change, offers []candidate, have map[string]known) map[string]int {
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
	for i := range offers {
		if have[offers[i].ref].provider == changes[offers[i].change].Provider {
			delete(givenUp, offers[i].ref)
		}
	}
	return givenUp
}

// refKey returns a reference as it is stored.
func refKey(ref string) string { return strings.ToLower(db.Storable(ref)) }

// haves returns the stored entities that changes concern: all of a provider whose
// change is full, and those that are named.
func (s *Store) haves(ctx context.Context, ask db.Asker, changes []Change, offers []candidate) (map[string]known, error) {
	const columns = "SELECT ref, uid, provider, hash, parent FROM entities WHERE "
	have := make(map[string]known, len(offers))
	scan := func(rows *db.Rows) error {
		var ref string
		var k known
		if err := rows.Scan(&ref, &k.uid, &k.provider, &k.hash, &k.parent); err != nil {
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
	if err := s.SelectIn(ctx, ask, columns+"provider IN ", slices.Compact(full), scan); err != nil {
		return nil, err
	}
	if s.betweenReads != nil {
		s.betweenReads()
	}
	for i := range offers {
		if _, ok := have[offers[i].ref]; !ok {
			named = append(named, offers[i].ref)
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
	return have, s.SelectIn(ctx, ask, columns+"ref IN ", named, scan)
}

// remove removes entities.
func (w *writer) remove(ctx context.Context, refs []string) error {
	d := &changeSet{removed: refs}
	l, err := w.s.relate(ctx, w.Ask, d)
	if err != nil {
		return err
	}
	none := make(chan *draft)
	close(none)
	return w.apply(ctx, d, l, none)
}

// apply writes a change set, whose drafts are being prepared.
func (w *writer) apply(ctx context.Context, d *changeSet, l *linkage, drafts <-chan *draft) error {
	if err := w.keepUIDs(ctx, d.removed); err != nil {
		return err
	}
	if err := w.forget(ctx, d.removed); err != nil {
		return err
	}
	w.changed = append(w.changed, d.removed...)
	for _, table := range []string{"entities", "documents", "fields"} {
		if err := w.DeleteIn(ctx, table, "ref", d.removed); err != nil {
			return err
		}
	}
	if err := w.link(ctx, l); err != nil {
		return err
	}
	for dr := range drafts {
		c, err := w.complete(ctx, dr, l)
		if err != nil {
			return err
		}
		if err := w.write(ctx, c); err != nil {
			return err
		}
	}
	// Drafts end early if ctx is canceled.
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.analyze(ctx, d.added); err != nil {
		return err
	}
	return w.relink(ctx, d, l)
}
