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
		return "raise the number of files that a process may open (ulimit -n, LimitNOFILE); 1024 are enough"
	case code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB:
		return "the file is damaged, or not a database: stop the server and put a backup in its place, without the files that end with -wal and -shm; " +
			"portal-backend doctor says what is damaged; entities that are ingested come back with an empty database, too"
	case code == sqlite3.SQLITE_FULL || is(syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT):
		return "free space on the disk, or raise the limit for the size of files (ulimit -f): nothing was lost; a running server goes on by itself, and one that did not start can be started again"
	case code == sqlite3.SQLITE_READONLY || is(syscall.EROFS):
		return "make the file and its folder writable for the user of the server, and check whether the disk is mounted read-only (dmesg says why)"
	case code == sqlite3.SQLITE_IOERR:
		return "the disk cannot be read or written: check it (dmesg), the limit for the size of files (ulimit -f), and the space that is left"
	case code == sqlite3.SQLITE_CANTOPEN:
		return "check that the folder exists, may be written by the user of the server, and that the process may open more files (ulimit -n)"
	}
	return ""
}
