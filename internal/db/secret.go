package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
)

// secretSize is the number of random bytes of a secret.
const secretSize = 32

// Secret returns random bytes that are generated on first use, and are the same for all
// replicas.
func (d *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	doing := fmt.Sprintf("read secret %q", name)
	var value []byte
	get := func(from *sql.DB) error {
		return from.QueryRowContext(ctx, "SELECT value FROM secrets WHERE name = $1", name).Scan(&value)
	}
	err := get(d.Read)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return value, Fail(doing, err)
	}
	fresh := make([]byte, secretSize)
	if _, err := rand.Read(fresh); err != nil {
		return nil, Fail(doing, err)
	}
	// The first replica that inserts the secret decides.
	if _, err := d.Write.ExecContext(ctx,
		"INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
		return nil, Fail(doing, err)
	}
	return value, Fail(doing, get(d.Write))
}
