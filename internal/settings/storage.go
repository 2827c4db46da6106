package settings

import (
	"context"
	"errors"

	"example.dev/ingestor/internal/db"
)

// name is the name of a setting.
type name struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
}

// errTooMany is returned by put for a user who has maxKeys settings.
var errTooMany = errors.New("the user has the maximum number of settings")

// storage stores settings. All methods may be called concurrently.
type storage struct{ *db.DB }

// get returns the values of the settings of a user that exist, by name.
func (s storage) get(ctx context.Context, subject string, names []name) (map[name][]byte, error) {
	wanted := make(map[name]bool, len(names))
	var keys []string
	for _, n := range names {
		if !wanted[n] {
			keys = append(keys, n.Key)
		}
		wanted[n] = true
	}
	found := make(map[name][]byte, len(wanted))
	err := s.SelectIn(ctx, s.Query, "SELECT bucket, key, value FROM user_settings WHERE subject = "+s.Placeholder(1)+" AND key IN ", keys, func(rows *db.Rows) error {
		var n name
		var value []byte
		err := rows.Scan(&n.Bucket, &n.Key, &value)
		// A key may be in other buckets too.
		if err == nil && wanted[n] {
			found[n] = value
		}
		return err
	}, subject)
	return found, db.Fail("read settings", err)
}

// put stores a setting of a user. The error is errTooMany if it would be one too many:
// concurrent requests may exceed the limit by their number.
func (s storage) put(ctx context.Context, subject string, n name, value []byte) error {
	const doing = "store a setting"
	err := s.InTx(ctx, func(tx *db.Tx) error {
		others := 0
		count := "SELECT count(*) FROM user_settings WHERE subject = $1 AND NOT (bucket = $2 AND key = $3)"
		if err := tx.QueryRowContext(ctx, count, subject, n.Bucket, n.Key).Scan(&others); err != nil {
			return err
		}
		if others >= maxKeys {
			return errTooMany
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO user_settings (subject, bucket, key, value) VALUES ($1, $2, $3, $4)
			ON CONFLICT (subject, bucket, key) DO UPDATE SET value = excluded.value`, subject, n.Bucket, n.Key, value)
		return err
	})
	if errors.Is(err, errTooMany) {
		return errTooMany
	}
	return db.Fail(doing, err)
}

// remove removes a setting of a user, if it exists.
func (s storage) remove(ctx context.Context, subject string, n name) error {
	err := s.InTx(ctx, func(tx *db.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM user_settings WHERE subject = $1 AND bucket = $2 AND key = $3", subject, n.Bucket, n.Key)
		return err
	})
	return db.Fail("remove a setting", err)
}
