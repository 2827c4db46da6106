package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Backup copies a database of SQLite to a new file, also while a server writes to it:
// as one snapshot, without blocking writers. The copy gets its name only when it is
// complete and synced to disk, and only its owner may read it. The error is fs.ErrExist
// if there is a file of that name, and fs.ErrNotExist if there is no database.
func Backup(ctx context.Context, path, to string) error {
	doing := fmt.Sprintf("back up the database %s to %s", path, to)
	if err := missing(to); err != nil {
		return Fail(doing, err)
	}
	db, err := ReadSQLite(path)
	if err != nil {
		return Fail(doing, err)
	}
	defer func() { _ = db.Close() }() // The database was only read.
	return Fail(doing, putNew(to, func(temp string) error {
		_, err := db.ExecContext(ctx, "VACUUM INTO ?", temp)
		return err
	}))
}

// CopyFile copies a small file with the same guarantees as Backup.
func CopyFile(path, to string) error {
	doing := fmt.Sprintf("copy %s to %s", path, to)
	if err := missing(to); err != nil {
		return Fail(doing, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Fail(doing, err)
	}
	return Fail(doing, putNew(to, func(temp string) error { return os.WriteFile(temp, data, 0o600) }))
}

// missing returns fs.ErrExist if there is a file.
func missing(path string) error {
	_, err := os.Lstat(path)
	if err == nil {
		return fs.ErrExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// putNew has a file written under a temporary name in the same directory, and renames
// it.
func putNew(to string, write func(temp string) error) (err error) {
	temp := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := write(temp); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	if err := missing(to); err != nil {
		return err
	}
	return os.Rename(temp, to)
}

// syncFile syncs a file to disk.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// DumpCommand returns the command that backs up a database of PostgreSQL to a file,
// without the password.
func DumpCommand(connection, to string) string {
	return "pg_dump --format=custom --file=" + quote(to) + " --dbname=" + quote(withoutPassword(connection))
}

// withoutPassword returns a connection string without passwords and without parameters
// that only our driver understands.
func withoutPassword(connection string) string {
	u, err := url.Parse(connection)
	if err != nil {
		// A string that cannot be parsed may contain a password anywhere.
		return "postgres://user@host:5432/database"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for name := range q {
		if low := strings.ToLower(name); strings.Contains(low, "password") || strings.HasPrefix(low, "pool_") ||
			low == "default_query_exec_mode" || strings.HasSuffix(low, "_cache_capacity") {
			q.Del(name)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// quote quotes an argument for a shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
