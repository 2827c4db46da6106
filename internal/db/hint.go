package db

import (
	"errors"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Hint returns what to do about an error of SQLite's file or of its file system; empty
// if unknown.
func Hint(err error) string {
	code := 0
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code() & 0xff
	}
	is := func(all ...error) bool {
		for _, one := range all {
			if errors.Is(err, one) {
				return true
			}
		}
		return false
	}
	switch {
	case is(syscall.EMFILE, syscall.ENFILE) || code > 0 && strings.Contains(err.Error(), syscall.EMFILE.Error()):
		return "raise the limit on open files (ulimit -n, LimitNOFILE); 1024 is enough"
	case code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB:
		return "the file is damaged or not a database: stop the server and restore a backup, without files that end in -wal or -shm; " +
			"run portal-backend doctor to see the damage; ingested entities are also rebuilt from an empty database"
	case is(ErrFull) || code == sqlite3.SQLITE_FULL || is(syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT):
		return "free disk space, or raise the file size limit (ulimit -f): nothing was lost; a running server recovers by itself, and one that did not start can be restarted"
	case code == sqlite3.SQLITE_READONLY || is(syscall.EROFS):
		return "make the file and its folder writable for the user of the server, and check whether the disk is mounted read-only (dmesg shows why)"
	case code == sqlite3.SQLITE_IOERR:
		return "the disk cannot be read or written: check it (dmesg), the file size limit (ulimit -f), and the free space"
	case code == sqlite3.SQLITE_CANTOPEN:
		return "check that the folder exists and is writable for the user of the server, and that the process may open more files (ulimit -n)"
	}
	return ""
}
