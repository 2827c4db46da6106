package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"example.dev/ingestor/internal/catalog/store/changelog"
	"example.dev/ingestor/internal/db"
)

// batch is how many values a statement looks up.
const batch = 64

const selectEntity = `SELECT e.ref, e.uid, e.etag, e.provider, e.parent, d.body
	FROM entities e JOIN documents d ON d.ref = e.ref WHERE `

// Get returns the entity with a reference.
func (s *Store) Get(ctx context.Context, ref string) (*Entity, error) {
	e, err := s.readOne(ctx, selectEntity+"e.ref = $1", ref)
	if err != nil {
		return nil, db.Fail(fmt.Sprintf("read entity %q", ref), err)
	}
	return e, nil
}

// GetByUID returns the entity with a uid.
func (s *Store) GetByUID(ctx context.Context, uid string) (*Entity, error) {
	e, err := s.readOne(ctx, selectEntity+"e.uid = $1", uid)
	if err != nil {
		return nil, db.Fail(fmt.Sprintf("read the entity with uid %q", uid), err)
	}
	return e, nil
}

// readOne reads the entity that text finds by a name, which may be any string.
func (s *Store) readOne(ctx context.Context, text, name string) (*Entity, error) {
	if !db.IsText(name) {
		return nil, db.ErrNotFound
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := s.DB.Query(s.Brief(ctx), text, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return nil, db.ErrNotFound
	}
	var row entityRow
	e, err := row.scan(rows)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// entityRow scans rows of selectEntity.
type entityRow struct {
	entity Entity
	body   sql.RawBytes
	dest   []any
}

// scan reads a row.
func (r *entityRow) scan(rows *db.Rows) (Entity, error) {
	if r.dest == nil {
		e := &r.entity
		r.dest = []any{&e.Ref, &e.UID, &e.ETag, &e.Provider, &e.Parent, &r.body}
	}
	if err := rows.Scan(r.dest...); err != nil {
		return Entity{}, err
	}
	r.entity.JSON = bytes.Clone(r.body)
	return r.entity, nil
}

// GetMany returns the entities with the references, in their order, and nil where there
// is none. They are of one snapshot, and must not be changed: a reference that is given
// twice returns the same entity.
func (s *Store) GetMany(ctx context.Context, refs []string) ([]*Entity, error) {
	found := make(map[string]*Entity, len(refs))
	wanted := make([]string, 0, len(refs))
	for _, ref := range refs {
		if _, ok := found[ref]; ok || !db.IsText(ref) {
			continue
		}
		found[ref] = nil
		wanted = append(wanted, ref)
	}
	err := s.readSnapshot(ctx, wanted, func(e *Entity) { found[e.Ref] = e }, func() { clear(found) })
	if err != nil {
		return nil, db.Fail("read entities", err)
	}
	all := make([]*Entity, len(refs))
	for i, ref := range refs {
		all[i] = found[ref]
	}
	return all, nil
}

// readSnapshot is readMany for entities of one snapshot. It calls reset before it adds
// entities again, if those that it added are not.
func (s *Store) readSnapshot(ctx context.Context, refs []string, add func(*Entity), reset func()) error {
	if len(refs) <= batch {
		return s.readMany(ctx, s.DB.Query, refs, add)
	}
	before, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil {
		return err
	}
	if err := s.readMany(ctx, s.DB.Query, refs, add); err != nil {
		return err
	}
	after, err := changelog.Revision(ctx, s.DB.Query)
	if err != nil || after == before {
		return err
	}
	reset()
	return s.Snapshot(ctx, func(ask db.Asker) error { return s.readMany(ctx, ask, refs, add) })
}

// readMany reads the entities with the references, in any order.
func (s *Store) readMany(ctx context.Context, ask db.Asker, refs []string, add func(*Entity)) error {
	for len(refs) > 0 {
		var b db.Statement
		b.Add(selectEntity + "e.ref IN ")
		n := min(batch, len(refs))
		b.List(refs[:n])
		refs = refs[n:]
		var row entityRow
		err := b.Each(ctx, ask, func(rows *db.Rows) error {
			e, err := row.scan(rows)
			if err != nil {
				return err
			}
			add(&e)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Providers returns how many entities each provider has.
func (s *Store) Providers(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	var b db.Statement
	b.Add("SELECT provider, count(*) FROM entities GROUP BY provider")
	err := b.Each(ctx, s.DB.Query, func(rows *db.Rows) error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		all[name] = n
		return err
	})
	if err != nil {
		return nil, db.Fail("count the entities of providers", err)
	}
	return all, nil
}

// Refs returns the references of all entities of a provider, sorted.
func (s *Store) Refs(ctx context.Context, provider string) ([]string, error) {
	refs, err := s.Texts(ctx, "SELECT ref FROM entities WHERE provider = $1 ORDER BY ref", db.Storable(provider))
	return refs, db.Fail("read the references of a provider", err)
}
