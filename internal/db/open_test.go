package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOpenRefusesNewer(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *DB) {
		s := open()
		if _, err := s.Write.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)"); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), s.Options)
		want := strings.TrimSpace("cannot open the database "+s.Path) + ": database has version 999, and this program supports "
		const hint = ": use a newer program, or restore a backup from before the upgrade"
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), hint) || errors.Is(err, ErrUnavailable) {
			t.Errorf("Open returned %v, want %s%s", err, want, hint)
		}
	})
}

// TestOpenAtOnce has several replicas open the same empty database.
func TestOpenAtOnce(t *testing.T) {
	const replicas = 5
	cases := map[string]func(t *testing.T) Options{
		"SQLite": func(t *testing.T) Options {
			return Options{Client: SQLite, Path: filepath.Join(t.TempDir(), "below", "portal.db"), Now: time.Now}
		},
		"PostgreSQL": func(t *testing.T) Options {
			return Options{Client: Postgres, URL: shared.Database(t), Now: time.Now}
		},
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			o := opts(t)
			errs := make(chan error)
			for range replicas {
				go func() {
					s, err := Open(context.Background(), o)
					if err == nil {
						_, err = s.Secret(context.Background(), "x")
						err = errors.Join(err, s.Close())
					}
					errs <- err
				}()
			}
			for range replicas {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	const password = "s3cr3t-w0rd"
	notDatabase := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(notDatabase, []byte(strings.Repeat("These are notes. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason      string
		opts        Options
		unavailable bool
	}{
		"Client":      {reason: "An unknown client is refused.", opts: Options{Client: "mysql"}},
		"NotDatabase": {reason: "A file that is not a database is not changed.", opts: Options{Client: SQLite, Path: notDatabase}},
		"Folder":      {reason: "A folder is not a file.", opts: Options{Client: SQLite, Path: t.TempDir()}},
		"BelowFile":   {reason: "A path below a file is refused.", opts: Options{Client: SQLite, Path: filepath.Join(notDatabase, "x.db")}},
		"BadURL":      {reason: "An invalid URL is not shown.", opts: Options{Client: Postgres, URL: "postgres://u:" + password + "@h:port/d"}},
		"BadSettings": {reason: "Invalid settings are not shown.", opts: Options{Client: Postgres, URL: "password=" + password + " port=x"}},
		"Refused": {
			reason: "A server that does not listen is temporarily unavailable.", unavailable: true,
			opts: Options{Client: Postgres, URL: "postgres://u:" + password + "@" + closed + "/d"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), tc.opts)
			if err == nil {
				_ = s.Close()
				t.Fatalf("Open succeeded: %s", tc.reason)
			}
			if !strings.HasPrefix(err.Error(), strings.TrimSpace("cannot open the database "+tc.opts.Path)+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error is %v", tc.reason, err)
			}
			if got := errors.Is(err, ErrUnavailable); got != tc.unavailable {
				t.Errorf("%s: unavailable is %v: %v", tc.reason, got, err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), password) {
				t.Errorf("error contains the password: %v", err)
			}
		})
	}
	if data, err := os.ReadFile(notDatabase); err != nil || !strings.HasPrefix(string(data), "These are notes.") {
		t.Errorf("file was changed (%v)", err)
	}
}
