package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Fail returns an error that says what could not be done, as in Fail(`read "x"`, err).
// It wraps ErrUnavailable or ErrNotFound where the engine's error means that. It
// returns nil for nil, and an error that Fail returned before as it is.
func Fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	f := &failure{doing: doing, cause: err, text: said(err)}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The caller gave up: that says nothing about the database.
	case errors.Is(err, sql.ErrNoRows), errors.Is(err, ErrNotFound):
		f.cause, f.text = ErrNotFound, ErrNotFound.Error()
	case errors.Is(err, ErrExists):
		f.text = ErrExists.Error()
	case isFull(err):
		f.is = ErrFull
	case isUnavailable(err):
		f.is = ErrUnavailable
	}
	return f
}

// failure is an operation that failed.
type failure struct {
	doing string
	is    error
	cause error
	// text is the message of the cause, without secrets.
	text string
}

// Error returns what could not be done and why.
func (f *failure) Error() string {
	if f.is != nil {
		return fmt.Sprintf("cannot %s: %v: %s", f.doing, f.is, f.text)
	}
	return fmt.Sprintf("cannot %s: %s", f.doing, f.text)
}

// Unwrap returns the error to branch on, if there is one, and the cause.
func (f *failure) Unwrap() []error {
	if f.is != nil {
		return []error{f.is, f.cause}
	}
	return []error{f.cause}
}

// unavailable is an error of a database that is not available.
type unavailable struct{ error }

// Unwrap returns the error.
func (u unavailable) Unwrap() error { return u.error }

// Unavailable returns err as an error of a database that is not available.
func Unavailable(err error) error { return unavailable{err} }

// said returns the message of err on one line, without connection details.
func said(err error) string {
	if c, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = c.Unwrap()
		// The server's message is sufficient, without the list of addresses that were tried.
		if e, ok := errors.AsType[*pgconn.PgError](err); ok {
			err = e
		}
	}
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
}

// isUnavailable reports whether a retry may succeed without a change to the program or
// its data.
func isUnavailable(err error) bool {
	if _, ok := errors.AsType[unavailable](err); ok {
		return true
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
			sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM:
			return true
		}
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return unavailableState(e.Code)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	for _, gone := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, pgconn.ErrConnClosed,
		os.ErrDeadlineExceeded,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENOSPC, syscall.EROFS,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	// The standard library does not export this error.
	return strings.Contains(err.Error(), "sql: database is closed")
}

// unavailableState is isUnavailable for an SQLSTATE of PostgreSQL.
func unavailableState(code string) bool {
	switch code {
	case "25006", // read-only
		"40001", "40P01", // serialization failure, deadlock
		"55P03",                   // lock timeout
		"57P01", "57P02", "57P03", // shutting down, crashed, starting
		"57P05", "25P03", // idle timeout
		"58030": // I/O error
		return true
	}
	for _, class := range []string{
		"08", // connection
		"28", // authentication failed
		"3D", // no such database
		"53", // out of disk, memory or connections
	} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// IsDuplicate reports whether err is a violation of a unique or primary key.
func IsDuplicate(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23505"
}
