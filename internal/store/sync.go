package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"example.dev/ingestor/entity"
	"example.dev/ingestor/tree"
)

// offer is a document of a change.
type offer struct {
	index             int
	doc               Document
	ref, hash, parent string
	edges             []edge
}

// entry is a document that is to be written.
type entry struct {
	offer
	uid   string
	added bool
}

// delta is what a change amounts to.
type delta struct {
	provider string
	// put and removed are in the order of references.
	put     []entry
	removed []string
	result  Result
}

func (d *delta) empty() bool { return len(d.put)+len(d.removed) == 0 }

// errNothing ends a transaction that turns out to have nothing to do.
var errNothing = errors.New("there is nothing to change")

// Sync makes the catalog what the provider says, in one transaction that
// touches only what differs. If nothing does, none is begun. Documents whose
// reference belongs to another provider are refused and change nothing. What
// is both put and removed is put.
func (s *Store) Sync(ctx context.Context, c Change) (Result, error) {
	doing := fmt.Sprintf("store the entities of %q", c.Provider)
	c.Provider = storable(c.Provider)
	offers, err := offersOf(c.Put)
	if err != nil {
		return Result{}, fail(doing, err)
	}
	d, err := s.compare(ctx, s.read, c, offers)
	if err != nil {
		return Result{}, fail(doing, err)
	}
	if d.empty() {
		return d.result, nil
	}
	err = s.change(ctx, func(w *writer) error {
		// Now that nobody else writes, look again.
		if d, err = s.compare(ctx, w.tx, c, offers); err != nil {
			return err
		}
		if d.empty() {
			return errNothing
		}
		return w.apply(ctx, d)
	})
	if err != nil && !errors.Is(err, errNothing) {
		return Result{}, fail(doing, err)
	}
	return d.result, nil
}

// DeleteByUID removes an entity, whoever owns it.
func (s *Store) DeleteByUID(ctx context.Context, uid string) error {
	err := s.change(ctx, func(w *writer) error {
		var ref string
		if err := w.tx.QueryRowContext(ctx, "SELECT ref FROM entities WHERE uid = $1", storable(uid)).Scan(&ref); err != nil {
			return err
		}
		return w.apply(ctx, &delta{removed: []string{ref}})
	})
	return fail(fmt.Sprintf("remove the entity with uid %q", uid), err)
}

// node returns the document as a value.
func (d Document) node() (*tree.Node, error) {
	if d.Node != nil {
		return d.Node, nil
	}
	return tree.Wire{}.Decode(d.JSON)
}

// offersOf finds out what is to be known of all documents, on all processors.
func offersOf(docs []Document) ([]offer, error) {
	offers := make([]offer, len(docs))
	errs := make([]error, len(docs))
	var wg sync.WaitGroup
	size := max(1, (len(docs)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for start := 0; start < len(docs); start += size {
		wg.Go(func() {
			for i := start; i < min(start+size, len(docs)); i++ {
				d := docs[i]
				var n *tree.Node
				if n, errs[i] = d.node(); errs[i] != nil {
					continue
				}
				ref := entity.RefOf(n).String()
				offers[i] = offer{
					index: i, doc: d, parent: storable(d.Parent), ref: ref, hash: entity.HashDocument(n), edges: edgesOf(ref, n),
				}
			}
		})
	}
	wg.Wait()
	return offers, errors.Join(errs...)
}

// known is an entity that is in the store.
type known struct{ uid, provider, hash, parent string }

// compare compares a change with what is in the store.
func (s *Store) compare(ctx context.Context, q querier, c Change, offers []offer) (*delta, error) {
	d := &delta{provider: c.Provider}
	have, err := s.haves(ctx, q, c, offers)
	if err != nil {
		return nil, err
	}
	taken := make(map[string]bool, len(offers))
	for _, o := range offers {
		k, there := have[o.ref]
		switch {
		case there && k.provider != c.Provider:
			d.result.Refused = append(d.result.Refused, Refusal{Index: o.index, Ref: o.ref, Owner: k.provider})
			continue
		case taken[o.ref]:
			d.result.Refused = append(d.result.Refused, Refusal{Index: o.index, Ref: o.ref, Owner: c.Provider})
			continue
		case !there:
			uid, err := uuid.NewRandom()
			if err != nil {
				return nil, err
			}
			d.put = append(d.put, entry{offer: o, uid: uid.String(), added: true})
			d.result.Added++
		case k.hash != o.hash || k.parent != o.parent:
			d.put = append(d.put, entry{offer: o, uid: k.uid})
			d.result.Updated++
		default:
			d.result.Unchanged++
		}
		taken[o.ref] = true
	}
	for ref, k := range have {
		// A delta knows of nothing but what it puts or removes.
		if k.provider == c.Provider && !taken[ref] {
			d.removed = append(d.removed, ref)
		}
	}
	d.result.Removed = len(d.removed)
	slices.Sort(d.removed)
	slices.SortFunc(d.put, func(a, b entry) int { return strings.Compare(a.ref, b.ref) })
	return d, nil
}

// haves returns those entities that a change has to do with: all of the
// provider if it is full, and those it names.
func (s *Store) haves(ctx context.Context, q querier, c Change, offers []offer) (map[string]known, error) {
	const columns = "SELECT ref, uid, provider, hash, parent FROM entities WHERE "
	have := make(map[string]known, len(offers))
	scan := func(rows *sql.Rows) error {
		var ref string
		var k known
		if err := rows.Scan(&ref, &k.uid, &k.provider, &k.hash, &k.parent); err != nil {
			return err
		}
		have[ref] = k
		return nil
	}
	if c.Full {
		if err := scanEach(ctx, q, columns+"provider = $1", []any{c.Provider}, scan); err != nil {
			return nil, err
		}
	}
	var named []string
	for _, o := range offers {
		if _, ok := have[o.ref]; !ok {
			named = append(named, o.ref)
		}
	}
	if !c.Full {
		for _, ref := range c.Remove {
			named = append(named, strings.ToLower(storable(ref)))
		}
	}
	return have, s.selectIn(ctx, q, columns+"ref IN ", named, scan)
}

// apply writes what a delta says.
func (w *writer) apply(ctx context.Context, d *delta) error {
	l, err := w.relate(ctx, d)
	if err != nil {
		return err
	}
	if err := w.forget(ctx, d.removed); err != nil {
		return err
	}
	for _, table := range []string{"entities", "documents", "search"} {
		if err := w.deleteIn(ctx, table, "ref", d.removed); err != nil {
			return err
		}
	}
	if err := w.link(ctx, d, l); err != nil {
		return err
	}
	done, err := w.bulk(ctx, d.result.Added)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(d.put, chunkSize) {
		c, err := w.compose(ctx, d.provider, part, l)
		if err != nil {
			return err
		}
		if err := w.write(ctx, c); err != nil {
			return err
		}
	}
	if err := done(); err != nil {
		return err
	}
	return w.relink(ctx, d, l)
}
