package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
	"example.dev/ingestor/internal/server/doctor"
)

// Copy is a file that was backed up.
type Copy struct {
	From, To string
	// Bytes is the size of the copy.
	Bytes int64
}

// Dump is the error for a database that must be backed up with its own tools.
type Dump struct {
	// Command is the backup command, without the password.
	Command string
}

// Error returns the message.
func (d *Dump) Error() string { return "cannot back up a PostgreSQL database: use pg_dump" }

// Backup copies the databases of SQLite, also while a server uses them, and the key for
// the secrets of tasks: the catalog's database to a path, the others next to it under
// the names that the server looks for. No file is replaced. The error is a *Dump for
// PostgreSQL, fs.ErrExist if a file exists, and fs.ErrNotExist if there is no database.
func Backup(ctx context.Context, at config.Database, to string) ([]Copy, error) {
	if at.Client != config.ClientSQLite {
		return nil, &Dump{Command: db.DumpCommand(at.URL.Reveal(), to)}
	}
	dest := config.Database{Client: at.Client, Path: to}
	copies := []struct {
		Copy
		// needed reports that the backup fails without this file.
		needed bool
		copy   func(from, to string) error
	}{
		// A task without a job is queued again; a job without a task would be lost.
		{Copy{From: at.JobsPath(), To: dest.JobsPath()}, false, func(from, to string) error { return db.Backup(ctx, from, to) }},
		{Copy{From: at.TasksKeyPath(), To: dest.TasksKeyPath()}, false, db.CopyFile},
		{Copy{From: at.Path, To: to}, true, func(from, to string) error { return db.Backup(ctx, from, to) }},
	}
	for _, c := range copies {
		if _, err := os.Lstat(c.To); err == nil {
			return nil, fmt.Errorf("cannot back up to %s: %w", c.To, fs.ErrExist)
		}
		if _, err := os.Stat(c.From); err != nil && c.needed {
			return nil, fmt.Errorf("cannot back up the database %s: %w", c.From, err)
		}
	}
	var done []Copy
	for _, c := range copies {
		err := c.copy(c.From, c.To)
		if errors.Is(err, fs.ErrNotExist) && !c.needed {
			if _, missing := os.Stat(c.From); missing != nil {
				continue
			}
		}
		if err != nil {
			return nil, errors.Join(err, remove(done))
		}
		info, err := os.Stat(c.To)
		if err != nil {
			return nil, errors.Join(err, remove(done))
		}
		c.Bytes = info.Size()
		done = append(done, c.Copy)
	}
	return done, nil
}

// remove removes the copies of a failed backup.
func remove(done []Copy) error {
	var errs []error
	for _, c := range done {
		errs = append(errs, os.Remove(c.To))
	}
	return errors.Join(errs...)
}

// Examine checks the environment of a portal, whether the portal is running or not.
func Examine(ctx context.Context, c *config.Config, now func() time.Time) []doctor.Result {
	return doctor.Examine(ctx, doctor.Options{Config: c, WorkDir: workDir(c), Now: now})
}
