package db

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestFail(t *testing.T) {
	state := func(code string) error { return &pgconn.PgError{Severity: "FATAL", Message: "m", Code: code} }
	cases := map[string]struct {
		reason string
		err    error
		is     error
		want   string
	}{
		"Nil":         {reason: "No error is no failure."},
		"NoRows":      {reason: "A missing row is not found.", err: sql.ErrNoRows, is: ErrNotFound, want: "cannot x: " + ErrNotFound.Error()},
		"Exists":      {reason: "An existing row is a conflict.", err: ErrExists, is: ErrExists, want: "cannot x: " + ErrExists.Error()},
		"Connections": {reason: "Too many connections are temporary.", err: state("53300"), is: ErrUnavailable, want: "cannot x: the database is not available: FATAL: m (SQLSTATE 53300)"},
		"Disk":        {reason: "A full disk is temporary.", err: state("53100"), is: ErrFull, want: "cannot x: the database is not available: the disk is full: FATAL: m (SQLSTATE 53100)"},
		"Stopping":    {reason: "A stopping server is temporary.", err: fmt.Errorf("w: %w", state("57P01")), is: ErrUnavailable, want: "cannot x: the database is not available: w: FATAL: m (SQLSTATE 57P01)"},
		"Mistake":     {reason: "A SQL mistake is permanent.", err: state("42601"), want: "cannot x: FATAL: m (SQLSTATE 42601)"},
		"CutOff":      {reason: "A broken connection is temporary.", err: io.ErrUnexpectedEOF, is: ErrUnavailable, want: "cannot x: the database is not available: unexpected EOF"},
		"File":        {reason: "A folder that cannot be created is permanent.", err: fs.ErrPermission, want: "cannot x: permission denied"},
		"Lines":       {reason: "A message has one line.", err: errors.New("a\n\tb"), want: "cannot x: a; b"},
		"Twice":       {reason: "An error is wrapped only once.", err: Fail("y", io.EOF), is: ErrUnavailable, want: "cannot y: the database is not available: EOF"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Fail("x", tc.err)
			if err == nil {
				if tc.err != nil {
					t.Error(tc.reason)
				}
				return
			}
			if err.Error() != tc.want {
				t.Errorf("%s: error is %q, want %q", tc.reason, err, tc.want)
			}
			for _, is := range []error{ErrNotFound, ErrExists, ErrUnavailable, ErrFull} {
				if got := errors.Is(err, is); got != errors.Is(tc.is, is) {
					t.Errorf("%s: error is %q: %v", tc.reason, is, got)
				}
			}
		})
	}
}
