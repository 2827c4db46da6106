package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.dev/ingestor/internal/config"
	"example.dev/ingestor/internal/db"
)

// The minimum free space of a disk.
const (
	freeError   = 64 << 20
	freeWarning = 1 << 30
)

// disk checks the folders that the server writes to.
func (e *examination) disk() {
	db := e.Config.Backend.Database
	if db.Client == config.ClientSQLite {
		e.folder("the database", filepath.Dir(db.Path), "free disk space, or move the database")
		for _, path := range []string{db.Path, db.JobsPath()} {
			e.file(path)
		}
	}
	e.folder("task workspaces", e.WorkDir, "free disk space, or set scaffolder.workingDirectory to a folder on another disk")
	e.folder("large pushes", os.TempDir(), "free disk space, or set TMPDIR of the server to a folder on another disk")
	if e.Config.Audit.To == config.AuditFile {
		e.folder("the audit log", filepath.Dir(e.Config.Audit.File), "free disk space, or set audit.file to a path on another disk")
	}
}

// folder checks a folder, or its closest existing parent if it has not been created.
func (e *examination) folder(what, dir, hint string) {
	const check = "disk"
	at, err := existing(dir)
	if err != nil {
		e.add(check, Error, hint, "%s: %v", what, err)
		return
	}
	if err := writable(at); err != nil {
		e.add(check, Error, "give the user of the server write permission, or mount it writable", "%s: cannot write to %s: %v", what, at, err)
		return
	}
	free, err := db.FreeSpace(at)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.add(check, OK, "", "%s: %s is writable", what, dir)
	case err != nil:
		e.add(check, Error, hint, "%s: cannot read the free space of %s: %v", what, at, err)
	default:
		e.free(what, dir, hint, free)
	}
}

// free reports how much of the disk of a folder is free.
func (e *examination) free(what, dir, hint string, free uint64) {
	const check = "disk"
	switch {
	case free < freeError:
		e.add(check, Error, hint, "%s: %s has only %s free", what, dir, size(free))
	case free < freeWarning:
		e.add(check, Warning, hint, "%s: %s has only %s free", what, dir, size(free))
	default:
		e.add(check, OK, "", "%s: %s is writable and has %s free", what, dir, size(free))
	}
}

// file checks whether a file is writable, without writing to it.
func (e *examination) file(path string) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return // The server creates it when it starts.
	}
	if err := writable(path); err != nil {
		e.add("disk", Error, "give the user of the server write permission", "cannot write to %s: %v", path, err)
	}
}

// existing returns the folder, or its closest existing parent.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		_, err = os.Stat(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		dir, err = filepath.Dir(dir), nil
	}
	return dir, err
}

// size formats a number of bytes for people.
func size(n uint64) string {
	const unit = 1000
	if n < unit*unit {
		return fmt.Sprintf("%d kB", n/unit)
	}
	if n < unit*unit*unit {
		return fmt.Sprintf("%d MB", n/unit/unit)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/unit/unit/unit)
}
