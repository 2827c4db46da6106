package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.dev/ingestor/internal/db"
)

// LocationProvider returns the name of the provider of entities that are read from a
// location.
func LocationProvider(id string) string { return locationPrefix + id }

// IsLocationProvider reports whether a provider is a location, whose entities the
// catalog has read itself. Entities of other providers are pushed, and may claim
// anything about themselves.
func IsLocationProvider(name string) bool { return strings.HasPrefix(name, locationPrefix) }

const locationPrefix = "location:"

const locationColumns = "SELECT id, type, target, error, read_at FROM locations"

// AddLocation stores a new location. It returns ErrExists if there is one of that type
// and target.
func (s *Store) AddLocation(ctx context.Context, typ, target string) (Location, error) {
	doing := fmt.Sprintf("add location %q", typ+":"+target)
	id, err := uuid.NewRandom()
	if err != nil {
		return Location{}, db.Fail(doing, err)
	}
	l := Location{ID: id.String(), Type: db.Storable(typ), Target: db.Storable(target)}
	r, err := s.Write.ExecContext(ctx, `INSERT INTO locations (id, type, target, error) VALUES ($1, $2, $3, '')
		ON CONFLICT (type, target) DO NOTHING`, l.ID, l.Type, l.Target)
	if err != nil {
		return Location{}, db.Fail(doing, err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return Location{}, db.Fail(doing, errors.Join(err, db.ErrExists))
	}
	return l, nil
}

// UpdateLocation changes the target of a location. The entities of the old target stay
// until the location is read again.
func (s *Store) UpdateLocation(ctx context.Context, id, typ, target string) (Location, error) {
	doing := fmt.Sprintf("change location %q", id)
	l := Location{ID: id, Type: db.Storable(typ), Target: db.Storable(target)}
	r, err := s.Write.ExecContext(ctx,
		"UPDATE locations SET type = $2, target = $3, error = '', read_at = NULL WHERE id = $1", id, l.Type, l.Target)
	if db.IsDuplicate(err) {
		return Location{}, db.Fail(doing, db.ErrExists)
	}
	if err != nil {
		return Location{}, db.Fail(doing, err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return Location{}, db.Fail(doing, errors.Join(err, db.ErrNotFound))
	}
	s.tried.Delete(id)
	return l, nil
}

// Locations returns all locations, sorted by id.
func (s *Store) Locations(ctx context.Context) ([]Location, error) {
	const doing = "read locations"
	rows, err := s.Read.QueryContext(ctx, locationColumns+" ORDER BY id")
	if err != nil {
		return nil, db.Fail(doing, err)
	}
	defer func() { _ = rows.Close() }()
	var all []Location
	for rows.Next() {
		l, err := s.scanLocation(rows)
		if err != nil {
			return nil, db.Fail(doing, err)
		}
		all = append(all, l)
	}
	return all, db.Fail(doing, rows.Err())
}

// Location returns one location.
func (s *Store) Location(ctx context.Context, id string) (Location, error) {
	l, err := s.scanLocation(s.Read.QueryRowContext(ctx, locationColumns+" WHERE id = $1", db.Storable(id)))
	return l, db.Fail(fmt.Sprintf("read location %q", id), err)
}

func (s *Store) scanLocation(row interface{ Scan(...any) error }) (Location, error) {
	var l Location
	var readAt sql.NullInt64
	if err := row.Scan(&l.ID, &l.Type, &l.Target, &l.Error, &readAt); err != nil {
		return Location{}, err
	}
	if readAt.Valid {
		l.ReadAt = time.UnixMilli(readAt.Int64).UTC()
	}
	if at, ok := s.tried.Load(l.ID); ok && l.ReadAt.Before(at.(time.Time)) {
		l.ReadAt = at.(time.Time)
	}
	return l, nil
}

// RemoveLocation removes a location and, in the same transaction, all entities that
// were read from it.
func (s *Store) RemoveLocation(ctx context.Context, id string) error {
	id = db.Storable(id)
	err := s.RemoveProvider(ctx, LocationProvider(id), func(tx *db.Tx) error {
		r, err := tx.ExecContext(ctx, "DELETE FROM locations WHERE id = $1", id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, db.ErrNotFound)
		}
		return nil
	})
	if err == nil {
		s.tried.Delete(id)
	}
	return db.Fail(fmt.Sprintf("remove location %q", id), err)
}

// NoteLocation stores the result of reading a location; an empty problem means success.
// It writes only if the result is new. The time alone is not worth a write: this
// process keeps it in memory, other replicas see the time of the last write.
func (s *Store) NoteLocation(ctx context.Context, id, problem string, at time.Time) error {
	doing := fmt.Sprintf("store status of location %q", id)
	problem = db.Storable(problem)
	var known string
	var readAt sql.NullInt64
	err := s.Read.QueryRowContext(ctx, "SELECT error, read_at FROM locations WHERE id = $1", id).Scan(&known, &readAt)
	if err != nil {
		return db.Fail(doing, err)
	}
	if known != problem || !readAt.Valid {
		_, err := s.Write.ExecContext(ctx,
			"UPDATE locations SET error = $2, read_at = $3 WHERE id = $1", id, problem, at.UnixMilli())
		if err != nil {
			return db.Fail(doing, err)
		}
	}
	s.tried.Store(id, at.UTC().Truncate(time.Millisecond))
	return nil
}
